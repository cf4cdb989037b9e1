import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContractError } from '@flowly/contract';
import { publishFile } from '../core/publish-file';
import { syncToDisk } from '../core/sync-to-disk';
import { copyStore, removeDatabase } from './copy-store';
import { FILE_NAME } from './open';

/**
 * Writes the groups as they are at this moment into one file (0600), whoever writes meanwhile (store.md §5). The file is
 * there when it is whole and was looked through, or not at all. Media files are not in it: copied after it, the folder
 * `media` holds all that it refers to.
 * @throws ContractError ROOM_STORE_INVALID, ROOM_STORE_LIMIT: the groups cannot be read as they are; an error of the
 *   file system, EEXIST when there is such a file
 */
export function backUpGroupStore({ home, to }: { home: string; to: string }): void {
  const file = join(home, FILE_NAME);
  if (!existsSync(file)) throw new ContractError('ROOM_STORE_INVALID', 'There are no groups yet.');
  const part = `${to}.${randomUUID()}.part`;
  try {
    copyStore(file, part);
    publishFile(part, to);
    syncToDisk(dirname(to));
  } finally {
    removeDatabase(part);
  }
}
