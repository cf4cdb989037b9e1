import { closeSync, linkSync, openSync, renameSync } from 'node:fs';
import { fileErrorCode } from '../media/media-file';

const NO_LINKS: readonly (string | null)[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Gives a finished file a name that nothing has. Not every disk that takes backups knows links.
 * @throws an error of the file system, EEXIST when there is such a file
 */
export function publishFile(part: string, to: string): void {
  try {
    linkSync(part, to);
  } catch (error) {
    if (!NO_LINKS.includes(fileErrorCode(error))) throw error;
    closeSync(openSync(to, 'wx', 0o600));
    renameSync(part, to);
  }
}
