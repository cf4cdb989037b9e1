import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until a file, or which names a folder holds, is on the disk. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
