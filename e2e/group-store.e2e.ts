import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { getGroup, makeGroup, sendTo, settled, until, wholeHistory } from '@flowly/testing';
import { groupDatabase, readGroupValue } from './support/group-database';
import { useWorld } from './support/world';

/** One life of a data folder that an old version left: nothing can be read, then it can, then the program is a newer one. */

const ROOM = '55fc1b75-0b89-47e6-8974-504eef89249c';
const AT = '2026-01-02T03:04:05.678Z';
const LEGACY = JSON.stringify({
  version: 1,
  rooms: [
    {
      id: ROOM,
      title: 'Legacy council',
      members: ['default', 'writer'],
      mode: 'panel',
      createdAt: AT,
      updatedAt: AT,
      messages: [
        {
          id: '0b54c3b4-2f0b-4b40-9a35-5f3a0d9a2f11',
          role: 'user',
          content: 'Review this',
          createdAt: AT,
        },
      ],
      watermarks: { default: 0, writer: 0 },
    },
  ],
});
const TOO_LARGE = LEGACY + ' '.repeat(16 * 1024 * 1024 + 1 - LEGACY.length);

const home = mkdtempSync(path.join(os.tmpdir(), 'flowly-old-home-'));
const source = path.join(home, 'profile-rooms.json');
beforeAll(() => writeFileSync(source, TOO_LARGE));
const world = useWorld({ home, bots: ['writer'], limits: { storeLookMs: 200 } });
afterAll(() => rmSync(home, { recursive: true }));

const list = () => world.client.call('profiles.rooms.list', {});
const titles = async () => (await list()).rooms.map(({ title }) => title);
const pragma = (name: string) => readGroupValue(home, `PRAGMA ${name}`);

/** Ends the group service, works on its files, starts it again. */
async function whileStopped(work: () => void): Promise<void> {
  const orchestrator = world.system.service('group-orchestrator');
  await orchestrator.kill('SIGTERM');
  work();
  orchestrator.start();
  await world.system.ready();
}

it('X100: 16 MiB and one byte of an old version are refused, and no database is made', async () => {
  expect((await world.client.refusal('profiles.rooms.list', {})).code).toBe('ROOM_STORE_INVALID');
  expect(readdirSync(home).filter((name) => name.startsWith('profile-rooms'))).toEqual([
    'profile-rooms.json',
  ]);
  expect(statSync(source).size).toBe(TOO_LARGE.length);
});

it('G030: the groups of an old version are taken over once, and their file stays', async () => {
  writeFileSync(source, LEGACY);
  await until(
    () => titles().catch(() => undefined),
    10_000,
    () => 'the store stays closed',
  );
  expect(await titles()).toEqual(['Legacy council']);
  expect(readFileSync(source, 'utf8')).toBe(LEGACY);
  expect(statSync(groupDatabase(home)).mode & 0o777).toBe(0o600);
  expect(pragma('quick_check')).toBe('ok');
  expect(pragma('journal_mode')).toBe('wal');
  expect(pragma('application_id')).toBe(0x464c5952);
  expect(pragma('user_version')).toBe(4);
  expect(
    readGroupValue(home, "SELECT value FROM room_store_meta WHERE key = 'legacy_sha256'"),
  ).toBe(createHash('sha256').update(LEGACY).digest('hex'));
  await whileStopped(() => writeFileSync(source, '{"version":1,"rooms":[]}'));
  expect(await titles()).toEqual(['Legacy council']);
});

it('a group that was taken over goes on', async () => {
  await sendTo(world.client, ROOM, '@writer go on');
  const room = await settled(world.client, ROOM);
  expect(room.runState?.state).toBe('completed');
  const history = await wholeHistory(world.client, ROOM);
  expect(history.map(({ seq, content }) => [seq, content])).toEqual([
    [0, 'Review this'],
    [1, '@writer go on'],
    [2, 'Hello from writer'],
  ]);
});

it('G040: a database of version 2 is brought to version 4, with a run that was going', async () => {
  const before = await wholeHistory(world.client, ROOM);
  await whileStopped(() => {
    const database = new Database(groupDatabase(home));
    database.exec(`ALTER TABLE rooms DROP COLUMN member_policies_json;
      ALTER TABLE rooms DROP COLUMN usage_json;
      UPDATE rooms SET run_json = json_set(run_json, '$.state', 'running', '$.finishedAt', '',
        '$.members.writer.state', 'running');
      PRAGMA user_version = 2`);
    database.close();
  });
  expect(pragma('user_version')).toBe(4);
  expect(readGroupValue(home, "SELECT group_concat(name) FROM pragma_table_info('rooms')")).toMatch(
    /,next_seq,usage_json,member_policies_json$/,
  );
  expect(await wholeHistory(world.client, ROOM)).toEqual(before);
  const room = await settled(world.client, ROOM);
  expect(room).toMatchObject({ title: 'Legacy council', usage: null, running: false });
  expect(room.runState?.state).toBe('stranded');
  await sendTo(world.client, ROOM, '@writer and on');
  expect((await settled(world.client, ROOM)).runState?.state).toBe('completed');
  expect((await getGroup(world.client, ROOM)).messageCount).toBe(before.length + 2);
});

it('a database that is made in the place of another tells of its groups from the start', async () => {
  const before = world.client;
  await whileStopped(() => {
    rmSync(source);
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(groupDatabase(home) + suffix, { force: true });
  });
  // What was told of the groups that are gone counts no more.
  expect((await before.closed).code).toBe(1012);
  await world.reconnect();
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  await sendTo(world.client, id, '@writer hello');
  const over = await world.client.waitForGroup(id, ({ type }) => type === 'run-state');
  expect(over.room?.runState?.state).toBe('completed');
});
