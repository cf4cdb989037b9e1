import { makeGroup, sendTo, settled, wholeHistory, type ModelCall } from '@flowly/testing';
import { modelsOf, useWorld } from './support/world';

const world = useWorld({ bots: ['writer', 'reviewer'] });

const mentioned = (...names: string[]) => ({
  memberPolicies: Object.fromEntries(names.map((name) => [name, 'mentioned'])),
});

/** Posts and waits for the end; answers which models were asked, in order. */
async function ask(groupId: string, content: string): Promise<string[]> {
  const before = world.models.calls.length;
  await sendTo(world.client, groupId, content);
  await settled(world.client, groupId);
  return modelsOf(world.models.calls.slice(before));
}

/** What the model was told by the user's side in its newest call. */
function promptOf(model: string): string {
  const call: ModelCall | undefined = world.models.callsOf(model).at(-1);
  return call?.messages.findLast(({ role }) => role === 'user')?.content ?? '';
}

it('G060: everybody answers what is addressed to nobody', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const sent = await sendTo(world.client, id, 'Hello everyone');
  expect(sent.running).toBe(true);
  const room = await settled(world.client, id);
  expect(room.running).toBe(false);
  const answers = room.messages?.filter(({ role }) => role === 'assistant') ?? [];
  expect(answers.map(({ profile }) => profile).sort()).toEqual(['default', 'writer']);
  expect(answers.map(({ content }) => content).sort()).toEqual([
    'Hello from default',
    'Hello from writer',
  ]);
});

it('G062: a mention inside backticks is none', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer', 'reviewer']);
  expect(await ask(id, '`@reviewer` please ignore; @writer answer')).toEqual(['writer']);
});

it('X038: an @ inside a word is no mention', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  const asked = await ask(id, 'write to mail@writer now');
  expect(asked.sort()).toEqual(['default', 'writer']);
});

it('G106: a mention calls a member that answers only when mentioned', async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer'], mentioned('writer'));
  expect(await ask(id, '@writer take a look')).toEqual(['writer']);
  expect(await ask(id, 'something for all')).toEqual(['default']);
  expect((await ask(id, '@everyone now')).sort()).toEqual(['default', 'writer']);
});

it('G108: with nobody to answer, the message is stored and no run starts', async () => {
  const { id } = await makeGroup(
    world.client,
    ['default', 'writer'],
    mentioned('default', 'writer'),
  );
  const before = world.models.calls.length;
  const room = await sendTo(world.client, id, 'a note to nobody in particular');
  expect(room).toMatchObject({ running: false, activeProfiles: [], runState: null });
  expect(room.messages?.map(({ content }) => content)).toEqual(['a note to nobody in particular']);
  expect(world.models.calls).toHaveLength(before);
  expect(await ask(id, '@writer now you')).toEqual(['writer']);
});

describe('display names', () => {
  beforeAll(async () => {
    const shown = {
      dqwdqwd: 'Friday',
      jarvis: 'Jarvis',
      'chief-of-staff': 'Chief of Staff',
      a1: 'Monday',
      b2: 'Monday',
      friday: 'Scout',
    };
    for (const [name, displayName] of Object.entries(shown))
      await world.makeBot(name, { displayName });
  }, 20_000);

  it('G091: a mention may use the name that is shown', async () => {
    const members = ['dqwdqwd', 'jarvis', 'chief-of-staff'];
    const { id } = await makeGroup(world.client, members, mentioned(...members));
    expect(await ask(id, '@Friday look')).toEqual(['dqwdqwd']);
    expect(await ask(id, '@friday look')).toEqual(['dqwdqwd']);
    expect(await ask(id, '@chiefofstaff look')).toEqual(['chief-of-staff']);
  });

  it('G093: a name that fits two calls neither', async () => {
    const { id } = await makeGroup(world.client, ['a1', 'b2'], mentioned('a1', 'b2'));
    const room = await sendTo(world.client, id, '@Monday look');
    expect(room).toMatchObject({ running: false, runState: null });
  });

  it('G094: the exact name wins over the name that is shown', async () => {
    const members = ['friday', 'dqwdqwd'];
    const { id } = await makeGroup(world.client, members, mentioned(...members));
    expect(await ask(id, '@friday look')).toEqual(['friday']);
  });
});

