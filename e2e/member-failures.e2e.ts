import { Gate, makeGroup, sendTo, settled, wholeHistory } from '@flowly/testing';
import { watermarksOf } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({
  bots: ['writer'],
  limits: {
    modelRetries: 1,
    modelRetryDelayMs: 10,
    modelFirstByteMs: 500,
    modelBetweenBytesMs: 500,
  },
});

const lastPrompt = () =>
  world.models
    .callsOf('writer')
    .at(-1)
    ?.messages.findLast(({ role }) => role === 'user')?.content;

it('G061: what a member missed by failing is given again, also after a restart', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const fault = { kind: 'status', status: 503, body: '{"error":"provider unavailable"}' } as const;
  world.models.script('writer', [{ fault }]);
  await sendTo(world.client, id, '@writer review this');
  const failed = await settled(world.client, id);
  expect(failed.runState).toMatchObject({
    state: 'partial',
    members: { writer: { state: 'failed' } },
  });
  expect(failed.runState?.members['writer']?.error).toMatch(/\S/);
  expect(failed.messageCount).toBe(1);
  expect(watermarksOf(world.system.home, id)).toMatchObject({ writer: 0 });

  const client = await world.restart();
  expect(watermarksOf(world.system.home, id)).toMatchObject({ writer: 0 });
  world.models.script('writer', ['Done now']);
  await sendTo(client, id, '@writer once more');
  const done = await settled(client, id);
  expect(done.runState?.state).toBe('completed');
  expect(lastPrompt()).toContain('User: @writer review this');
  expect(lastPrompt()).toContain('User: @writer once more');
  expect(watermarksOf(world.system.home, id)).toMatchObject({ writer: 2 });
});

it.each([
  ['hangs before its first byte', { kind: 'hang-before-headers' }],
  ['hangs in mid-answer', { kind: 'hang', after: 1 }],
  ['resets in mid-answer', { kind: 'reset', after: 1 }],
  ['sends broken JSON', { kind: 'broken-json', after: 1 }],
  ['refuses the key', { kind: 'status', status: 401 }],
] as const)('a provider that %s fails one member, not the other', async (_, fault) => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  world.models.script('writer', [{ text: 'half an answer', fault }]);
  await sendTo(world.client, id, 'Hello');
  const room = await settled(world.client, id);
  expect(room.runState).toMatchObject({
    state: 'partial',
    members: { default: { state: 'completed' }, writer: { state: 'failed' } },
  });
  const texts = (await wholeHistory(world.client, id)).map(({ content }) => content);
  expect(texts).toEqual(['Hello', 'Hello from default']);
  expect(room).toMatchObject({ running: false, activeProfiles: [], streams: {} });
});

it('the words of a failure name no path and no exception', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const body = JSON.stringify({ error: { message: 'Error: ENOENT at /srv/models/x.py' } });
  world.models.script('writer', [{ fault: { kind: 'status', status: 500, body } }]);
  await sendTo(world.client, id, '@writer hi');
  const { runState } = await settled(world.client, id);
  const text = runState?.members['writer']?.error ?? '';
  expect(text).not.toMatch(/ENOENT|\/srv|Error:/);
  expect(text.length).toBeLessThanOrEqual(500);
});

it('X010: a busy group refuses a message, which may be sent again', async () => {
  const gate = new Gate();
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  world.models.script('writer', [{ gate: gate.opened, text: 'late' }, 'second']);
  await sendTo(world.client, id, '@writer hi');
  const busy = await world.client.refusal('profiles.rooms.send', { roomId: id, content: 'again' });
  expect(busy).toMatchObject({ code: 'ROOM_BUSY', retryable: true });
  gate.open();
  await settled(world.client, id);
  await sendTo(world.client, id, '@writer again');
  await settled(world.client, id);
  const texts = (await wholeHistory(world.client, id)).map(({ content }) => content);
  expect(texts).toEqual(['@writer hi', 'late', '@writer again', 'second']);
});

it.each(['(pass)', 'PASS.', ''])('a member that answers %j posts nothing', async (text) => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  world.models.script('writer', [{ text }]);
  await sendTo(world.client, id, '@writer hi');
  const room = await settled(world.client, id);
  expect(room.runState).toMatchObject({ state: 'completed' });
  expect(room.messageCount).toBe(1);
  expect(watermarksOf(world.system.home, id)).toMatchObject({ writer: 1 });
});

it('X095: an answer over 32,000 characters is cut there and the group goes on', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  world.models.script('writer', [
    { text: Array.from({ length: 43 }, () => 'x'.repeat(100_000)) },
    'short',
  ]);
  await sendTo(world.client, id, '@writer hi');
  const room = await settled(world.client, id);
  expect(room.runState?.state).toBe('completed');
  expect(room.messages?.at(-1)?.content).toBe('x'.repeat(32_000));
  await sendTo(world.client, id, '@writer and now');
  const after = await settled(world.client, id);
  expect(after.messages?.at(-1)?.content).toBe('short');
});
