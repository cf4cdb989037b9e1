import { wordsOf } from './script';

/** Notes when each token of one answer was first seen. */
export class ShownText {
  readonly times: number[] = [];
  private readonly ends: number[] = [];
  private readonly whole: string;
  private text = '';

  constructor(words: number) {
    const tokens = wordsOf(words);
    this.whole = tokens.join('');
    let end = 0;
    for (const token of tokens) this.ends.push((end += token.length));
  }

  /** The next piece of the text. */
  add(piece: string, at: number): void {
    this.show(this.text + piece, at);
  }

  /** @param text the whole text as it is shown now */
  show(text: string, at: number): void {
    if (!this.whole.startsWith(text)) throw new Error(`another text is shown: ${text.slice(-80)}`);
    this.text = text;
    while ((this.ends[this.times.length] ?? Infinity) <= text.length) this.times.push(at);
  }
}
