import { text } from 'node:stream/consumers';
import type { Failure } from '../failure';

interface Streams {
  in: NodeJS.ReadableStream & { isTTY?: boolean };
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Where a command reads and writes: answers to stdout, everything about them to stderr. */
export class Terminal {
  constructor(
    /** One JSON document, or a line of JSON for each thing of a stream. */
    readonly json: boolean,
    private readonly streams: Streams = {
      in: process.stdin,
      out: process.stdout,
      err: process.stderr,
    },
  ) {}

  /** Whether a person can be asked. */
  get isInteractive(): boolean {
    return !this.json && this.streams.in.isTTY === true && this.streams.err.isTTY === true;
  }

  /** Whether something is piped in. */
  get hasInput(): boolean {
    return this.streams.in.isTTY !== true;
  }

  /** Everything that is piped in. */
  input(): Promise<string> {
    return text(this.streams.in);
  }

  /** Words of bots and people: without the control characters that would steer the terminal. */
  write(words: string): void {
    this.streams.out.write(printable(words));
  }

  line(words = ''): void {
    this.write(`${words}\n`);
  }

  /** A remark that is no part of the answer; nothing in JSON mode. */
  note(words: string): void {
    if (!this.json) this.streams.err.write(`${printable(words)}\n`);
  }

  /** One JSON document, or one line of several. */
  document(value: unknown): void {
    this.streams.out.write(`${JSON.stringify(value)}\n`);
  }

  fail({ code, message, retryable }: Failure): void {
    const said = this.json
      ? JSON.stringify({ error: { code, message, retryable } })
      : printable(`${message} (${code})`);
    this.streams.err.write(`${said}\n`);
  }
}

/** Text that cannot move the cursor, colour or clear anything. */
export function printable(words: string): string {
  return words.replace(/[^\P{Cc}\n\t]/gu, '');
}
