import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** The folders a bot's tools are kept to (bots.md §3.4). */
export interface Places {
  /** The data folder. */
  home: string;
  /** The bot's own part of it. */
  workspace: string;
  /** Open for reading besides. */
  media: string;
}

/** Where keys of the system and of its users are, in the folder of a user. */
const IN_HOMES = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.git-credentials',
  '.config/gcloud',
  '.config/gh',
  '.password-store',
  'Library/Keychains',
];
const IN_SYSTEM = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/run/secrets',
];
const OF_PROCESSES = /^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd|task)(\/|$)/;
const IN_ANY_HOME = new RegExp(
  `^/(?:root|(?:home|Users)/[^/]+)/(?:${IN_HOMES.map((path) => path.replaceAll('.', '\\.')).join('|')})(?:/|$)`,
);

/**
 * Whether a path is, or leads to, what no tool may touch: the data folder besides the bot's own workspace, keys of the
 * system. A folder that holds the data folder counts too: who takes all of it takes that.
 */
export function isProtected(path: string, places: Places, reads: boolean): boolean {
  return [resolve(path), realPath(path)].some((each) => isClosed(each, places, reads));
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/** The path with every link on it followed, as far as it is there. */
export function realPath(path: string): string {
  const whole = resolve(path);
  for (let part = whole; ; part = dirname(part)) {
    try {
      return join(realpathSync(part), relative(part, whole));
    } catch {
      // What is not there yet is looked for where it would be.
      if (part === dirname(part)) return whole;
    }
  }
}

function isClosed(path: string, places: Places, reads: boolean): boolean {
  const home = [places.home, realPath(places.home)];
  const open = [places.workspace, ...(reads ? [places.media] : [])];
  if (open.some((folder) => isInside(folder, path) || isInside(realPath(folder), path)))
    return false;
  if (home.some((folder) => isInside(folder, path) || isInside(path, folder))) return true;
  return isCredential(path);
}

function isCredential(path: string): boolean {
  const own = IN_HOMES.map((name) => join(homedir(), name));
  return (
    [...own, ...IN_SYSTEM].some((folder) => isInside(folder, path)) ||
    IN_ANY_HOME.test(path) ||
    OF_PROCESSES.test(path)
  );
}
