import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSync } from 'esbuild';

const ROOT = join(__dirname, '../../../..');

/** Test code: a program that uses this library, in as many processes of its own as a test wants. */
export class ChildPrograms {
  private readonly children: ChildProcess[] = [];

  /** @param source TypeScript whose imports are relative to this folder; @param file where it is built to */
  constructor(
    source: string,
    private readonly file: string,
  ) {
    buildSync({
      stdin: { contents: source, resolveDir: __dirname, loader: 'ts' },
      bundle: true,
      platform: 'node',
      external: ['better-sqlite3'],
      tsconfig: join(ROOT, 'tsconfig.base.json'),
      outfile: file,
    });
  }

  start(...args: string[]): ChildProcess {
    const child = spawn(process.execPath, [this.file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_PATH: join(ROOT, 'node_modules') },
    });
    this.children.push(child);
    return child;
  }

  /** Runs it to its end. @returns what it printed @throws Error when it fails */
  async run(...args: string[]): Promise<string> {
    const child = this.start(...args);
    const said = child.stdout ? text(child.stdout) : '';
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`It ended with ${code}.`);
    return said;
  }

  /** Kills what is left. */
  async end(): Promise<void> {
    const left = this.children
      .splice(0)
      .filter((child) => child.exitCode === null && child.signalCode === null);
    await Promise.all(left.map((child) => (child.kill('SIGKILL'), once(child, 'exit'))));
  }
}
