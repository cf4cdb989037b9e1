import { characters, cutCharacters, wellFormed } from './text';

/** Titles of conversations: one line of at most 80 characters. */
const MOST = 80;
const UNNAMED = 'New conversation';

/** What a model is asked for a title with; the conversation follows. */
export const TITLE_QUESTION =
  'Give this conversation a title of at most six words, in its own language. Answer with the title alone.';

/** A title from what a model has said; null when it holds none. */
export function titleFromAnswer(said: string): string | null {
  const lines = said.replace(/<think>.*?(<\/think>|$)/gs, '').split(/[\n\r\u2028\u2029]/);
  const line = lines.map((each) => undecorated(plain(each))).find((each) => each !== '');
  return line === undefined ? null : shortened(line);
}

/** A title without a model: what the user asked first. */
export function titleFromQuestion(message: string): string {
  const lines = message.split(/[\n\r\u2028\u2029]/);
  return shortened(lines.map(plain).find((line) => line !== '') ?? UNNAMED);
}

/** Without control characters and marks that turn the direction of text. */
function plain(line: string): string {
  return wellFormed(line)
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Models like to put a title into quotes or to mark it as one. */
function undecorated(line: string): string {
  return line
    .replace(/^[#*_`"'“”„«»\s]*(title:)?[#*_`"'“”„«»\s]*/i, '')
    .replace(/[*_`"'“”„«»\s]+$/, '');
}

function shortened(line: string): string {
  if (characters(line) <= MOST) return line;
  const cut = cutCharacters(line, MOST - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > MOST / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
