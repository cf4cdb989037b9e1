const WIDTH = 88;
// A live line longer than the screen is cut, so that it stays one line.
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';

/**
 * Shows what several people say at the same time: whole lines, each behind the name of who says it.
 * On a terminal the lines that are not whole yet stand below them.
 */
export class Screen {
  /** @type {Map<string, { text: string, printed: number }>} */
  #speakers = new Map();
  #liveLines = 0;
  #margin;

  /**
   * @param {NodeJS.WriteStream} out
   * @param {string[]} labels of those who will speak
   */
  constructor(out, labels) {
    this.out = out;
    this.#margin = Math.max(...labels.map((label) => label.length));
  }

  /** @param {string[]} lines */
  write(...lines) {
    this.#erase();
    for (const line of lines) this.out.write(`${line}\n`);
    this.#drawLive();
  }

  /**
   * @param {string} label
   * @param {string} text everything said so far
   */
  stream(label, text) {
    const speaker = this.#speakers.get(label) ?? { text: '', printed: 0 };
    const isContinued = text.startsWith(speaker.text.slice(0, speaker.printed));
    const lines = isContinued ? [] : ['(begins again)'];
    if (!isContinued) speaker.printed = 0;
    this.#speakers.set(label, speaker);
    speaker.text = text;
    for (;;) {
      const cut = wholeLine(text.slice(speaker.printed), this.#width());
      if (!cut) break;
      lines.push(cut.line);
      speaker.printed += cut.length;
    }
    this.#say(label, lines);
  }

  /**
   * @param {string} label
   * @param {string} text all that was said; nothing when it is not known
   * @param {string} [note] how it ended
   */
  finish(label, text, note) {
    if (text) this.stream(label, text);
    const { text: said = '', printed = 0 } = this.#speakers.get(label) ?? {};
    this.#speakers.delete(label);
    this.#say(
      label,
      [said.slice(printed), note ?? ''].filter((line) => line !== ''),
    );
  }

  /**
   * @param {string} label
   * @param {string[]} lines
   */
  #say(label, lines) {
    this.write(...lines.map((line) => this.#prefix(label) + printable(line)));
  }

  /** @param {string} label */
  #prefix(label) {
    return `${label.padEnd(this.#margin)} │ `;
  }

  #width() {
    const most = this.out.isTTY ? this.out.columns - 1 : WIDTH;
    return Math.max(20, Math.min(most, WIDTH) - this.#margin - 3);
  }

  #erase() {
    if (this.#liveLines > 0) this.out.write(`\x1b[${this.#liveLines}A\x1b[J`);
    this.#liveLines = 0;
  }

  #drawLive() {
    if (!this.out.isTTY) return;
    for (const [label, { text, printed }] of this.#speakers) {
      const line = this.#prefix(label) + printable(text.slice(printed));
      this.out.write(`${NO_WRAP}${line}${WRAP}\n`);
      this.#liveLines += 1;
    }
  }
}

/**
 * The first line of a text, if it is whole: it ends in a line break or is longer than the screen.
 * @param {string} text
 * @param {number} width
 * @returns {{ line: string, length: number } | undefined} `length` counts what ends the line, too
 */
function wholeLine(text, width) {
  const end = text.indexOf('\n');
  if (end >= 0 && end <= width) return { line: text.slice(0, end), length: end + 1 };
  if (text.length <= width) return undefined;
  const space = text.lastIndexOf(' ', width);
  if (space > 0) return { line: text.slice(0, space), length: space + 1 };
  const [line = ''] = text.match(new RegExp(`^.{1,${width}}`, 'u')) ?? [];
  return { line, length: line.length };
}

/**
 * A model must not send commands to the terminal.
 * @param {string} line
 */
function printable(line) {
  return line.replace(/\p{Cc}/gu, ' ');
}
