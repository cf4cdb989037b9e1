import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import {
  entryParts,
  foldersOf,
  isCarried,
  tooLarge,
  type ArchiveKind,
  type ArchiveLimits,
} from './layout';

/** What an archive holds: a folder, a file of the disk or a text. */
export type Item = { path: string } & (
  | { type: 'folder' }
  | { type: 'file'; source: string; size: number }
  | { type: 'text'; text: string }
);

/** What the folders of a bot hold. Links and special files are left out and counted. */
export async function itemsOf(
  kind: ArchiveKind,
  folder: string,
  takes: (path: string) => boolean,
): Promise<{ items: Item[]; leftOut: number }> {
  const items: Item[] = [];
  let leftOut = 0;
  const visit = async (path: string): Promise<void> => {
    entryParts(kind, path, true);
    items.push({ path, type: 'folder' });
    for (const name of (await readdir(join(folder, path))).sort()) {
      const inside = `${path}/${name}`;
      if (!isCarried(kind, name) || !takes(inside)) continue;
      entryParts(kind, inside, false);
      const source = join(folder, inside);
      const stat = await lstat(source);
      if (stat.isDirectory()) await visit(inside);
      else if (stat.isFile()) items.push({ path: inside, type: 'file', source, size: stat.size });
      else leftOut += 1;
    }
  };
  for (const name of foldersOf(kind)) {
    if ((await lstat(join(folder, name)).catch(() => null))?.isDirectory()) await visit(name);
  }
  return { items, leftOut };
}

/** @throws ContractError `REQUEST_TOO_LARGE`: what could not be taken back is not given out */
export function checkSize(items: readonly Item[], limits: ArchiveLimits): void {
  const bytes = items.reduce((sum, item) => sum + sizeOf(item), 0);
  if (items.length > limits.entries || bytes > limits.bytes) throw tooLarge(limits);
}

/** The items as a tar.gz, a piece at a time. */
export function packed(items: readonly Item[]): AsyncIterable<Buffer> {
  const tar = pack();
  const gzip = createGzip();
  // A failure reaches the reader through the stream that it reads.
  pipeline(tar, gzip).catch(() => undefined);
  addAll(tar, items).then(
    () => tar.finalize(),
    (error: unknown) => {
      const cause = error instanceof Error ? error : new Error(String(error));
      gzip.destroy(cause);
      tar.destroy(cause);
    },
  );
  return gzip;
}

async function addAll(tar: Pack, items: readonly Item[]): Promise<void> {
  for (const item of items) await add(tar, item);
}

async function add(tar: Pack, item: Item): Promise<void> {
  // The same bytes for the same bot, whoever writes it.
  const common = { name: item.path, mtime: new Date(0), uid: 0, gid: 0 };
  if (item.type === 'folder') {
    await written((done) => tar.entry({ ...common, type: 'directory', mode: 0o700 }, done));
  } else if (item.type === 'text') {
    await written((done) => tar.entry({ ...common, mode: 0o600 }, item.text, done));
  } else {
    const file = await open(item.source, constants.O_RDONLY | constants.O_NOFOLLOW);
    const entry = tar.entry({ ...common, mode: 0o600, size: item.size });
    await pipeline(file.createReadStream(), entry);
  }
}

function written(write: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    write((error) => (error ? reject(error) : resolve()));
  });
}

function sizeOf(item: Item): number {
  if (item.type === 'folder') return 0;
  return item.type === 'file' ? item.size : Buffer.byteLength(item.text);
}
