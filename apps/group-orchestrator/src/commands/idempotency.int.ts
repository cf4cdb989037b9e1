import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ groups: 3, createKeyMs: 86_400_000 });
  group = await world.create();
});
afterEach(() => world.stop());

/** What the call is answered, among the answers to all others. */
const outcomeOf = async (name: string, params: Record<string, unknown>, id: string) => {
  const own = async () => (await world.answers()).filter(({ command }) => command === id);
  const before = (await own()).length;
  await world.command(name, params, id);
  await until(async () => (await own()).length > before);
  return (await own()).at(-1)?.outcome;
};
const send = (changes: Record<string, unknown> = {}, id = randomUUID()) => {
  const params = { roomId: group, content: '@writer hi', idempotencyKey: 'key', ...changes };
  return outcomeOf('groups.send', params, id);
};
const create = (changes: Record<string, unknown> = {}) => {
  const definition = { title: 'Council', members: ['default', 'writer'] };
  const params = { ...definition, idempotencyKey: 'key', ...changes };
  return outcomeOf('groups.create', params, randomUUID());
};
const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const conflict = { code: 'IDEMPOTENCY_CONFLICT', retryable: false };
const endRun = async () => {
  const run = (await world.record(group)).run?.id ?? '';
  const given = { group, run, steps: { writer: `room-${run}-writer` } };
  await stepEnded(world.orchestrator, ended(given, 'writer'));
};

describe('a key of send', () => {
  it('repeated while the group is busy answers with the group as it is and runs nothing', async () => {
    expect(await send()).not.toHaveProperty('result.replayed');
    expect(await send({ content: '  @writer hi ' })).toMatchObject({
      result: { replayed: true, room: { running: true, messageCount: 1 } },
    });
    await endRun();
    expect(await send({ includeMessages: false })).toMatchObject({
      result: { replayed: true, room: { running: false, messageCount: 2 } },
    });
    expect(await world.contents(group)).toEqual(['@writer hi', 'answer of writer']);
  });

  it('with other content is a conflict, before the group can be busy', async () => {
    await send();
    await expect(send({ content: 'other' })).rejects.toMatchObject(conflict);
    await expect(send({ attachments: [file] })).rejects.toMatchObject(conflict);
    await expect(send({ idempotencyKey: 'other' })).rejects.toMatchObject({ code: 'ROOM_BUSY' });
  });

  it('is looked up after the group and before a file is written', async () => {
    await send({ attachments: [file] });
    await endRun();
    const media = () => readdirSync(join(world.home, 'media'));
    const before = media();
    expect(await send({ attachments: [file] })).toHaveProperty('result.replayed', true);
    const renamed = { ...file, fileName: 'b.txt' };
    await expect(send({ attachments: [renamed] })).rejects.toMatchObject(conflict);
    const other = { ...file, content: 'SGVsbG9v' };
    await expect(send({ attachments: [other] })).rejects.toMatchObject(conflict);
    expect(media()).toEqual(before);
    await expect(send({ roomId: randomUUID() })).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
  });

  it('is of one group, and of two at once one posts', async () => {
    const both = await Promise.allSettled([
      world.command('groups.send', { roomId: group, content: '@writer hi', idempotencyKey: 'k' }),
      world.command('groups.send', { roomId: group, content: '@writer hi', idempotencyKey: 'k' }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await world.contents(group)).toEqual(['@writer hi']);
    const other = await world.create(['writer', 'reviewer']);
    expect(await send({ roomId: other, idempotencyKey: 'k' })).not.toHaveProperty(
      'result.replayed',
    );
  });

  it('is used up by a send that took effect, not by one that was refused', async () => {
    await send({ idempotencyKey: 'first' });
    await expect(send()).rejects.toMatchObject({ code: 'ROOM_BUSY' });
    await endRun();
    expect(await send()).not.toHaveProperty('result.replayed');
  });

  it('is no replay for the same command delivered again', async () => {
    const id = randomUUID();
    await send({}, id);
    const again = await send({}, id);
    expect(again).toHaveProperty('result.room.messageCount', 1);
    expect(again).not.toHaveProperty('result.replayed');
  });
});

describe('a key of create', () => {
  it('answers with the group it made, also when there could be no other', async () => {
    const made = await create();
    await world.create();
    const again = await create({ mode: 'panel', memberPolicies: {}, title: ' Council ' });
    expect(again).toMatchObject({ result: { replayed: true } });
    const idOf = (outcome: unknown) => JSON.stringify(outcome).match(/"id":"([^"]+)"/)?.[1];
    expect(idOf(again)).toBe(idOf(made));
    await expect(create({ idempotencyKey: 'new' })).rejects.toMatchObject({ code: 'ROOM_LIMIT' });
  });

  it.each([
    [{ title: 'Other' }],
    [{ members: ['writer', 'default'] }],
    [{ mode: 'council' }],
    [{ memberPolicies: { writer: 'mentioned' } }],
  ])('with another definition is a conflict: %j', async (changes) => {
    await create();
    await expect(create(changes)).rejects.toMatchObject(conflict);
  });

  it('holds when the group is gone: it is not made anew', async () => {
    await create();
    const [newest] = await world.store.read((groups) => groups.listGroups());
    await world.command('groups.delete', { roomId: newest?.id });
    expect(await create()).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } });
  });

  it('counts for its time only', async () => {
    await world.stop();
    world = await GroupWorld.start({ createKeyMs: 20 });
    await create();
    await until(async () => {
      const again = await create();
      return JSON.stringify(again).includes('"replayed":true') === false;
    });
    const count = await world.store.read((groups) => groups.countGroups());
    expect(count).toBe(2);
  });
});
