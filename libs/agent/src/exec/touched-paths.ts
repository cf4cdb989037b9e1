import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Word } from './command-line';
import { isInside, isProtected, realPath, type Places } from './protected-paths';
import { baseOf, SAFE, WORDS_ONLY } from './programs';

/**
 * Whether a command names anything protected, as far as its text says. What a program makes of its words (a script, a
 * link made a moment before) it cannot say: that is for the sandbox.
 */
export function touchesProtected(
  commands: readonly (readonly Word[])[],
  cwd: string,
  places: Places,
): boolean {
  const folders = [cwd];
  for (const [program, ...args] of commands) {
    if (!program) continue;
    const name = baseOf(program.text);
    const isPath = !WORDS_ONLY.has(name);
    const words = [program, ...args];
    const touches = (word: Word) =>
      mentionsHome(word.text, places) ||
      (isPath && folders.some((folder) => leadsTo(word, folder, places, SAFE.has(name))));
    if (words.some(touches)) return true;
    const [to] = args;
    if ((name === 'cd' || name === 'pushd') && to) {
      folders.push(...folders.map((folder) => resolve(folder, expanded(to.text, places))));
    }
  }
  return false;
}

function leadsTo(word: Word, folder: string, places: Places, reads: boolean): boolean {
  const isClosed = (path: string) => {
    const whole = resolve(folder, expanded(path, places));
    return isProtected(whole, places, reads) || (word.isGlob && globLeadsHome(whole, places));
  };
  const { text } = word;
  if (!text.startsWith('-') && isClosed(text)) return true;
  // Behind an option or an equals sign `/` is more often a separator than the root.
  return partsOf(text).some((part) => part.length > 1 && isClosed(part));
}

/** What of a word may be a path besides all of it: behind `=`, `:`, `,` or `@`, or glued to an option. */
export function partsOf(text: string): string[] {
  const parts = text.split(/[=:,@]/).slice(1);
  if (!text.startsWith('-')) return parts;
  const short = /^-[^-]/.test(text) ? [text.slice(2)] : [];
  return [...parts, ...short, text.slice(text.search(/[/~]|$/))].filter((part) => part !== '');
}

/** `~` and `$HOME` are the workspace for a command; `~name` is that user's folder. */
function expanded(text: string, { workspace }: Places): string {
  return text
    .replace(/^~(?=\/|$)/, workspace)
    .replace(/\$HOME\b|\$\{HOME\}|\$PWD\b|\$\{PWD\}/g, workspace)
    .replace(/^~root(?=\/|$)/, '/root')
    .replace(/^~([a-z_][\w-]*)(?=\/|$)/, (_, name: string) => `${homedir()}/../${name}`);
}

/** A path that goes up again. */
const CLIMBS = /^[^\s'"]*\/\.\.(?![\w.])/;

/** The data folder named somewhere in a word, as in a script, and not to go into the workspace. */
function mentionsHome(text: string, { home, workspace, media }: Places): boolean {
  const own = [workspace, media].flatMap((folder) => [folder, realPath(folder)]);
  return [home, realPath(home)].some((folder) => mentions(text, folder, own));
}

function mentions(text: string, folder: string, own: readonly string[]): boolean {
  for (let at = text.indexOf(folder); at >= 0; at = text.indexOf(folder, at + 1)) {
    const rest = text.slice(at);
    const isOwn =
      own.some((open) => rest === open || rest.startsWith(`${open}/`)) && !CLIMBS.test(rest);
    if (!isOwn && /^(\W|$)/.test(rest.slice(folder.length))) return true;
  }
  return false;
}

/** Whether a glob could come out in the data folder or above it. */
function globLeadsHome(pattern: string, { home, workspace }: Places): boolean {
  const fixed = pattern.slice(0, pattern.lastIndexOf('/', pattern.search(/[*?[]/)) + 1);
  if (isInside(workspace, fixed)) return false;
  const wanted = pattern.split('/');
  const folders = home.split('/');
  return wanted
    .slice(0, folders.length)
    .every((part, index) => segmentMatches(part, folders[index] ?? ''));
}

/**
 * Whether a segment of a glob could come out as this name. From a bracket on anything could. Place by place: a model
 * writes the glob, and a regular expression with many stars searches for ever.
 */
function segmentMatches(segment: string, name: string): boolean {
  if (name.startsWith('.') && !segment.startsWith('.')) return false;
  const bracket = segment.indexOf('[');
  const glob = bracket < 0 ? segment : `${segment.slice(0, bracket)}*`;
  let [at, star, end] = [0, -1, 0];
  for (let place = 0; place < name.length; ) {
    if (glob[at] === '*') {
      star = at++;
      end = place;
    } else if (glob[at] === '?' || glob[at] === name[place]) {
      at++;
      place++;
    } else if (star >= 0) {
      at = star + 1;
      place = ++end;
    } else return false;
  }
  return /^\**$/.test(glob.slice(at));
}
