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
/** @typedef {{ name: string, parts: string[], run: (part: string | undefined) => Promise<Count> }} Stage */

const say = (/** @type {string} */ line) => console.log(line);
const { signal } = stopOnSignals(say);
const scratch = mkdtempSync(path.join(os.tmpdir(), 'flowly-test-'));

/** A test that hangs must say so long before whoever waits for all of them gives up. */
const TEST_MS = 30_000;
const STAGE_MS = 20 * 60_000;

/** Many tests wait more than they work: one more at a time than there are cores. */
const WORKERS = os.availableParallelism() + 1;

/**
 * One group after the other, the stages of a group side by side.
 * @type {Stage[][]}
 */
const groups = [
  [
    checkStage('lint', 'lint:all'),
    // All projects as one program: one by one, each would check all that it imports again.
    checkStage('typecheck', 'typecheck:all'),
    checkStage('format', 'format:check'),
  ],
  [{ name: 'build', parts: ['e2e'], run: build }],
  [{ name: 'tests', parts: ['unit', 'e2e'], run: runJest }],
];

let count = { passed: 0, failed: 1 };
try {
  const part = partAskedFor(process.argv.slice(2));
  checkNode();
  const surroundings = { logs: scratch, signal, say };
  await preparePackages(surroundings);
  await prepareRedisServer(surroundings);
  count = await runGroups(part);
} catch (error) {
  if (!(error instanceof Complaint) && !signal.aborted) throw error;
  say(error instanceof Complaint ? error.message : 'Stopped.');
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
say(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;

/**
 * @param {string | undefined} part
 * @returns {Promise<Count>}
 */
async function runGroups(part) {
  const total = { passed: 0, failed: 0 };
  const summary = [];
  for (const group of groups) {
    const chosen = group.filter(({ parts }) => !part || parts.includes(part));
    const counts = await Promise.all(chosen.map((stage) => runStage(stage, part)));
    for (const { line, passed, failed } of counts) {
      total.passed += passed;
      total.failed += failed;
      summary.push(line);
    }
  }
  say(`\n${summary.join('\n')}\n`);
  return total;
}

/**
 * @param {Stage} stage
 * @param {string | undefined} part
 * @returns {Promise<Count & { line: string }>}
 */
async function runStage(stage, part) {
  say(`\n── ${stage.name}`);
  const began = Date.now();
  const { passed, failed } = await countOf(stage, part);
  const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(6);
  return {
    passed,
    failed,
    line: `${seconds} s  ${stage.name}: ${passed} passed, ${failed} failed`,
  };
}

/**
 * A stage that was ended because it took too long has failed.
 * @param {Stage} stage
 * @param {string | undefined} part
 * @returns {Promise<Count>}
 */
async function countOf(stage, part) {
  try {
    return await stage.run(part);
  } catch (error) {
    const late = error instanceof DOMException && error.name === 'TimeoutError';
    if (signal.aborted || !late) throw error;
    say(`${stage.name} took more than ${STAGE_MS / 60_000} minutes and was ended.`);
    return { passed: 0, failed: 1 };
  }
}

/** Without the checks of types that a build by hand begins with: they are done. */
function build() {
  const args = ['run-many', '-t', 'build', '--output-style=static', '--exclude-task-dependencies'];
  return check(process.execPath, [NX, ...args]);
}

/**
 * @param {string} name
 * @param {string} script of package.json
 * @returns {Stage}
 */
function checkStage(name, script) {
  return { name, parts: ['lint'], run: () => check('npm', ['run', '--silent', script]) };
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
 * @param {string | undefined} part
 * @returns {Promise<Count>}
 */
async function runJest(part) {
  const report = path.join(scratch, 'jest.json'); // Jest's own count
  const args = [path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js')];
  args.push(`--maxWorkers=${WORKERS}`, `--testTimeout=${TEST_MS}`);
  args.push('--json', `--outputFile=${report}`);
  if (part) args.push(part === 'e2e' ? '--selectProjects' : '--ignoreProjects', 'e2e');
  const code = await run(process.execPath, args, { cwd: ROOT, signal: limited() });
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
  if (flag === '--only' && part && groups.flat().some(({ parts }) => parts.includes(part)))
    return part;
  throw new Complaint('Usage: npm test [-- --only lint|unit|e2e]');
}
