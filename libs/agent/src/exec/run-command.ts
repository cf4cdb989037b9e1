import { spawn, type ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import { isObject } from '@flowly/contract';
import type { ToolResult } from '../tools/tool';

/**
 * Ends the command's process group also when this process dies, whose end of the pipe is then closed. The command takes
 * the place of the shell that has seen to it.
 */
const GUARDED = `exec 3<&0 </dev/null
(read -r _ <&3; kill -s KILL -- "-$$") >/dev/null 2>&1 &
exec 3<&-
exec /bin/sh -c "$1"`;

/** How long output that is still on its way is waited for when the command has ended. */
const DRAIN_MS = 500;

/**
 * Runs a command line and gives what it wrote, both outputs as they came. It has a process group of its own, which is
 * killed as a whole when the time is over, when the turn is stopped, and when the command has ended: nothing of it is
 * left behind.
 */
export async function runCommand(
  command: { command: string; cwd: string; environment: Record<string, string> },
  limits: { ms: number; characters: number },
  signal: AbortSignal,
): Promise<ToolResult> {
  if (signal.aborted) return { text: 'The command was stopped before it began.', ok: false };
  const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', command.command], {
    cwd: command.cwd,
    env: command.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined); // nothing is written, and the command may be gone
  const output = new Output(limits.characters, [child.stdout, child.stderr]);
  let cause = '';
  const stop = (why: string) => {
    cause ||= why;
    killGroup(child);
  };
  const onAbort = () => stop('It was stopped.');
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(
    () => stop(`It was ended after ${limits.ms / 1000} seconds.`),
    limits.ms,
  );
  try {
    const ended = await endOf(child);
    return { text: [output.text, cause || ended.said].filter(Boolean).join('\n'), ok: ended.ok };
  } catch (error) {
    return { text: `The command could not be started${codeOf(error)}.`, ok: false };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function endOf(child: ChildProcess): Promise<{ said: string; ok: boolean }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, killedBy) => {
      // What it has left in the background would keep the outputs open.
      killGroup(child);
      const said = code === null ? `[ended by ${killedBy}]` : `[exit code ${code}]`;
      const done = () => resolve({ said, ok: code === 0 });
      const late = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(late);
        done();
      });
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Nobody of it is left.
    if (!(isObject(error) && error['code'] === 'ESRCH')) throw error;
  }
}

function codeOf(error: unknown): string {
  return isObject(error) && error['code'] !== undefined ? ` (${String(error['code'])})` : '';
}

/** The first characters of what is written; the rest is read and left out. */
class Output {
  private written = '';
  private isCut = false;

  constructor(
    private readonly most: number,
    streams: readonly Readable[],
  ) {
    for (const stream of streams) {
      const decoder = new StringDecoder('utf8');
      stream.on('data', (bytes: Buffer) => this.add(decoder.write(bytes)));
      stream.on('end', () => this.add(decoder.end()));
    }
  }

  get text(): string {
    const text = this.written.toWellFormed().trimEnd();
    return this.isCut ? `${text}\n[Output was cut after ${this.most} characters.]` : text;
  }

  private add(text: string): void {
    const left = this.most - this.written.length;
    if (text.length > left) this.isCut = true;
    if (left > 0) this.written += text.slice(0, left);
  }
}
