import { randomUUID } from 'node:crypto';
import { GroupWorld, until } from '../orchestrator.harness';

const AT = '2026-01-02T03:04:05.678Z';

let world: GroupWorld;
beforeEach(async () => {
  world = await GroupWorld.start({ groups: 3 });
});
afterEach(() => world.stop());

const message = (content = 'Review this') => ({
  id: randomUUID(),
  role: 'user',
  content,
  createdAt: AT,
});
const room = (changes: Record<string, unknown> = {}) => ({
  id: randomUUID(),
  title: 'Imported',
  members: ['default', 'writer'],
  createdAt: AT,
  updatedAt: AT,
  messages: [message()],
  ...changes,
});
const count = () => world.store.read((groups) => groups.countGroups());
const load = async (rooms: unknown, id = randomUUID()) => {
  const own = async () => (await world.answers()).filter(({ command }) => command === id);
  const before = (await own()).length;
  await world.command('groups.import', { rooms }, id);
  await until(async () => (await own()).length > before);
  return (await own()).at(-1)?.outcome;
};
const result = (counts: object) => ({ result: { hostId: 'host-1', ...counts } });

it('the window is trimmed at once, and the watermarks with it; all of it is history', async () => {
  const content = 'x'.repeat(30_000);
  const messages = Array.from({ length: 100 }, () => message(content));
  const wanted = room({ messages, watermarks: { writer: 60 } });
  expect(await load([wanted])).toEqual(
    result({ ok: true, imported: 1, existing: 0, conflicts: [] }),
  );
  const record = await world.record(wanted.id);
  const kept = Math.floor(2_097_152 / 30_256);
  expect(record).toMatchObject({
    total: 100,
    live: kept,
    nextSeq: 100,
    updatedAt: AT,
    watermarks: { default: kept, writer: 60 - (100 - kept) },
    run: null,
  });
  const page = await world.store.read((groups) => groups.historyPage(wanted.id, null, 100));
  expect(page.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
  expect(page.messages.map(({ seq }) => seq)).toEqual(messages.map((_, index) => index));
  expect(await load([wanted])).toEqual(
    result({ ok: true, imported: 0, existing: 1, conflicts: [] }),
  );
});

it('tells of each group that was made', async () => {
  const [one, two] = [room(), room()];
  await load([one, two]);
  await until(() => world.events.length === 2);
  expect(world.events).toMatchObject([
    { type: 'updated', groupId: one.id, windowFirstSeq: 0, lastSeq: 0 },
    { type: 'updated', groupId: two.id },
  ]);
});

it('G131: one conflict, and nothing is imported', async () => {
  const existing = room();
  await load([existing]);
  const other = { ...existing, createdAt: '2026-01-02T03:04:05.000Z' };
  expect(await load([room(), other])).toEqual(
    result({ ok: false, imported: 0, existing: 0, conflicts: [existing.id] }),
  );
  const longer = { ...existing, messages: [...existing.messages, message()] };
  expect(await load([longer])).toMatchObject({ result: { conflicts: [existing.id] } });
  expect(await count()).toBe(1);
});

it('conflicts come before too many groups, and those that exist do not count', async () => {
  const existing = [room(), room()];
  await load(existing);
  const fresh = [room(), room()];
  await expect(load([...existing, ...fresh])).rejects.toMatchObject({ code: 'ROOM_LIMIT_IMPORT' });
  const conflict = { ...existing[0], createdAt: '2020-01-01T00:00:00.000Z' };
  expect(await load([conflict, existing[1], ...fresh])).toMatchObject({
    result: { ok: false, existing: 1 },
  });
  expect(await count()).toBe(2);
  expect(await load([...existing, fresh[0]])).toMatchObject({
    result: { ok: true, imported: 1, existing: 2 },
  });
});

it('delivered again it answers the same, also when a bot has gone since', async () => {
  const id = randomUUID();
  const wanted = room();
  const first = await load([wanted], id);
  world.orchestrator.bot = () => null;
  expect(await load([wanted], id)).toEqual(first);
  await expect(load([wanted])).rejects.toMatchObject({ code: 'PROFILE_NOT_FOUND' });
});

it('a group that is too large for the store is not imported, nor are those beside it', async () => {
  const title = 'T';
  const huge = Array.from({ length: 10 }, (_, index) => ({
    id: `c${index}`,
    name: 'exec',
    argumentsJson: '{}',
  }));
  const tools = Array.from({ length: 50_000 }, () => 'x'.repeat(100));
  const large = room({ title, messages: [{ ...message(), toolCalls: huge, tools }] });
  await expect(load([room(), large])).rejects.toMatchObject({ code: 'ROOM_STORE_LIMIT' });
  expect(await count()).toBe(0);
});

it('a bot that goes while the import waits for the store is not brought back by it', async () => {
  const { orchestrator } = world;
  const { bot } = orchestrator;
  // There when the groups are examined, gone right after it.
  let isGone = false;
  orchestrator.bot = (name) => {
    queueMicrotask(() => (isGone = true));
    return isGone && name === 'writer' ? null : bot(name);
  };
  const importing = world.command('groups.import', { rooms: [room()] });
  await expect(importing).rejects.toMatchObject({ code: 'PROFILE_NOT_FOUND' });
  expect(isGone).toBe(true);
  expect(await count()).toBe(0);
});
