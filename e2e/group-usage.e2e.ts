import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GroupUsage, Usage } from '@flowly/contract';
import { makeGroup, MODEL_KEY, sendTo, settled, type Client } from '@flowly/testing';
import { readGroupValue } from './support/group-database';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });

const used = (prompt: number, completion: number, read = 0, write = 0): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read_tokens: read,
  cache_write_tokens: write,
});

/** Gives both bots this model. */
async function bothUse(model: string): Promise<void> {
  for (const name of ['default', 'writer']) await use(name, 'vllm', model);
}

async function use(name: string, provider: string, model: string): Promise<void> {
  const credential = { provider, apiBase: world.models.apiBase, apiKey: MODEL_KEY };
  await world.client.call('profiles.configure', { name, provider, model, credential });
}

const answers = (model: string, ...usages: (Usage | null)[]) =>
  world.models.script(
    model,
    usages.map((usage) => ({ text: 'Fine.', usage })),
  );

const ask = async (roomId: string, content: string, client: Client = world.client) => {
  await sendTo(client, roomId, content);
  return (await settled(client, roomId)).usage;
};

const pricesFile = () => path.join(world.system.home, 'prices.json');
const setPrices = (prices: object) => writeFileSync(pricesFile(), JSON.stringify(prices));
const usageOf = async (roomId: string): Promise<GroupUsage | null> =>
  (await world.client.call('profiles.rooms.get', { roomId, includeMessages: false })).room.usage;

const pair = async () => (await makeGroup(world.client, ['default', 'writer'])).id;

afterEach(() => rmSync(pricesFile(), { force: true }));

it('G160: sums up turns and members', async () => {
  await bothUse('m/one');
  answers('m/one', used(1_000, 100), used(500, 50), used(200, 20));
  const id = await pair();
  expect(await usageOf(id)).toBeNull();
  for (const content of ['@writer one', '@writer two', '@default three']) await ask(id, content);
  const usage = await usageOf(id);
  expect(usage).toMatchObject({ turns: 3, inputTokens: 1_700, outputTokens: 170 });
  expect(usage?.members.map(({ profile }) => profile)).toEqual(['default', 'writer']);
  expect(usage?.members[1]).toEqual({
    profile: 'writer',
    calls: 2,
    model: 'm/one',
    inputTokens: 1_500,
    outputTokens: 150,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });
});

it('G161: an answer without usage, or with nothing but zeros, counts nothing', async () => {
  await bothUse('m/silent');
  answers('m/silent', null, used(0, 0), used(7, 1), null);
  const id = await pair();
  expect(await ask(id, '@writer one')).toBeNull();
  expect(await ask(id, '@writer two')).toBeNull();
  expect(await ask(id, '@writer three')).toMatchObject({ turns: 1, inputTokens: 7 });
  expect(await ask(id, '@writer four')).toMatchObject({ turns: 1, inputTokens: 7 });
});

it('G162: is priced when asked, by the prices there are then, and stored without', async () => {
  await bothUse('m/priced');
  answers('m/priced', used(1_000_000, 0, 800_000));
  const id = await pair();
  const before = await ask(id, '@writer one');
  expect(before).toMatchObject({ inputTokens: 1_000_000, cacheReadTokens: 800_000 });
  expect(before).not.toHaveProperty('costUsd');
  expect(before).not.toHaveProperty('costPartial');
  setPrices({ 'm/priced': { input: 10, output: 20, cacheRead: 1 } });
  const after = await usageOf(id);
  expect(after).toMatchObject({ costUsd: 2.8, costPartial: false });
  expect(after?.members[0]?.costUsd).toBe(2.8);
  setPrices({ 'm/priced': { input: 10, output: 20 } });
  expect(await usageOf(id)).toMatchObject({ costUsd: 10 });
  writeFileSync(pricesFile(), '{"m/priced": {"input": ');
  for (let times = 0; times < 3; times++) expect(await usageOf(id)).not.toHaveProperty('costUsd');
  expect(world.system.stdout.match(/own prices are not used/g)).toHaveLength(1);
  const stored = readGroupValue(world.system.home, 'SELECT usage_json FROM rooms WHERE id = ?', id);
  expect(String(stored)).not.toMatch(/cost/i);
});