it("X042: the prompt holds the newest 40 messages, without the member's own", async () => {
  const { id } = await makeGroup(
    world.client,
    ['default', 'writer'],
    mentioned('default', 'writer'),
  );
  for (let count = 0; count < 45; count++) await sendTo(world.client, id, `note-${count}.`);
  await ask(id, '@writer first');
  expect(promptOf('writer')).not.toContain('note-5.');
  for (const text of ['User: note-6.', 'User: note-44.', 'User: @writer first'])
    expect(promptOf('writer')).toContain(text);

  await ask(id, '@default your turn');
  expect(promptOf('default')).toContain('writer: Hello from writer');
  await ask(id, '@writer again');
  expect(promptOf('writer')).toContain('Flowly: Hello from default');
  expect(promptOf('writer')).not.toContain('Hello from writer');
  expect(promptOf('writer')).not.toContain('note-44.');
});

it('G160: counts what the members have used', async () => {
  await world.makeBot('teller');
  const { id } = await makeGroup(
    world.client,
    ['default', 'teller'],
    mentioned('default', 'teller'),
  );
  const usage = (prompt_tokens: number, completion_tokens: number) => ({
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  });
  world.models.script('teller', [
    { text: 'one', usage: usage(1000, 100) },
    { text: 'two', usage: usage(500, 50) },
  ]);
  world.models.script('default', [{ text: 'three', usage: usage(200, 20) }]);
  for (const content of ['@teller', '@teller', '@default']) await ask(id, content);
  const { usage: used } = await settled(world.client, id);
  expect(used).toMatchObject({ turns: 3, inputTokens: 1700, outputTokens: 170 });
  expect(used?.members.map(({ profile }) => profile)).toEqual(['default', 'teller']);
  expect(used?.members[1]).toEqual({
    profile: 'teller',
    model: 'teller',
    calls: 2,
    inputTokens: 1500,
    outputTokens: 150,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });
});

it('G167, G165: usage of one panel, and the same after a restart', async () => {
  await world.makeBot('scribe');
  await world.makeBot('clerk');
  const { id } = await makeGroup(world.client, ['scribe', 'clerk']);
  const usage = (prompt: number, completion: number) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  });
  world.models.script('scribe', [{ text: 'one', usage: usage(900, 90) }]);
  world.models.script('clerk', [{ text: 'two', usage: usage(100, 10) }]);
  await ask(id, 'count');
  const { usage: used } = await settled(world.client, id);
  expect(used).toMatchObject({ turns: 2, inputTokens: 1000, outputTokens: 100 });
  const byMember = used?.members.map(({ profile, inputTokens }) => [profile, inputTokens]);
  expect(byMember).toEqual([
    ['clerk', 100],
    ['scribe', 900],
  ]);
  const client = await world.restart();
  const { rooms } = await client.call('profiles.rooms.list', { includeMessages: false });
  expect(rooms.find((room) => room.id === id)?.usage).toEqual(used);
});

it('G161: an answer without usage, or with nothing but zeros, counts nothing', async () => {
  await world.makeBot('mute');
  const { id } = await makeGroup(world.client, ['default', 'mute'], mentioned('default', 'mute'));
  const zero = {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
  world.models.script('mute', [
    { text: 'one', usage: null },
    { text: 'two', usage: zero },
  ]);
  await ask(id, '@mute');
  await ask(id, '@mute');
  const room = await settled(world.client, id);
  expect(room.usage).toBeNull();
  const texts = (await wholeHistory(world.client, id)).map(({ content }) => content);
  expect(texts).toEqual(['@mute', 'one', '@mute', 'two']);
});
