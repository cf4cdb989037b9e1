import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The file's text, null when it is not there. */
export function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Replaces a file as a whole (0600). Only under the lock of the directory: the temporary name is the
 * same each time, so that a dead writer leaves nothing that grows.
 */
export function writeAtomically(file: string, text: string): void {
  const staging = `${file}.new`;
  rmSync(staging, { force: true });
  writeNew(staging, text);
  renameSync(staging, file);
  syncFolder(dirname(file));
}

/** Makes a file that is not there (0600), whole or not at all; false when it is there already. */
export function createExclusively(file: string, text: string): boolean {
  if (existsSync(file)) return false;
  const staging = `${file}.${randomUUID()}.new`;
  try {
    writeNew(staging, text);
    linkSync(staging, file);
  } catch (error) {
    if (existsSync(file)) return false;
    throw error;
  } finally {
    rmSync(staging, { force: true });
  }
  syncFolder(dirname(file));
  return true;
}

/** Puts the names of a folder on the disk. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
}

/** Writes a file that is not there (0600), down to the disk. */
export function writeNew(file: string, content: string | Buffer): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
