import { once } from 'node:events';
import fs, { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { backUpGroupStore } from './backup';
import { ChildPrograms } from './child-programs';
import { groupFixture, sha256, type GroupFixture } from './group-fixture';
import { FILE_NAME, openGroupStore } from './open';
import { restoreGroupStore } from './restore';

/** Another process that writes the group until it is killed. */
const WRITER = `
import { randomUUID } from 'node:crypto';
import { openGroupStore } from './open';
const [home, groupId] = process.argv.slice(2);
void (async () => {
  const store = await openGroupStore({ home, busyMs: 10_000 });
  for (;;) {
    await store.transaction((groups) => {
      const message = { id: randomUUID(), role: 'user', content: 'x'.repeat(2_000), createdAt: 'now' };
      groups.updateGroup(groups.appendMessage(groups.findGroup(groupId), message).group);
    });
    console.log('added');
  }
})();
`;

const BACKUPS = 4;

let fixture: GroupFixture;
beforeEach(async () => void (fixture = await groupFixture()));
afterEach(() => fixture.end());

const path = (name: string) => join(fixture.home, name);
const backUp = (name = 'backup') => backUpGroupStore({ home: fixture.home, to: path(name) });

/** What a backup holds, opened as the groups of another data folder. */
async function contentOf(name: string, groupId: string) {
  const other = await groupFixture();
  other.store.close();
  restoreGroupStore({ home: other.home, from: path(name), now: new Date() });
  other.store = await openGroupStore({ home: other.home, busyMs: 1_000 });
  try {
    const page = await other.store.read((groups) => groups.historyPage(groupId, null, 100_000));
    return { ...page, group: await other.find(groupId), revision: other.store.revision() };
  } finally {
    other.end();
  }
}

it('is one moment of the groups in one file, whoever writes meanwhile', async () => {
  const { id } = await fixture.insert();
  const writers = new ChildPrograms(WRITER, path('writer.cjs'));
  try {
    for (const { stdout } of [1, 2].map(() => writers.start(fixture.home, id))) {
      if (stdout === null) throw new Error('A writer has no output.');
      await once(stdout, 'data');
      stdout.resume();
    }
    for (let n = 0; n < BACKUPS; n++) {
      await fixture.append(id, {});
      backUp(`backup-${n}`);
    }
  } finally {
    await writers.end();
  }
  let before = 0;
  for (let n = 0; n < BACKUPS; n++) {
    const { messages, group, revision, total } = await contentOf(`backup-${n}`, id);
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, seq) => seq));
    expect(total).toBe(messages.length);
    expect(revision).toBe(total + 1);
    expect(group).toMatchObject({ rowRevision: revision, nextSeq: total });
    expect(total).toBeGreaterThan(before);
    before = total;
  }
  expect(statSync(path('backup-0')).mode & 0o777).toBe(0o600);
  expect(readdirSync(fixture.home).filter((name) => !name.startsWith(FILE_NAME))).toHaveLength(
    BACKUPS + 1,
  );
}, 20_000);

it('stands by itself and can be read where nothing can be written', () => {
  backUp();
  expect(readFileSync(path('backup')).subarray(18, 20)).toEqual(Buffer.from([1, 1])); // no write-ahead log
});

describe.each([['with'], ['without']])('on a disk %s links', (links) => {
  beforeEach(() => {
    if (links === 'with') return;
    jest.spyOn(fs, 'linkSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    });
  });
  afterEach(() => jest.restoreAllMocks());

  it('has its name when it is whole, and replaces no file', () => {
    backUp();
    const hash = sha256(path('backup'));
    expect(() => backUp()).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(sha256(path('backup'))).toBe(hash);
    expect(statSync(path('backup')).mode & 0o777).toBe(0o600);
    expect(readdirSync(fixture.home).filter((name) => !name.startsWith(FILE_NAME))).toEqual([
      'backup',
    ]);
  });
});

it('leaves nothing when the groups are damaged or not there', async () => {
  const { id } = await fixture.insert();
  await fixture.append(id, ...Array.from({ length: 50 }, () => ({ content: 'x'.repeat(2_000) })));
  fixture.store.close();
  const names = readdirSync(fixture.home);
  damage(fixture.file);
  const hash = sha256(fixture.file);
  expect(() => backUp()).toThrow(expect.objectContaining({ code: 'ROOM_STORE_INVALID' }));
  expect(readdirSync(fixture.home).filter((name) => !name.startsWith(FILE_NAME))).toEqual([]);
  expect(sha256(fixture.file)).toBe(hash);
  expect(() => backUpGroupStore({ home: path('elsewhere'), to: path('backup') })).toThrow(
    expect.objectContaining({ code: 'ROOM_STORE_INVALID' }),
  );
  expect(names).toEqual([FILE_NAME]);
});

/** Overwrites pages in the middle. */
function damage(file: string): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(8_192, 0x5a), 0, 8_192, 4_096 * 12);
  closeSync(handle);
}
