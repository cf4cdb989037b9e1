/** What the scripted model answers; it travels as the name of the model. */
export interface Script {
  words: number;
  /** Between two tokens. */
  everyMs: number;
  /** Before the first. */
  firstMs: number;
}

/** @param of tells apart bots that answer the same */
export function modelName({ words, everyMs, firstMs }: Script, of = ''): string {
  return [words, everyMs, firstMs, of].join('/');
}

export function readScript(model: string): Script {
  const [words = 0, everyMs = 0, firstMs = 0] = model.split('/').map(Number);
  return { words, everyMs, firstMs };
}

/** The tokens of an answer; the end of the text tells how many there are. */
export function wordsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'w0' : ` w${index}`));
}
