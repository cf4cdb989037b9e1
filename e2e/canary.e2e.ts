import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { makeGroup, sendTo, settled } from '@flowly/testing';
import { Conversation } from './support/conversation';
import { everythingIn } from './support/redis-dump';
import { RedisMonitor } from './support/redis-monitor';
import { useWorld } from './support/world';

const KEY = `sk-canary-${randomUUID()}`;
const world = useWorld({
  bots: ['writer'],
  env: { LOG_LEVEL: 'trace' },
  limits: { modelRetries: 1, modelRetryDelayMs: 10, modelFirstByteMs: 500 },
});

it('a key is in config.json and nowhere else: no answer, event, log, Redis value or other file', async () => {
  const { models, system, client } = world;
  const watcher = await world.connect();
  await watcher.call('profiles.list');
  await watcher.call('profiles.rooms.list');
  const redis = new Redis(system.redis.url);
  const monitor = await RedisMonitor.start(system.redis);

  await client.call('profiles.configure', {
    name: 'writer',
    credential: { provider: 'vllm', apiBase: models.apiBase, apiKey: KEY },
  });
  await client.refusal('profiles.configure', {
    name: 'nobody',
    credential: { provider: 'vllm', apiKey: KEY },
  });
  await client.refusal('profiles.configure', {
    name: 'writer',
    credential: { provider: 'unknown', apiKey: KEY },
  });
  await client.call('profiles.list');
  await client.call('profiles.settings', { name: 'writer' });
  await client.rpc('writer', 'provider.list');
  await client.rpc('writer', 'provider.active');
  await client.call('profiles.create', { name: 'twin', cloneFrom: 'writer' });

  const quoting = JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } });
  models.script('writer', [
    'Fine',
    { fault: { kind: 'status', status: 401, body: quoting } },
    { text: 'a b', fault: { kind: 'error-event', message: `bad key ${KEY}`, after: 1 } },
    { fault: { kind: 'reset', after: 0 } },
  ]);
  const chat = new Conversation(client, 'ios:canary', 'rpc', 'writer');
  for (let count = 0; count < 3; count++) {
    const { runId } = await chat.send('Hello');
    await chat.terminal(runId);
  }
  const { id } = await makeGroup(client, ['default', 'writer']);
  await sendTo(client, id, 'Hello');
  await settled(client, id);
  const dump = await everythingIn(redis);
  monitor.stop();
  redis.disconnect();

  expect(
    models.callsOf('writer').every(({ headers }) => headers.authorization?.includes(KEY)),
  ).toBe(true);
  expect(monitor.commands.length).toBeGreaterThan(20);
  expect(monitor.commands.filter((command) => command.includes(KEY))).toEqual([]);
  expect(dump.filter((value) => value.includes(KEY))).toEqual([]);
  for (const { frames } of [client, watcher]) expect(JSON.stringify(frames)).not.toContain(KEY);
  expect(system.stdout).not.toContain(KEY);
  const holders = filesOf(system.home).filter((file) => readFileSync(file).includes(KEY));
  expect(holders.map((file) => path.relative(system.home, file)).sort()).toEqual([
    'profiles/twin/config.json',
    'profiles/writer/config.json',
  ]);
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
