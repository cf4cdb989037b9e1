import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 20 * 1024 * 1024;

/** A log file that is put aside as `<file>.1` when it is full, so that it cannot fill the disk. */
export class LogFile {
  #bytes = 0;
  #stream;

  /** @param {string} file */
  constructor(file) {
    this.file = file;
    this.#bytes = existsSync(file) ? statSync(file).size : 0;
    this.#stream = this.#open();
  }

  /** @param {string} line */
  write(line) {
    if (this.#stream.writableEnded) return; // a last word after the end
    if (this.#bytes > MAX_BYTES) {
      this.#stream.end();
      renameSync(this.file, `${this.file}.1`);
      this.#bytes = 0;
      this.#stream = this.#open();
    }
    this.#bytes += Buffer.byteLength(line) + 1;
    this.#stream.write(`${line}\n`);
  }

  async close() {
    this.#stream.end();
    if (!this.#stream.destroyed) await once(this.#stream, 'close');
  }

  #open() {
    const stream = createWriteStream(this.file, { flags: 'a', mode: 0o600 });
    stream.on('error', (error) => console.error(`Cannot write ${this.file}: ${error.message}`));
    return stream;
  }
}
