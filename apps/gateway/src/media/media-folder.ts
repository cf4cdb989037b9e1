import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isMediaId, isObject, mimeTypeOfName } from '@flowly/contract';

/** A file that is open to be read; whoever has it closes the handle. */
export interface OpenMedia {
  handle: FileHandle;
  size: number;
  /** Differs when the file has changed. */
  version: string;
  fileName: string;
  mimeType: string;
}

/** Why a file is not given. */
export class MediaRefusal extends Error {
  constructor(
    readonly status: 400 | 403 | 404 | 413 | 415 | 503,
    message: string,
  ) {
    super(message);
  }
}

/** No link is followed, and a pipe that somebody put there does not stop us. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The media of the bot `default`, which hold the groups' files too; only read (wire.md §1). */
export class MediaFolder {
  private readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, 'media');
  }

  /** @throws MediaRefusal */
  async open(id: string | null): Promise<OpenMedia> {
    if (!isMediaId(id)) throw new MediaRefusal(400, 'invalid id');
    const handle = await this.handleOf(id);
    const { size, mtimeMs, ino, isFile } = await lookAt(handle);
    if (!isFile) {
      await handle.close();
      throw new MediaRefusal(403, 'forbidden');
    }
    const version = `"${ino.toString(36)}-${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
    return { handle, size, version, fileName: id, mimeType: mimeTypeOfName(id) };
  }

  private async handleOf(id: string): Promise<FileHandle> {
    try {
      return await open(join(this.folder, id), READ);
    } catch (error) {
      const code = isObject(error) ? error['code'] : null;
      if (code === 'ENOENT') throw await this.missing();
      if (code === 'ELOOP' || code === 'EACCES' || code === 'ENXIO')
        throw new MediaRefusal(403, 'forbidden');
      throw error;
    }
  }

  /** A gateway of another machine has no data folder at all. */
  private async missing(): Promise<MediaRefusal> {
    const isThere = await stat(this.folder).then(
      () => true,
      () => false,
    );
    return isThere ? new MediaRefusal(404, 'not found') : new MediaRefusal(503, 'no data volume');
  }
}

async function lookAt(handle: FileHandle) {
  const facts = await handle.stat();
  return { size: facts.size, mtimeMs: facts.mtimeMs, ino: facts.ino, isFile: facts.isFile() };
}
