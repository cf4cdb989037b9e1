import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import {
  connect,
  Gate,
  getGroup,
  isSettled,
  makeGroup,
  sendTo,
  settled,
  until,
  wholeHistory,
  type Client,
} from '@flowly/testing';
import { readGroupValue } from './support/group-database';
import { age, mediaFolder, mediaNames } from './support/media';
import { useWorld } from './support/world';

const world = useWorld({ bots: ['writer'] });
const members = ['default', 'writer'];
const silent = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };

const backupFile = () => path.join(world.system.home, 'backup.sqlite3');

/** Runs a script as a person would beside the services; its exit code and what it said. */
function script(name: 'backup' | 'restore', ...args: string[]) {
  const { home, redis } = world.system;
  const env = { ...process.env, FLOWLY_HOME: home, REDIS_URL: redis.url };
  return new Promise<{ code: number; said: string }>((resolve) => {
    const file = path.join(__dirname, '..', 'tools', `${name}.mjs`);
    const child = execFile(process.execPath, [file, ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });
}

const restore = () => script('restore', '--from', backupFile());

async function contents(groupId: string): Promise<string[]> {
  return (await wholeHistory(world.client, groupId)).map(({ content }) => content);
}

async function ask(groupId: string, content: string, extra = {}): Promise<void> {
  await sendTo(world.client, groupId, content, extra);
  await settled(world.client, groupId);
}

/** The gateway comes first, with a client that may know what is undone now. */
async function startAgain(): Promise<Client> {
  const [gateway, ...others] = world.system.instances;
  gateway?.start();
  const early = await until(
    () => connect(world.system).catch(() => undefined),
    10_000,
    () => 'the gateway does not listen',
  );
  for (const instance of others) instance.start();
  await world.system.ready();
  return early;
}

const backedUp = new Gate();
const slowAnswer = (model: string) => `${model} has thought`;
beforeAll(() =>
  world.models.answer(({ model, messages }) =>
    messages.at(-1)?.content.includes('slowly')
      ? { text: slowAnswer(model), gate: backedUp.opened }
      : `Hello from ${model}`,
  ),
);

let group: string;
let before: string[];
let midway: string;
let later: string;

it('a backup is made under load, into one file of its owner, and over no other', async () => {
  group = (await makeGroup(world.client, members)).id;
  const busy = (await makeGroup(world.client, members, silent)).id;
  const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'b2xk' };
  await ask(group, 'one', { attachments: [file] });
  before = await contents(group);
  expect(before).toHaveLength(3);

  midway = (await makeGroup(world.client, members)).id;
  await sendTo(world.client, midway, 'slowly');
  const load = { goesOn: true, sent: 0 };
  const sends = Array.from({ length: 4 }, async () => {
    for (; load.goesOn; load.sent++) await sendTo(world.client, busy, 'again');
  });
  await until(
    () => load.sent > 10,
    10_000,
    () => 'nothing is sent',
  );
  const sentBefore = load.sent;
  const made = await script('backup', '--to', backupFile());
  const sentAfter = load.sent;
  load.goesOn = false;
  await Promise.all(sends);
  expect(isSettled(await getGroup(world.client, midway))).toBe(false);
  expect(made).toEqual({ code: 0, said: expect.stringContaining(backupFile()) });
  expect(statSync(backupFile()).mode & 0o777).toBe(0o600);
  const copy = new Database(backupFile(), { readonly: true });
  expect(copy.pragma('quick_check', { simple: true })).toBe('ok');
  const count = copy.prepare('SELECT count(*) FROM room_messages WHERE room_id = ?').pluck();
  expect(count.get(busy)).toBeGreaterThanOrEqual(sentBefore);
  expect(count.get(busy)).toBeLessThanOrEqual(sentAfter + 4);
  copy.close();

  const again = await script('backup', '--to', backupFile());
  expect(again).toEqual({ code: 1, said: expect.stringContaining('exists already') });
});

it('a restore is refused while the services run, and nothing is changed', async () => {
  const file = { fileName: 'b.txt', mimeType: 'text/plain', content: 'bmV3' };
  await ask(group, 'two', { attachments: [file] });
  backedUp.open();
  await settled(world.client, midway);
  later = (await makeGroup(world.client, members)).id;
  const now = await contents(group);
  expect(now).toHaveLength(6);
  expect(await restore()).toEqual({ code: 1, said: expect.stringContaining('Flowly runs on') });
  expect(await contents(group)).toEqual(now);
});

it('after a restore the groups are as they were, and what is said from then on is told and answered', async () => {
  const { home } = world.system;
  for (const instance of world.system.instances) await instance.kill('SIGTERM');
  for (const name of mediaNames(home)) age(home, name, 48);
  const files = mediaNames(home);
  expect(files).toHaveLength(2);
  expect(await restore()).toEqual({ code: 0, said: expect.stringContaining('are kept in') });
  const kept = readdirSync(home).filter((name) => /sqlite3\.before-/.test(name));
  expect(kept).toHaveLength(1);

  const early = await startAgain();
  let closed: number | undefined;
  void early.closed.then(({ code }) => (closed = code));
  await until(
    () => closed,
    5_000,
    () => 'who knew the groups before is not told',
  );
  expect(closed).toBe(1012);
  await world.reconnect();
  expect(await contents(group)).toEqual(before);
  expect(await world.client.refusal('profiles.rooms.get', { roomId: later })).toMatchObject({
    code: 'ROOM_NOT_FOUND',
  });

  const { mark } = world.client;
  await ask(group, 'three');
  const isOver = ({ type, room }: { type: string; room?: { runState?: unknown } | undefined }) =>
    type === 'run-state' && room !== undefined;
  await world.client.waitForGroup(group, isOver, { since: mark });
  expect((await contents(group)).slice(3)).toEqual([
    'three',
    expect.stringMatching(/^Hello from/),
    expect.stringMatching(/^Hello from/),
  ]);
  const appended = world.client
    .groupEvents(group, mark)
    .flatMap((event) => event.appended ?? [])
    .map(({ seq }) => seq);
  // The first event that a socket sees of a group may lack what was added.
  expect(appended.slice(-2)).toEqual([4, 5]);
  // Its run was going when the backup was made; what the bots had come to since then is taken over.
  await settled(world.client, midway);
  expect((await contents(midway)).sort()).toEqual([...members.map(slowAnswer), 'slowly'].sort());
  const waiting = () => readGroupValue(home, 'SELECT count(*) FROM ext_outbox');
  await until(
    () => waiting() === 0,
    10_000,
    () => `rows in the outbox: ${waiting()}`,
  );
  // Both files: one is in the groups that are back, one in those that are kept.
  for (const name of files) expect(existsSync(path.join(mediaFolder(home), name))).toBe(true);
  expect((await getGroup(world.client, group)).messageCount).toBe(6);
});
