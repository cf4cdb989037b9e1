import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { AT } from './group-fixture';
import type { GroupStore } from './group-store';
import { onEveryStep } from './every-step';
import { StoreOpener, stepsTo, twoAtATime } from './killed-process';
import { readStore } from './old-store-fixture';
import { openGroupStore } from './open';

const INVALID = { code: 'ROOM_STORE_INVALID', retryable: false };
const DATABASE = 'profile-rooms.sqlite3';
const SOURCE = 'profile-rooms.json';
const ID = '55fc1b75-0b89-47e6-8974-504eef89249c';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'flowly-legacy-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const message = (changes: Record<string, unknown> = {}) => ({
  id: randomUUID(),
  role: 'user',
  content: 'Review this',
  createdAt: AT,
  ...changes,
});
const room = (changes: Record<string, unknown> = {}) => ({
  id: randomUUID(),
  title: 'Legacy council',
  members: ['default', 'writer'],
  mode: 'panel',
  createdAt: AT,
  updatedAt: AT,
  messages: [message()],
  watermarks: { default: 0, writer: 0 },
  ...changes,
});
const text = (...rooms: unknown[]) => JSON.stringify({ version: 1, rooms });

/** A data folder with such a file. */
function newHome(source: string | Buffer): string {
  const home = mkdtempSync(join(folder, 'home-'));
  writeFileSync(join(home, SOURCE), source);
  return home;
}

const open = (home: string) => openGroupStore({ home, busyMs: 100 });
const sourceOf = (home: string) => readFileSync(join(home, SOURCE), 'utf8');

