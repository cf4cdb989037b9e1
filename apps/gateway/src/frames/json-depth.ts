const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * How deep the objects and arrays of a JSON text are nested, found without parsing it: a parser would
 * build every level first.
 */
export function jsonDepth(json: Buffer): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) index = endOfString(json, index);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) deepest = Math.max(deepest, (depth += 1));
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
  }
  return deepest;
}

/** Place of the quote that closes the string opened at `start`. */
function endOfString(json: Buffer, start: number): number {
  let quote = json.indexOf(QUOTE, start + 1);
  while (quote !== -1 && isEscaped(json, quote)) quote = json.indexOf(QUOTE, quote + 1);
  return quote === -1 ? json.length : quote;
}

function isEscaped(json: Buffer, place: number): boolean {
  let first = place;
  while (json[first - 1] === BACKSLASH) first -= 1;
  return (place - first) % 2 === 1;
}
