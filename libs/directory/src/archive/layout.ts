import { ContractError } from '@flowly/contract';
import { botFiles, botFolders } from '../paths';

/** A template is for anybody; a backup is the whole bot, and secret. */
export type ArchiveKind = 'template' | 'backup';

export const MANIFEST = 'manifest.json';
const DATABASE = 'bot.sqlite3';

const FILES: Record<ArchiveKind, readonly string[]> = {
  template: [botFiles.config, botFiles.profile],
  backup: [botFiles.config, botFiles.profile, botFiles.env, DATABASE],
};
const FOLDERS: Record<ArchiveKind, readonly string[]> = {
  template: [botFiles.workspace],
  backup: botFolders,
};

/** How much a bot may hold that travels in an archive. */
export interface ArchiveLimits {
  entries: number;
  /** Of all contents together, in bytes. */
  bytes: number;
}

export const archiveLimits: ArchiveLimits = { entries: 20_000, bytes: 512 * 1024 * 1024 };

/** Folders whose files an archive of this kind holds. */
export function foldersOf(kind: ArchiveKind): readonly string[] {
  return FOLDERS[kind];
}

/**
 * Whether an archive of this kind takes what has this name. A template leaves out hidden files: the workspace is also
 * the home of a bot's commands, and there programs keep their keys.
 */
export function isCarried(kind: ArchiveKind, name: string): boolean {
  return kind === 'backup' || !name.startsWith('.');
}

/**
 * The parts of an entry's path, once it is sure that they lead into the bot's folder and where something of the kind
 * belongs.
 * @throws ContractError `INVALID`
 */
export function entryParts(kind: ArchiveKind, path: string, isFolder: boolean): string[] {
  // A name that is no UTF-8 was read with replacement characters.
  if (path.includes('\0') || path.includes('\ufffd')) refuse('a name that is not valid');
  const parts = (isFolder ? path.replace(/\/$/, '') : path).split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    refuse('a path that leads elsewhere');
  }
  if (!belongs(kind, parts, isFolder)) refuse('something that is no part of a bot');
  return parts;
}

function belongs(kind: ArchiveKind, parts: readonly string[], isFolder: boolean): boolean {
  const [first = '', ...rest] = parts;
  if (rest.length === 0 && !isFolder) return first === MANIFEST || FILES[kind].includes(first);
  return FOLDERS[kind].includes(first) && rest.every((part) => isCarried(kind, part));
}

/** @throws ContractError `INVALID` */
export function refuse(what: string): never {
  throw new ContractError('INVALID', `The archive was not taken: it holds ${what}.`);
}

export function tooLarge({ entries, bytes }: ArchiveLimits): ContractError {
  const most = `${entries} files and folders and ${Math.floor(bytes / 2 ** 20)} MiB`;
  return new ContractError('REQUEST_TOO_LARGE', `An archive of a bot holds at most ${most}.`);
}
