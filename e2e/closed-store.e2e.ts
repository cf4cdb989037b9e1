import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { commandsOf, methods } from '@flowly/contract';
import { makeGroup, sendTo, settled, until, wholeHistory } from '@flowly/testing';
import { Conversation, textOf } from './support/conversation';
import { groupDatabase } from './support/group-database';
import { ask } from './support/http';
import { useWorld } from './support/world';

/** A superuser may read everything, so its services are started without that right. */
const launcher =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];

/** A group database that cannot be opened (store.md §3); the tests build on one another. */
const world = useWorld({
  bots: ['writer'],
  launcher,
  limits: { storeLookMs: 100, heartbeatMs: 100, heartbeatGoneMs: 2_000 },
});

const file = () => groupDatabase(world.system.home);
const good = () => path.join(world.system.home, '..', 'good.sqlite3');
const orchestrator = () => world.system.service('group-orchestrator');
let groupId: string;

beforeAll(async () => {
  const { id } = await makeGroup(world.client, ['default', 'writer']);
  groupId = id;
  await sendTo(world.client, groupId, '@writer hello');
  await settled(world.client, groupId);
  await orchestrator().kill('SIGTERM');
  copyFileSync(file(), good());
}, 30_000);

/** Puts another file in its place, at once: one that is gone for a moment would be made anew. */
function replace(prepare: (copy: string) => unknown): void {
  const copy = `${good()}.copy`;
  copyFileSync(good(), copy);
  prepare(copy);
  renameSync(copy, file());
}

const spoilt = (pragma: string) => (copy: string) => {
  const database = new Database(copy);
  database.pragma(pragma);
  database.close();
};

function damage(copy: string): void {
  const bytes = readFileSync(copy);
  bytes.fill(0xff, bytes.length - 2 * 4096, bytes.length - 4096);
  writeFileSync(copy, bytes);
}

/** What lies at and beside the database, to the byte where it can be read. */
function everything(): string[] {
  const { home } = world.system;
  return readdirSync(home)
    .filter((name) => name.startsWith('profile-rooms') && !name.endsWith('.look'))
    .map((name) => {
      const { mode, size, mtimeMs } = statSync(path.join(home, name));
      const bytes = mode & 0o400 ? readFileSync(path.join(home, name)) : '';
      const hash = createHash('sha256').update(bytes).digest('hex');
      return [name, mode, size, mtimeMs, hash].join(' ');
    });
}

async function ready() {
  const { status, body } = await ask(`${world.system.url}/ready`);
  const said: unknown = JSON.parse(body);
  return { status, body: said };
}

async function untilReadySays(words: string): Promise<void> {
  const says = async () => JSON.stringify(await ready()).includes(words);
  await until(says, 10_000, () => `/ready does not say ${words}`);
}

async function expectClosed(): Promise<void> {
  for (const name of commandsOf('group-orchestrator').filter((each) => each !== 'groups.storage')) {
    const refusal = await world.client.refusal(methods[name].wire, { roomId: groupId });
    expect([name, refusal]).toMatchObject([name, { code: 'ROOM_STORE_INVALID', retryable: false }]);
  }
  expect(await world.client.call('profiles.rooms.storage', {})).toMatchObject({
    rooms: [],
    totalBytes: 0,
    noticeBytes: 524_288_000,
  });
}

it.each<[string, (copy: string) => unknown, string]>([
  ['a newer version', spoilt('user_version = 5'), 'another version'],
  ['a text in its place', (copy) => writeFileSync(copy, 'a text '.repeat(2_000)), 'cannot be read'],
  ['another application', spoilt('application_id = 7'), 'no group store'],
  ['a file that nobody may read', (copy) => chmodSync(copy, 0), 'cannot be read'],
  ['a damaged page', damage, 'damaged'],
])(
  'G182: %s: left byte for byte, and every group method but storage is refused',
  async (_what, prepare, words) => {
    replace(prepare);
    const before = everything();
    orchestrator().start();
    await untilReadySays(words);
    await expectClosed();
    expect(everything()).toEqual(before);
  },
  20_000,
);

it('everything but groups works meanwhile, and /ready says what is wrong', async () => {
  expect(await ready()).toEqual({
    status: 200,
    body: {
      status: 'degraded',
      checks: { redis: 'ok', 'group-orchestrator': 'ROOM_STORE_INVALID', 'bot-runner': 'ok' },
      wrong: ['group-orchestrator: The group store is damaged.'],
    },
  });
  expect((await ask(`${world.system.url}/health`)).status).toBe(200);
  await world.makeBot('reviewer');
  const { profiles } = await world.client.call('profiles.list');
  expect(profiles.map(({ name }) => name).sort()).toEqual(['default', 'reviewer', 'writer']);
  for (const bot of ['default', 'reviewer']) {
    const chat = new Conversation(world.client, `desktop:${bot}`, 'rpc', bot);
    const { runId } = await chat.send('Hello');
    expect(textOf(await chat.terminal(runId))).toBe(`Hello from ${bot}`);
  }
}, 20_000);

it('is opened by the same process when a person has mended it, and the groups go on', async () => {
  const { pid } = orchestrator();
  replace(() => undefined);
  await untilReadySays('"status":"ok"');
  expect(orchestrator().pid).toBe(pid);
  await sendTo(world.client, groupId, '@writer and again');
  await settled(world.client, groupId);
  const history = await wholeHistory(world.client, groupId);
  expect(history.map(({ content }) => content)).toEqual([
    '@writer hello',
    'Hello from writer',
    '@writer and again',
    'Hello from writer',
  ]);
}, 20_000);
