import type { ModelTarget } from './request';

const MAX_WORDS = 240;
/** A body can be megabytes; only its beginning is looked at. */
const MAX_READ = 2_000;
/** Shorter pieces of a key are in ordinary words too. */
const KEY_PIECE = 6;

/**
 * What the provider itself said, to be added to a sentence, or '' when it is not fit for a reader:
 * it may quote the key, an address with a password, or a path and a trace of the server.
 */
export function providerWords(said: string | null, target: ModelTarget): string {
  const words = (said ?? '')
    .slice(0, MAX_READ)
    .replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (words === '' || quotesKey(words, target.apiKey) || isInner(words)) return '';
  const short = words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS - 1)}…` : words;
  return ` It says: "${short}"`;
}

function quotesKey(words: string, key: string | undefined): boolean {
  if (key === undefined) return false;
  if (key.length <= KEY_PIECE) return words.includes(key);
  for (let at = 0; at + KEY_PIECE <= key.length; at++) {
    if (words.includes(key.slice(at, at + KEY_PIECE))) return true;
  }
  return false;
}

/** A path, an exception or a trace: for the provider's people, not for ours. */
function isInner(words: string): boolean {
  const path = /(^|[\s"'`(=])(\/[\w.-]+){2,}|\b[A-Za-z]:\\/;
  const exception = /\b[A-Z]\w*(Error|Exception)\b|\bTraceback\b|\b[Ee]rrno\b|\bE[A-Z]{4,}\b/;
  return path.test(words) || exception.test(words);
}
