/** Opaque positions of lists: base64url of a JSON array that begins with its version. */
const VERSION = 1;

export function encodeCursor(first: string | number, second: string | number): string {
  return Buffer.from(JSON.stringify([VERSION, first, second])).toString('base64url');
}

/** The two members of a cursor that {@link encodeCursor} made, else null. */
export function decodeCursor(text: string): [first: unknown, second: unknown] | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) return null;
  const value = parsed(bytes.toString());
  if (!Array.isArray(value) || value.length !== 3 || value[0] !== VERSION) return null;
  return [value[1], value[2]];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not a cursor, which is what the caller is told
  }
}
