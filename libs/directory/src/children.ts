import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

/**
 * For tests: builds a TypeScript file with its fault points. Returns what runs it in a process of its own, and
 * says of which signal it died; null when it ended by itself.
 */
export function mortalProgram(script: string, folder: string) {
  const program = join(folder, 'program.cjs');
  bundle(script, program, ['--define:FLOWLY_FAULT_POINTS=true']);
  return (argv: readonly string[], faults: string): NodeJS.Signals | null => {
    const env = { ...process.env, NODE_PATH: join(ROOT, 'node_modules'), FLOWLY_FAULTS: faults };
    const { signal, status, stderr } = spawnSync(process.execPath, [program, ...argv], { env });
    if (signal === null && status !== 0) throw new Error(String(stderr));
    return signal;
  };
}

/**
 * For tests: runs a TypeScript file in several real processes at once. Each says `ready`, is let go
 * when all have, and prints what it did as one line of JSON.
 */
export async function runAtOnce(
  script: string,
  argumentsOfEach: readonly string[][],
): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'children-'));
  const program = join(folder, 'program.cjs');
  const children: ChildProcess[] = [];
  try {
    bundle(script, program);
    for (const argv of argumentsOfEach) children.push(start(program, argv));
    const outputs = children.map((child) => collect(child));
    await Promise.all(outputs.map((output) => output.ready));
    for (const child of children) child.stdin?.end('go\n');
    return (await Promise.all(outputs.map((output) => output.text))).map(lastLine);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

function bundle(script: string, program: string, more: readonly string[] = []): void {
  const esbuild = require.resolve('esbuild/bin/esbuild');
  const options = ['--bundle', '--platform=node', '--external:better-sqlite3', '--log-level=error'];
  const config = `--tsconfig=${join(ROOT, 'tsconfig.base.json')}`;
  execFileSync(esbuild, [
    join(__dirname, script),
    ...options,
    ...more,
    config,
    `--outfile=${program}`,
  ]);
}

function start(program: string, argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...argv], {
    env: { ...process.env, NODE_PATH: join(ROOT, 'node_modules') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function collect(child: ChildProcess): { ready: Promise<void>; text: Promise<string> } {
  let text = '';
  const ready = new Promise<void>((resolveReady, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('ready\n')) resolveReady();
    });
    child.once('exit', () => reject(new Error(`The process ended early: ${text}`)));
  });
  return { ready, text: once(child, 'close').then(() => text) };
}

function lastLine(text: string): unknown {
  return JSON.parse(text.trim().split('\n').at(-1) ?? 'null');
}
