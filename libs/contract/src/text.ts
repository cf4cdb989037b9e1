/**
 * Text as the contract counts it: a *character* is a Unicode code point (groups.md, head).
 */

/** Found by the regular expression engine, which is done at once with a text that can hold none. */
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Number of code points; a lone surrogate counts as one. */
export function characters(text: string): number {
  return text.length - (text.match(PAIRS)?.length ?? 0);
}

/** The first `limit` code points; never splits one. */
export function cutCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let taken = 0;
  let index = 0;
  while (index < text.length && taken < limit) {
    const pair = isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1));
    index += pair ? 2 : 1;
    taken++;
  }
  return text.slice(0, index);
}

/** The text with U+FFFD in place of lone surrogates, so that any UTF-8 reader takes it. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Tab, line break or another C0/C1 control or DEL somewhere in the text. */
export function hasControl(text: string): boolean {
  // \\p{Cc} is exactly C0, DEL and C1.
  return /\p{Cc}/u.test(text);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