/** Opens, works, closes. */
async function withStore<T>(home: string, work: (store: GroupStore) => Promise<T> | T): Promise<T> {
  const store = await open(home);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

/** Nothing beside the source but, if it was made, the whole database. */
function assertNothingHalfMade(home: string, source: string): void {
  expect(sourceOf(home)).toBe(source);
  const made = readdirSync(home).filter((name) => name !== SOURCE);
  expect([[], [DATABASE]]).toContainEqual(made);
  if (made.length > 0) expect(readStore(join(home, DATABASE)).content.rooms).toHaveLength(1);
}

it('G030: the groups of an old version become the database, and their file stays', async () => {
  const source = text(room({ id: ID }));
  const home = newHome(source);
  await withStore(home, async (store) => {
    expect(store.revision()).toBe(1);
    const group = await store.read((groups) => groups.findGroup(ID));
    expect(group).toMatchObject({
      title: 'Legacy council',
      members: ['default', 'writer'],
      mode: 'panel',
      watermarks: { default: 0, writer: 0 },
      rowRevision: 1,
      total: 1,
      live: 1,
      nextSeq: 1,
    });
  });
  assertNothingHalfMade(home, source);
  const file = join(home, DATABASE);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { version, content } = readStore(file);
  expect(version).toBe(4);
  const digest = createHash('sha256').update(source).digest('hex');
  expect(content.meta).toEqual([
    { key: 'legacy_sha256', value: digest },
    { key: 'revision', value: '1' },
  ]);
  writeFileSync(join(home, SOURCE), 'nobody reads it any more');
  await withStore(home, async (store) => {
    expect(await store.read((groups) => groups.countGroups())).toBe(1);
  });
});

it('a file without groups makes an empty database of revision 0, and counts as taken over', async () => {
  const home = newHome(text());
  await withStore(home, (store) => expect(store.revision()).toBe(0));
  const { meta } = readStore(join(home, DATABASE)).content;
  expect(meta.map(({ key }) => key)).toEqual(['legacy_sha256', 'revision']);
});

it('what does not fit the window leaves it, and watermarks and boundaries move along', async () => {
  const messages = Array.from({ length: 1_200 }, (_, n) => message({ content: `m${n}` }));
  const entry = { state: 'completed', updatedAt: AT, error: '', boundary: 1_190 };
  const run = {
    id: randomUUID(),
    mode: 'panel',
    state: 'completed',
    startedAt: AT,
    finishedAt: AT,
    round: 0,
    turnCount: 0,
    members: { writer: entry },
  };
  const home = newHome(text(room({ id: ID, messages, watermarks: { default: 100 }, run })));
  await withStore(home, async (store) => {
    const group = await store.read((groups) => groups.findGroup(ID));
    expect(group).toMatchObject({
      total: 1_200,
      live: 1_000,
      nextSeq: 1_200,
      watermarks: { default: 0, writer: 1_000 },
      run: { members: { writer: { boundary: 990 } } },
    });
    const page = await store.read((groups) => groups.historyPage(ID, 100, 1));
    expect(page.messages).toMatchObject([{ seq: 99, content: 'm99' }]);
  });
});

it('whatever a group holds, the copy is the same as its source', async () => {
  const words = fc
    .string({ unit: 'binary', maxLength: 40 })
    .map((said) => said.replaceAll('\0', ''));
  const call = fc.record({
    id: fc.constantFrom('a', 'b'),
    name: fc.constant('exec'),
    argumentsJson: fc.constantFrom('{}', '{"command":"ls","x":1}', 'none'),
  });
  const file = fc.record({
    fileName: fc.constant('ä.pdf'),
    mimeType: fc.constant('a/b'),
    mediaId: fc.constantFrom('group-a.pdf', '../b', null),
    size: fc.nat(),
  });
  const said = fc.record({
    id: fc.uuid(),
    role: fc.constantFrom('user', 'assistant'),
    content: words,
    createdAt: fc.constantFrom(AT, '2026-01-02T03:04:05+01:00'),
    profile: fc.constantFrom('default', '9'),
    attachments: fc.array(file, { maxLength: 2 }),
    toolCalls: fc.array(call, { maxLength: 10 }),
    aborted: fc.boolean(),
    durationMs: fc.nat(),
  });
  const group = fc.record({
    title: words.map((title) => `T${title}`.trim()),
    members: fc.constantFrom(['default', '9'], ['10', '9', 'b']),
    messages: fc.uniqueArray(said, { maxLength: 6, selector: ({ id }) => id }),
    watermarks: fc.dictionary(
      fc.constantFrom('default', '9', 'x'),
      fc.integer({ min: -1, max: 9 }),
    ),
    usage: fc.option(fc.record({ turns: fc.nat(), members: fc.constant({ '9': { calls: 1 } }) })),
    memberPolicies: fc.jsonValue(),
    run: fc.jsonValue(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(group, { maxLength: 3 }), async (groups) => {
      const home = newHome(text(...groups.map((changes) => room(changes))));
      await withStore(home, async (store) => {
        expect(await store.read((reader) => reader.countGroups())).toBe(groups.length);
      });
      rmSync(home, { recursive: true });
    }),
    { numRuns: 20 },
  );
});

it('200 groups and 16 MiB are not too much', async () => {
  const messages = Array.from({ length: 2 }, () => message({ content: 'x'.repeat(32_000) }));
  const rooms = Array.from({ length: 200 }, () =>
    room({ messages: messages.map((each) => ({ ...each, id: randomUUID() })) }),
  );
  const source = text(...rooms);
  const home = newHome(source + ' '.repeat(16 * 1024 * 1024 - source.length));
  await withStore(home, async (store) => {
    expect(await store.read((groups) => groups.countGroups())).toBe(200);
  });
});

it.each<[string, string | Buffer]>([
  ['X100: one byte more than 16 MiB', text() + ' '.repeat(16 * 1024 * 1024 + 1 - text().length)],
  ['201 groups', text(...Array.from({ length: 201 }, () => room()))],
  ['no JSON', '{"version":1,'],
  ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['nothing', ''],
  ['another version', '{"version":2,"rooms":[]}'],
  ['a group that is none', text({ id: ID })],
])('is refused, and no database is made: %s', async (_what, source) => {
  const home = newHome(source);
  await expect(open(home)).rejects.toMatchObject(INVALID);
  expect(readdirSync(home)).toEqual([SOURCE]);
  expect(readFileSync(join(home, SOURCE)).equals(Buffer.from(source))).toBe(true);
});

it('cannot be published: nothing is left of it', async () => {
  const home = newHome(text(room()));
  // A name that leads nowhere is taken, and is no database.
  symlinkSync(join(home, 'nowhere'), join(home, DATABASE));
  await expect(open(home)).rejects.toMatchObject(INVALID);
  expect(readdirSync(home).sort()).toEqual([SOURCE, DATABASE]);
});

it('cannot be read: no database is made', async () => {
  const home = mkdtempSync(join(folder, 'home-'));
  mkdirSync(join(home, SOURCE));
  await expect(open(home)).rejects.toMatchObject(INVALID);
  expect(readdirSync(home)).toEqual([SOURCE]);
});

it('a failure at any step leaves no half of it, and the next time it succeeds', async () => {
  const source = text(room({ id: ID }));
  let failing = 0;
  for (let isMade = false; !isMade; ) {
    const home = newHome(source);
    let left = ++failing;
    const stop = onEveryStep({
      before: (step) => {
        if (--left === 0) throw new Sqlite.SqliteError(`${step} fails`, 'SQLITE_FULL');
      },
    });
    await expect(open(home).finally(stop)).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID' });
    assertNothingHalfMade(home, source);
    isMade = existsSync(join(home, DATABASE));
    await withStore(home, (store) => expect(store.revision()).toBe(1));
    assertNothingHalfMade(home, source);
  }
  expect(failing).toBeGreaterThan(30);
});

it.each([
  ['a group', 'DELETE FROM rooms'],
  ['a title', "UPDATE rooms SET title = 'Another'"],
  ['a watermark', "UPDATE rooms SET watermarks_json = json_set(watermarks_json, '$.writer', 1)"],
  ['a message', 'DELETE FROM room_messages'],
  ['a text', "UPDATE room_messages SET payload_json = json_set(payload_json, '$.content', '')"],
])('what differs from its source is not published: %s', async (_what, sql) => {
  const source = text(room());
  const home = newHome(source);
  let connections = 0;
  const stop = onEveryStep({
    before: (step) => {
      // The second one reads what the first has written.
      if (step !== 'PRAGMA busy_timeout = 5' || ++connections !== 2) return;
      const staging = readdirSync(home).find((name) => name.endsWith('.new')) ?? '';
      const sqlite = new Sqlite(join(home, staging), { fileMustExist: true });
      sqlite.exec(sql);
      sqlite.close();
    },
  });
  await expect(open(home).finally(stop)).rejects.toMatchObject(INVALID);
  expect(readdirSync(home)).toEqual([SOURCE]);
  expect(sourceOf(home)).toBe(source);
});

it('stores that are opened at once have the same groups', async () => {
  const source = text(room({ id: ID }));
  const home = newHome(source);
  const stores = await Promise.all([open(home), open(home), open(home)]);
  const titles = stores.map((store) => store.read((groups) => groups.findGroup(ID)?.title));
  expect(await Promise.all(titles)).toEqual(Array(3).fill('Legacy council'));
  for (const store of stores) store.close();
  assertNothingHalfMade(home, source);
});

describe('in processes', () => {
  let opener: StoreOpener;
  beforeAll(() => void (opener = new StoreOpener(folder)));
  afterAll(() => opener.end());

  it('two at once: one publishes, both use it', async () => {
    const source = text(room());
    const home = newHome(source);
    const ends = await Promise.all([1, 2, 3].map(() => opener.open(home)));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    assertNothingHalfMade(home, source);
  }, 30_000);

  it('killed at any step, it leaves no half of it, and the next process succeeds', async () => {
    const source = text(room({ id: ID }));
    const { steps } = await opener.open(newHome(source));
    // The name, and that the folder holds it.
    const published = steps.indexOf('linkSync') + 3;
    await twoAtATime(stepsTo(published), async (at) => {
      const home = newHome(source);
      expect(await opener.open(home, at)).toMatchObject({ signal: 'SIGKILL' });
      ageWhatIsLeft(home);
      await withStore(home, (store) => expect(store.revision()).toBe(1));
      assertNothingHalfMade(home, source);
    });
  }, 60_000);
});

/** As if what the dead process left were hours old. */
function ageWhatIsLeft(home: string): void {
  for (const name of readdirSync(home)) {
    if (name.startsWith(`${DATABASE}.`)) utimesSync(join(home, name), 0, 0);
  }
}
