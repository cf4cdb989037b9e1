import { cutCharacters, wellFormed } from '@flowly/contract';
import { oneLine } from './member';

const MAX_CHARACTERS = 500;

/** What betrays that a text was written for a developer. */
const TECHNICAL: readonly RegExp[] = [
  // paths: absolute, home, relative, Windows, UNC; source and data files in a folder
  /(?:^|[\s"'`(=:,[<])(?:~|\.{1,2})?\/[\w.~-]/,
  /\b[A-Za-z]:[\\/]|\\\\\w|\bfile:\/\//,
  /\/[\w.-]*\.(?:[cm]?[jt]sx?|py|json|sqlite3?|db|env|log)\b/,
  // error numbers
  /\bE(?:ACCES|ADDR[A-Z]+|AGAIN|AI_[A-Z]+|BADF|BUSY|CONN[A-Z]+|EXIST|FAULT|HOST[A-Z]+|INTR|INVAL|IO|ISDIR|LOOP|[MN]FILE|NAMETOOLONG|NET[A-Z]+|NO[A-Z]{3,}|PERM|PIPE|PROTO|ROFS|SRCH|TIMEDOUT|XDEV)\b/,
  /\bUND_ERR_\w+|\bERR_\w+|\bSQLITE_\w+|\berrno\b/i,
  // names of exceptions, stacks
  /[A-Za-z_](?:Error|Exception)\b/,
  /\bTraceback\b|\bat \S+ \(|\bat \S+:\d+:\d+/,
];
/** An address with credentials or a query, which may hold a key. */
const SECRET_ADDRESS = /https?:\/\/\S*[?#@]/i;
const ADDRESS = /https?:\/\/\S+/gi;

/**
 * The error text that a reader is shown: the given one on one line, at most 500 characters; the fallback
 * when it is blank or holds a path, an error number, the name of an exception or a stack (groups.md §5).
 */
export function readerText(text: string | undefined, fallback: string): string {
  const line = cutCharacters(oneLine(wellFormed(text ?? '')), MAX_CHARACTERS);
  const words = line.replace(ADDRESS, ' ');
  const technical = SECRET_ADDRESS.test(line) || TECHNICAL.some((sign) => sign.test(words));
  return line === '' || technical ? fallback : line;
}