it('events and replies show the cost as get does', async () => {
  await bothUse('m/told');
  answers('m/told', used(1_000, 1_000));
  setPrices({ 'm/told': { input: 1, output: 2 } });
  const id = await pair();
  await ask(id, '@writer one');
  const sent = await sendTo(world.client, id, '@writer two');
  expect(sent.usage).toMatchObject({ costUsd: 0.003, costPartial: false });
  await settled(world.client, id);
  const { rooms } = await world.client.call('profiles.rooms.list', {});
  const shown = rooms.find((room) => room.id === id)?.usage;
  expect(shown).toMatchObject({ costUsd: 0.006 });
  const last = await world.client.waitForGroup(
    id,
    ({ type, room }) => type === 'run-state' && room?.usage?.turns === 2,
  );
  expect(last.room?.usage).toEqual(shown);
});

it('is partial while the price of one member is not known', async () => {
  await use('writer', 'vllm', 'm/known');
  await use('default', 'vllm', 'm/unknown');
  answers('m/known', used(1_000_000, 0));
  answers('m/unknown', used(10, 10));
  setPrices({ 'm/known': { input: 3, output: 1 } });
  const usage = await ask(await pair(), 'everybody');
  expect(usage).toMatchObject({ turns: 2, costUsd: 3, costPartial: true });
  expect(usage?.members[0]).not.toHaveProperty('costUsd');
});

it('counts a cache that is reported beside the input as one inside it', async () => {
  await use('writer', 'anthropic', 'claude-sonnet-4-6');
  await use('default', 'vllm', 'm/inclusive');
  answers('claude-sonnet-4-6', used(1_000_000, 1_000, 700_000, 100_000));
  answers('m/inclusive', used(1_000_000, 1_000, 700_000));
  const price = { input: 3, output: 15, cacheRead: 0.3 };
  setPrices({ 'claude-sonnet-4-6': price, 'm/inclusive': price });
  const usage = await ask(await pair(), 'everybody');
  expect(usage?.members.map(({ costUsd }) => costUsd)).toEqual([1.125, 1.125]);
  expect(usage?.members[1]).toMatchObject({ inputTokens: 1_000_000, cacheWriteTokens: 100_000 });
  expect(usage).toMatchObject({ costUsd: 2.25, costPartial: false });
});

it('the catalogue that ships knows models of makers and of OpenRouter', async () => {
  await use('writer', 'anthropic', 'claude-sonnet-4-6');
  await use('default', 'openrouter', 'openai/gpt-4o-mini');
  for (const model of ['claude-sonnet-4-6', 'openai/gpt-4o-mini'])
    answers(model, used(1_000_000, 1_000_000));
  const usage = await ask(await pair(), 'everybody');
  for (const { costUsd } of usage?.members ?? []) expect(costUsd).toBeGreaterThan(0);
  expect(usage).toMatchObject({ turns: 2, costPartial: false });
});

it('G165: outlives a restart, and is in a list', async () => {
  await bothUse('m/kept');
  answers('m/kept', used(1_234, 56));
  const id = await pair();
  await ask(id, '@writer one');
  const client = await world.restart();
  const { rooms } = await client.call('profiles.rooms.list', { includeMessages: false });
  const usage = rooms.find((room) => room.id === id)?.usage;
  expect(usage).toMatchObject({ turns: 1, inputTokens: 1_234, outputTokens: 56 });
  expect(usage?.members[0]?.profile).toBe('writer');
});

it('G167: counts each member of one panel', async () => {
  await use('writer', 'vllm', 'm/writer');
  await use('default', 'vllm', 'm/default');
  answers('m/writer', used(900, 90));
  answers('m/default', used(100, 10));
  const usage = await ask(await pair(), 'everybody');
  expect(usage).toMatchObject({ turns: 2, inputTokens: 1_000, outputTokens: 100 });
  expect(usage?.members.map((row) => [row.profile, row.inputTokens])).toEqual([
    ['default', 100],
    ['writer', 900],
  ]);
});
