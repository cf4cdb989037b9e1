import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { getGroup, makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { groupDatabase, readGroupValue } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

const AT = '2026-01-02T03:04:05.678Z';
const size = () => statSync(groupDatabase(world.system.home)).size;
const lastVacuum = () =>
  readGroupValue(world.system.home, "SELECT value FROM room_store_meta WHERE key = 'last_vacuum'");

/** Stops the orchestrator in good order, so that the file holds everything, and starts it again. */
async function restart(meanwhile: () => void = () => undefined): Promise<void> {
  const orchestrator = world.system.service('group-orchestrator');
  await orchestrator.kill('SIGTERM');
  meanwhile();
  orchestrator.start();
  await world.system.ready();
}

/** Six groups of 400 messages of 4,000 characters, of which five are deleted; the one that is left. */
async function sixGroupsLessFive(): Promise<string> {
  const rooms = Array.from({ length: 6 }, () => ({
    id: randomUUID(),
    title: 'Large',
    members: ['default', 'writer'],
    mode: 'panel',
    createdAt: AT,
    updatedAt: AT,
    messages: Array.from({ length: 400 }, (_, n) => ({
      id: randomUUID(),
      role: 'user',
      content: `${n} `.padEnd(4_000, 'x'),
      createdAt: AT,
    })),
  }));
  for (const room of rooms) await world.client.call('profiles.rooms.import', { rooms: [room] });
  const [kept, ...others] = rooms.map(({ id }) => id);
  for (const roomId of others) await world.client.call('profiles.rooms.delete', { roomId });
  return kept ?? '';
}

/** The group is whole and goes on. */
async function expectOpens(groupId: string): Promise<void> {
  expect(await wholeHistory(world.client, groupId)).toHaveLength(400);
  await sendTo(world.client, groupId, '@writer are you there?');
  const room = await settled(world.client, groupId);
  expect(room.messageCount).toBe(402);
  expect(readGroupValue(world.system.home, 'PRAGMA quick_check')).toBe('ok');
}

it('G046: a file with nothing to give back is left alone', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer'], {
    memberPolicies: { default: 'mentioned', writer: 'mentioned' },
  });
  for (let n = 0; n < 5; n++) await sendTo(world.client, id, `message ${n}`);
  await restart();
  expect(lastVacuum()).toBeUndefined();
  expect((await getGroup(world.client, id)).messageCount).toBe(5);
});

it('G045: the file shrinks at the next start', async () => {
  const kept = await sixGroupsLessFive();
  const before = size();
  expect(lastVacuum()).toBeUndefined();
  await restart();
  expect(before - size()).toBeGreaterThan(8_000_000);
  expect(Math.abs(Number(lastVacuum()) - Date.now() / 1_000)).toBeLessThan(60);
  await expectOpens(kept);
});

it('G048: not again so soon, but what was never a time does not hinder it', async () => {
  const noted = lastVacuum();
  const kept = await sixGroupsLessFive();
  const before = size();
  await restart();
  expect(size()).toBeGreaterThanOrEqual(before);
  expect(lastVacuum()).toBe(noted);

  await restart(() => {
    const database = new Database(groupDatabase(world.system.home));
    database.exec("UPDATE room_store_meta SET value = 'soon' WHERE key = 'last_vacuum'");
    database.close();
  });
  expect(before - size()).toBeGreaterThan(8_000_000);
  expect(Number(lastVacuum())).toBeGreaterThan(0);
  await expectOpens(kept);
});
