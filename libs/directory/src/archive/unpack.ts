import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ContractError, isObject } from '@flowly/contract';
import { extract, type Entry } from 'tar-stream';
import { entryParts, refuse, tooLarge, type ArchiveKind, type ArchiveLimits } from './layout';

/** What a header and the padding behind a content may take. */
const OVERHEAD = 2_048;

/**
 * Unpacks a tar.gz into an empty folder of the caller's own: regular files (0600) and folders (0700) where they belong
 * in a bot, and nothing else. Sizes are counted as they come. What was unpacked before a refusal is the caller's to
 * remove.
 * @throws ContractError `INVALID`, `REQUEST_TOO_LARGE`; an error of the file system
 */
export async function unpack(
  archive: AsyncIterable<Buffer>,
  folder: string,
  kind: ArchiveKind,
  limits: ArchiveLimits,
): Promise<void> {
  const tar = extract();
  const flow = pipeline(Readable.from(archive), createGunzip(), limited(limits), tar);
  // Its failure also reaches the loop, which tells it.
  flow.catch(() => undefined);
  const unpacking = new Unpacking(folder, kind, limits);
  try {
    for await (const entry of tar) await unpacking.take(entry);
    await flow;
  } catch (error) {
    throw explained(error);
  }
}

class Unpacking {
  private readonly taken = new Set<string>();
  /** Folders that something is in, also those that no entry names: they are made too. */
  private readonly folders = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly folder: string,
    private readonly kind: ArchiveKind,
    private readonly limits: ArchiveLimits,
  ) {}

  async take(entry: Entry): Promise<void> {
    const { type, name, size } = entry.header;
    if (type !== 'file' && type !== 'directory') refuse('a link or a special file');
    // The reader of tar files would wait for ever for the end of such an entry.
    if (size === undefined || !Number.isSafeInteger(size) || size < 0)
      refuse('a size that is none');
    const parts = entryParts(this.kind, name, type === 'directory');
    const path = parts.join('/');
    if (this.taken.has(path)) refuse('the same name twice');
    this.taken.add(path);
    if (this.taken.size > this.limits.entries) throw tooLarge(this.limits);
    this.countFolders(parts);
    const target = join(this.folder, ...parts);
    if (type === 'directory') {
      await mkdir(target, { recursive: true, mode: 0o700 });
      entry.resume();
    } else {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await this.write(target, entry);
    }
  }

  /** From the innermost out, up to the first that was counted: those around it were too. */
  private countFolders(parts: readonly string[]): void {
    for (let depth = parts.length - 1; depth > 0; depth--) {
      const folder = parts.slice(0, depth).join('/');
      if (this.folders.has(folder)) return;
      this.folders.add(folder);
      if (this.folders.size > this.limits.entries) throw tooLarge(this.limits);
    }
  }

  private async write(target: string, entry: Entry): Promise<void> {
    const file = await open(target, 'wx', 0o600);
    try {
      for await (const chunk of entry) {
        this.bytes += chunk.length;
        if (this.bytes > this.limits.bytes) throw tooLarge(this.limits);
        await file.writeFile(chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** Ends a stream that grows beyond everything the limits allow, headers and padding counted in. */
function limited(limits: ArchiveLimits) {
  const most = limits.bytes + (limits.entries + 1) * OVERHEAD + 10_240;
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > most) throw tooLarge(limits);
      yield chunk;
    }
  };
}

const CLASHES = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'EINVAL', 'EILSEQ'];

/** By shape: the codes of zlib and of the file system; what else fails is the format. */
function explained(error: unknown): unknown {
  if (error instanceof ContractError || !isObject(error)) return error;
  const { code } = error;
  if (typeof code === 'string' && CLASHES.includes(code)) {
    return new ContractError('INVALID', 'The archive was not taken: its names clash.', {
      cause: error,
    });
  }
  if (typeof code === 'string' && 'syscall' in error && !code.startsWith('Z_')) return error;
  return new ContractError('INVALID', 'The archive is damaged or none.', { cause: error });
}
