import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ContractError } from '@flowly/contract';
import { legacyGroups, type LegacyGroup, shiftBoundaries, shiftWatermarks } from '@flowly/groups';
import { Database, type DatabaseOptions } from '../core/database';
import { buildDatabase, publishDatabaseFile } from '../core/new-file';
import { GroupStore } from './group-store';
import { insertImported } from './imported';
import type { GroupReader } from './reader';
import { buildStore } from './schema';
import { storedJson } from './stored-json';

const SOURCE_BYTES = 16 * 1024 * 1024;

/**
 * Makes the group database from the file of an old version, by verified copy (store.md §3): what was written is read
 * back and compared before it gets the name; whoever is second to publish uses what the first did. The source is only
 * read.
 * @throws ContractError ROOM_STORE_INVALID
 */
export async function copyLegacy(source: string, options: DatabaseOptions): Promise<void> {
  try {
    const bytes = readSource(source);
    const groups = legacyGroups(JSON.parse(decode(bytes)));
    const digest = createHash('sha256').update(bytes).digest('hex');
    await publishDatabaseFile(options.file, async (staging) => {
      const staged = { ...options, file: staging };
      buildDatabase(staging, buildStore);
      await write(staged, groups, digest);
      await verify(staged, groups);
    });
  } catch (error) {
    throw new ContractError(
      'ROOM_STORE_INVALID',
      'The groups of an old version could not be taken over.',
      { cause: error },
    );
  }
}

function readSource(source: string): Buffer {
  if (statSync(source).size > SOURCE_BYTES) throw new Error('The file is larger than 16 MiB.');
  return readFileSync(source);
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** One transaction, so one revision; none without groups. */
async function write(
  options: DatabaseOptions,
  groups: readonly LegacyGroup[],
  digest: string,
): Promise<void> {
  await withStore(options, (store) =>
    store.transaction((transaction) => {
      for (const group of groups) insertImported(transaction, group, group.run);
      store.database.run(
        "INSERT INTO room_store_meta(key, value) VALUES ('legacy_sha256', ?)",
        digest,
      );
    }),
  );
}

async function verify(options: DatabaseOptions, groups: readonly LegacyGroup[]): Promise<void> {
  await withStore(options, (store) =>
    store.read((reader) => {
      const isWhole =
        store.database.pragma('quick_check(1)') === 'ok' &&
        reader.countGroups() === groups.length &&
        groups.every((group) => isCopied(reader, group));
      if (!isWhole) throw new Error('The copy differs from its source.');
    }),
  );
}

function isCopied(reader: GroupReader, source: LegacyGroup): boolean {
  const group = reader.findGroup(source.id);
  if (!group) return false;
  const { messages } = reader.historyPage(source.id, null, source.messages.length + 1);
  const left = group.total - group.live;
  const { id, title, mode, members, policies, createdAt, updatedAt, usage } = group;
  const { watermarks, run } = group;
  const copied = { id, title, mode, members, policies, createdAt, updatedAt, usage };
  const expected: LegacyGroup = {
    ...source,
    watermarks: shiftWatermarks(source.watermarks, left),
    run: source.run && shiftBoundaries(source.run, left),
  };
  return isDeepStrictEqual(
    storedJson({ ...copied, watermarks, run, messages }),
    storedJson({
      ...expected,
      messages: source.messages.map((message, seq) => ({ ...message, seq })),
    }),
  );
}

async function withStore(
  options: DatabaseOptions,
  work: (store: GroupStore) => Promise<void>,
): Promise<void> {
  const database = Database.open(options);
  try {
    await work(new GroupStore(database));
  } finally {
    database.close();
  }
}
