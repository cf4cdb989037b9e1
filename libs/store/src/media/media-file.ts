import { randomUUID } from 'node:crypto';
import { constants, lstatSync, rmSync } from 'node:fs';
import {
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rm,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMediaId, isObject } from '@flowly/contract';

/** No link is followed, and a pipe that somebody put there does not stop us. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The file's bytes; null when it is not there, no plain file, larger than `most`, or cannot be read. */
export async function readMediaFile(
  folder: string,
  mediaId: string,
  most: number,
): Promise<Buffer | null> {
  if (!isMediaId(mediaId)) return null;
  let handle: FileHandle | undefined;
  try {
    handle = await open(join(folder, mediaId), READ);
    const facts = await handle.stat();
    if (!facts.isFile() || facts.size > most) return null;
    return await readUpTo(handle, facts.size);
  } catch (error) {
    if (fileErrorCode(error) !== null) return null;
    throw error;
  } finally {
    await handle?.close();
  }
}

/** Whether a plain file of this name is there, looked at without a pause, as a transaction must. */
export function hasMediaFile(folder: string, mediaId: string): boolean {
  const facts = lstatSync(join(folder, mediaId), { throwIfNoEntry: false });
  return facts?.isFile() ?? false;
}

/** Removes files whose names begin so, as far as it can; what stays is found by the next sweep. */
export function removeMediaFiles(
  folder: string,
  prefix: string,
  mediaIds: readonly string[],
): void {
  for (const mediaId of mediaIds) {
    if (!isMediaId(mediaId) || !mediaId.startsWith(prefix)) continue;
    try {
      rmSync(join(folder, mediaId), { force: true });
    } catch {
      continue; // the others are removed all the same
    }
  }
}

/** A file of a media folder. */
export interface MediaFacts {
  name: string;
  size: number;
  /** Unix ms. */
  modifiedAt: number;
}

/** The plain files whose names begin so; none where there is no such folder yet. */
export async function mediaFilesIn(folder: string, prefix: string): Promise<MediaFacts[]> {
  const names = (await namesIn(folder)).filter(
    (name) => isMediaId(name) && name.startsWith(prefix),
  );
  const looked = names.map(async (name) => {
    const facts = await lstat(join(folder, name)).catch(() => null);
    if (!facts?.isFile()) return [];
    return [{ name, size: facts.size, modifiedAt: facts.mtimeMs }];
  });
  return (await Promise.all(looked)).flat();
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** What a file is made of: its bytes, or their pieces as they come. */
export type MediaContent = Buffer | AsyncIterable<Uint8Array>;

/**
 * Writes a file (0600) that is whole and on the disk under its name, or not there. One that is there already is left:
 * names are derived from what the bytes belong to. False then.
 * @throws Error when it cannot be written, or what its pieces throw
 */
export async function writeMediaFile(file: string, content: MediaContent): Promise<boolean> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Begins like the file, so that what a dead process left is swept like it.
  const staging = `${file}.${randomUUID()}.new`;
  let isNew: boolean;
  try {
    const handle = await open(staging, 'wx', 0o600);
    try {
      await writeFile(handle, content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    isNew = await publish(staging, file);
  } finally {
    await rm(staging, { force: true });
  }
  await syncFolder(dirname(file));
  return isNew;
}

async function publish(staging: string, file: string): Promise<boolean> {
  try {
    await link(staging, file);
    return true;
  } catch (error) {
    const there = await lstat(file).catch(() => null);
    if (!there?.isFile()) throw error;
    return false;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads what the file had when it was opened, also when it grows meanwhile. */
async function readUpTo(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(bytes, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

/** The system's code of a failed file operation, as `ENOENT`; null for any other error. */
export function fileErrorCode(error: unknown): string | null {
  const code = isObject(error) ? error['code'] : null;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}
