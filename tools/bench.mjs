// `npm run bench`: builds the services and the benchmark, and runs it. `--help` says what it takes.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { run } from './lib/command.mjs';
import { APPS, ROOT } from './lib/paths.mjs';
import { stopOnSignals } from './lib/signals.mjs';

const outdir = path.join(ROOT, 'dist', 'bench');
// Whatever is left when it is stopped half-way goes with this folder.
const scratch = mkdtempSync(path.join(os.tmpdir(), 'flowly-bench-'));
const { signal } = stopOnSignals((line) => console.log(line));

try {
  process.exitCode = await bench(process.argv.slice(2));
} catch (error) {
  if (!signal.aborted) throw error;
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** @param {string[]} args */
async function bench(args) {
  if (!args.includes('--help')) console.log('Building …');
  const builds = APPS.map((app) =>
    run(process.execPath, ['tools/build.mjs', `apps/${app}`], here()),
  );
  const codes = await Promise.all([...builds, bundle()]);
  if (codes.some((code) => code !== 0)) return 1;
  return run(process.execPath, [path.join(outdir, 'main.js'), ...args], here());
}

function here() {
  return { cwd: ROOT, env: { ...process.env, TMPDIR: scratch }, signal };
}

/** The programs of the benchmark: the measuring client, the model server and the floor. */
async function bundle() {
  rmSync(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['main', 'model-server', 'floor', 'profiler'].map(
      (name) => `tools/bench/${name}.ts`,
    ),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: true,
    packages: 'external',
    tsconfig: 'tsconfig.base.json',
    logLevel: 'warning',
  });
  return 0;
}
