import { randomUUID } from 'node:crypto';
import { groupFixture, type GroupFixture } from './group-fixture';
import { findCreate, findSend, forgetCreates, storeCreate, storeSend } from './idempotency';
import {
  addRemoval,
  deleteRemoval,
  markRemovalGiven,
  pendingRemovals,
  removalsGivenBefore,
  type PendingRemoval,
} from './session-removals';

let fixture: GroupFixture;
beforeEach(async () => void (fixture = await groupFixture()));
afterEach(() => fixture.end());

const count = (table: string) =>
  fixture.other((sqlite) => sqlite.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get());
const remove = (id: string, unlimited = true) =>
  fixture.store.transaction((groups) => groups.deleteGroup(id), { unlimited });

describe('a deleted group', () => {
  it('leaves nothing of its own, and others as they were', async () => {
    const [gone, stays] = [await fixture.insert(), await fixture.insert()];
    const file = { fileName: 'a', mimeType: 'b', kind: 'file', status: 'ready' } as const;
    for (const { id } of [gone, stays]) {
      await fixture.append(id, { attachments: [{ ...file, mediaId: `group-${id}` }] }, {});
      await fixture.store.transaction((groups) => {
        groups.saveRunState(id, 'run', {});
        storeSend(fixture.store.database, id, 'key', 'content');
      });
    }
    const revision = fixture.store.revision();
    await remove(gone.id);
    expect(fixture.store.revision()).toBe(revision + 1);
    const tables = ['rooms', 'ext_groups', 'ext_runs', 'ext_media', 'ext_sends'];
    expect(tables.map(count)).toEqual([1, 1, 1, 1, 1]);
    expect(count('room_messages')).toBe(2);
    await fixture.reopen();
    expect((await fixture.find(stays.id)).total).toBe(2);
  });

  it('can be made again under its id and begins at 0', async () => {
    const { id } = await fixture.insert();
    await fixture.append(id, {}, {});
    await remove(id);
    await fixture.insert({ id });
    const [first] = await fixture.append(id, {});
    expect(first?.seq).toBe(0);
  });
});

it('the first messages of a group are those of its whole history', async () => {
  const { id } = await fixture.insert();
  const added = await fixture.append(id, { content: 'a' }, { content: 'b' }, { content: 'c' });
  fixture.other((sqlite) => {
    sqlite.exec('UPDATE room_messages SET trimmed = 1 WHERE seq = 0');
    sqlite.exec("UPDATE room_messages SET payload_json = 'x', trimmed = 1 WHERE seq = 1");
  });
  const first = await fixture.store.read((groups) => groups.firstMessages(id, 2));
  expect(first).toEqual([added[0], null]);
});

describe('keys of clients', () => {
  it('of sends are of one group and go with it', async () => {
    const [one, two] = [await fixture.insert(), await fixture.insert()];
    const { database } = fixture.store;
    const find = (id: string) => fixture.store.read(() => findSend(database, id, 'key'));
    await fixture.store.transaction(() => storeSend(database, one.id, 'key', 'hash'));
    expect([await find(one.id), await find(two.id)]).toEqual(['hash', null]);
    await remove(one.id);
    expect(await find(one.id)).toBeNull();
  });

  it('of creates count for their time, also without their group, and are then forgotten', async () => {
    const { database } = fixture.store;
    const made = { content: 'hash', groupId: randomUUID() };
    await fixture.store.transaction(() => storeCreate(database, 'key', { ...made, at: 100 }));
    expect(findCreate(database, 'key', 100)).toEqual(made);
    expect(findCreate(database, 'key', 101)).toBeNull();
    const newer = { content: 'other', groupId: randomUUID() };
    await fixture.store.transaction(() => storeCreate(database, 'key', { ...newer, at: 200 }));
    expect(findCreate(database, 'key', 101)).toEqual(newer);
    await forgetCreates(database, 201);
    expect(findCreate(database, 'key', 0)).toBeNull();
  });
});

describe('sessions that are to go', () => {
  const removal = (changes: Partial<PendingRemoval> = {}): PendingRemoval => ({
    removalId: randomUUID(),
    groupId: 'group',
    bot: 'writer',
    at: 100,
    steps: [{ stepKey: 'step', runId: 'run' }],
    ...changes,
  });

  it('wait until they are answered, whatever becomes of their group', async () => {
    const { database } = fixture.store;
    const { id } = await fixture.insert();
    const [first, second] = [removal({ groupId: id, at: 2 }), removal({ groupId: id, at: 1 })];
    const other = removal({ groupId: id, bot: 'reviewer' });
    const revision = fixture.store.revision();
    await fixture.store.transaction(() => {
      for (const each of [first, second, other, first]) addRemoval(database, each);
    });
    expect(fixture.store.revision()).toBe(revision);
    await remove(id);
    expect(pendingRemovals(database, id, 'writer')).toEqual([second, first]);
    await fixture.store.transaction(() => deleteRemoval(database, first.removalId));
    expect(pendingRemovals(database, id, 'writer')).toEqual([second]);
  });

  it('are due again some time after they were given', async () => {
    const { database } = fixture.store;
    const pending = removal();
    await fixture.store.transaction(() => addRemoval(database, pending));
    expect(removalsGivenBefore(database, 100)).toEqual([]);
    expect(removalsGivenBefore(database, 101)).toEqual([pending]);
    await fixture.store.transaction(() => markRemovalGiven(database, pending.removalId, 300));
    expect(removalsGivenBefore(database, 300)).toEqual([]);
  });
});
