import { GroupModel, makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { useWorld } from './support/world';

const GROUPS = 8;
const members = ['default', 'writer', 'reviewer'];
const world = useWorld({ bots: ['writer', 'reviewer'] });

it(`${GROUPS} panels at once: every token arrives, and every client knows the same`, async () => {
  const { client, models } = world;
  const words = Array.from({ length: 40 }, (_, index) => `word-${index}`).join(' ');
  models.answer(({ model }) => ({ text: `${model}: ${words}`, tokenDelayMs: 10 }));
  const watcher = await world.connect();
  await watcher.call('profiles.rooms.list', { eventMode: 'delta-v1' });
  const groups = [];
  for (let count = 0; count < GROUPS; count++) groups.push(await makeGroup(client, members));
  await Promise.all(groups.map(({ id }) => sendTo(client, id, 'All together')));
  for (const { id } of groups) {
    await settled(client, id);
    const history = await wholeHistory(client, id);
    expect(
      history
        .slice(1)
        .map(({ content }) => content)
        .sort(),
    ).toEqual(members.map((member) => `${member}: ${words}`).sort());
    for (const each of [client, watcher]) {
      await each.waitForGroup(
        id,
        ({ type, room }) => type === 'run-state' && room?.running === false,
      );
      const model = new GroupModel(id);
      for (const event of each.groupEvents(id)) model.apply(event);
      expect(model.messages).toEqual(history);
      expect(model.gaps).toEqual([]);
    }
  }
});

it('the live window is cut by weight; the history is not', async () => {
  const { client } = world;
  const { id } = await makeGroup(client, ['default', 'writer'], {
    memberPolicies: { default: 'mentioned', writer: 'mentioned' },
  });
  const content = 'x'.repeat(32_000);
  for (let count = 0; count < 70; count++)
    await sendTo(client, id, content, { includeMessages: false });
  const room = await settled(client, id);
  const fits = Math.floor(2_097_152 / (256 + content.length));
  expect(room.messageCount).toBe(70);
  expect(room.messages?.map(({ seq }) => seq)).toEqual(
    Array.from({ length: fits }, (_, index) => 70 - fits + index),
  );
  const page = await client.call('profiles.rooms.history', { roomId: id, limit: 100 });
  expect(page).toMatchObject({ totalCount: 70, hasMore: false });
  expect(page.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 70 }, (_, seq) => seq));
});
