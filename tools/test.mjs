// `npm test`: the same preparation as a start, then every stage, each run even if one failed.
// `npm test -- --only lint|unit|e2e` runs a part. The last line is `N passed, N failed`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Complaint, run } from './lib/command.mjs';
import { NX, nxEnv } from './lib/nx.mjs';
import { ROOT } from './lib/paths.mjs';
import { checkNode, preparePackages, prepareRedisServer } from './lib/prepare.mjs';
import { stopOnSignals } from './lib/signals.mjs';

/** @typedef {{ passed: number, failed: number }} Count */
/** @typedef {{ name: string, part: string, run: () => Promise<Count> }} Stage */

const say = (/** @type {string} */ line) => console.log(line);
const { signal } = stopOnSignals(say);
const scratch = mkdtempSync(path.join(os.tmpdir(), 'flowly-test-'));

/** A test that hangs must say so long before whoever waits for all of them gives up. */
const TEST_MS = 30_000;
const STAGE_MS = 20 * 60_000;

/** @type {Stage[]} */
const stages = [
  nxStage('lint', 'lint'),
  // All projects as one program: one by one, each would check all that it imports again.
  {
    name: 'typecheck',
    part: 'lint',
    run: () => check('npm', ['run', '--silent', 'typecheck:all']),
  },
  { name: 'format', part: 'lint', run: () => check('npm', ['run', '--silent', 'format:check']) },
  // Without the checks of types that a build by hand begins with: they are done.
  nxStage('build', 'e2e', '--exclude-task-dependencies'),
  jestStage('unit and integration', 'unit', 'jest.config.js'),
  jestStage('end to end', 'e2e', 'e2e/jest.config.js'),
];

let count = { passed: 0, failed: 1 };
try {
  const only = partAskedFor(process.argv.slice(2));
  checkNode();
  const surroundings = { logs: scratch, signal, say };
  await preparePackages(surroundings);
  await prepareRedisServer(surroundings);
  count = await runStages(stages.filter(({ part }) => !only || part === only));
} catch (error) {
  if (!(error instanceof Complaint) && !signal.aborted) throw error;
  say(error instanceof Complaint ? error.message : 'Stopped.');
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
say(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;

/**
 * @param {Stage[]} chosen
 * @returns {Promise<Count>}
 */
async function runStages(chosen) {
  const total = { passed: 0, failed: 0 };
  const summary = [];
  for (const stage of chosen) {
    say(`\n── ${stage.name}`);
    const began = Date.now();
    const { passed, failed } = await countOf(stage);
    total.passed += passed;
    total.failed += failed;
    const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(6);
    summary.push(`${seconds} s  ${stage.name}: ${passed} passed, ${failed} failed`);
  }
  say(`\n${summary.join('\n')}\n`);
  return total;
}

/**
 * A stage that was ended because it took too long has failed.
 * @param {Stage} stage
 * @returns {Promise<Count>}
 */
async function countOf(stage) {
  try {
    return await stage.run();
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    if (signal.aborted || !late) throw error;
    say(`${stage.name} took more than ${STAGE_MS / 60_000} minutes and was ended.`);
    return { passed: 0, failed: 1 };
  }
}

/**
 * @param {string} target
 * @param {string} part
 * @param {string[]} options
 * @returns {Stage}
 */
function nxStage(target, part, ...options) {
  const args = [NX, 'run-many', '-t', target, '--output-style=static', ...options];
  return { name: target, part, run: () => check(process.execPath, args) };
}

/**
 * A command that counts as one test.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<Count>}
 */
async function check(command, args) {
  const code = await run(command, args, { cwd: ROOT, env: nxEnv(process.env), signal: limited() });
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Ends a stage when it is stopped, or when it takes far too long. */
function limited() {
  return AbortSignal.any([signal, AbortSignal.timeout(STAGE_MS)]);
}

/**
 * @param {string} name
 * @param {string} part
 * @param {string} config
 * @returns {Stage}
 */
function jestStage(name, part, config) {
  return { name, part, run: () => runJest(config, path.join(scratch, `${part}.json`)) };
}

/**
 * @param {string} config
 * @param {string} report file for Jest's own count
 * @returns {Promise<Count>}
 */
async function runJest(config, report) {
  const jest = path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const args = ['-c', config, '--maxWorkers=2', '--json', `--outputFile=${report}`];
  args.push(`--testTimeout=${TEST_MS}`);
  const code = await run(process.execPath, [jest, ...args], { cwd: ROOT, signal: limited() });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  // No test at all, or an open handle: Jest says so by its exit code alone.
  return { passed: numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) };
}

/**
 * @param {string[]} args
 * @returns {string | undefined}
 */
function partAskedFor(args) {
  if (args.length === 0) return undefined;
  const [flag, part] = args.length === 1 ? (args[0] ?? '').split('=') : args;
  if (flag === '--only' && part && stages.some((stage) => stage.part === part)) return part;
  throw new Complaint('Usage: npm test [-- --only lint|unit|e2e]');
}
