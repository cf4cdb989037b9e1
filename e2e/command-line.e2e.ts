import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { Gate, until } from '@flowly/testing';
import { Flowly } from './support/flowly';
import { useWorld } from './support/world';

/** The built command line against a gateway that asks for its token; the tests build on one another. */
const TOKEN = `token-${randomUUID()}`;
const KEY = `sk-canary-${randomUUID()}`;
const PASSWORD = 'correct horse battery';

const world = useWorld({
  bots: [],
  env: { FLOWLY_GATEWAY_TOKEN: TOKEN, FLOWLY_REQUIRE_LOOPBACK_AUTH: '1' },
  credential: { query: { token: TOKEN } },
});
const flowly = new Flowly(() => world.system);
const inHome = (...parts: string[]) => path.join(world.system.home, ...parts);

/** Exit code and error code of a command that is not to succeed. */
async function refusal(args: readonly string[], input?: string, env?: NodeJS.ProcessEnv) {
  const { code, err } = await flowly.run([...args, '--json'], input, env);
  return [code, JSON.parse(err.trim().split('\n').at(-1) ?? '').error.code];
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

beforeAll(() => writeFileSync(inHome('gateway-token'), `${TOKEN}\n`, { mode: 0o600 }));

afterAll(() => {
  flowly.endAll();
  expect(flowly.written).not.toContain(KEY);
  expect(flowly.written).not.toContain(TOKEN);
  expect(flowly.written).not.toContain(PASSWORD);
});

it('says by its exit code what was wrong: usage 2, no gateway 3, refused 1', async () => {
  const outcomes = await Promise.all([
    refusal(['profile', 'lst']),
    refusal(['chat']),
    refusal(['profile', 'list', '--url', 'http://127.0.0.1:1']),
    refusal(['profile', 'describe', 'nobody']),
    refusal(['profile', 'list'], '', { FLOWLY_HOME: '/nowhere' }),
    refusal(['profile', 'configure', 'ada', '--key-stdin', '--url', 'http://192.0.2.1'], KEY),
  ]);
  expect(outcomes).toEqual([
    [2, 'WRONG_USAGE'],
    [2, 'WRONG_USAGE'],
    [3, 'NO_GATEWAY'],
    [1, 'PROFILE_NOT_FOUND'],
    [1, 'UNAUTHORIZED'],
    [1, 'SECURE_TRANSPORT_REQUIRED'],
  ]);
  const [wrong, help] = await Promise.all([flowly.run(['profile', 'lst']), flowly.run(['--help'])]);
  expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringContaining('lst') });
  expect(help).toMatchObject({ code: 0, out: expect.stringContaining('Exit codes'), err: '' });
});

it('makes a bot, gives it a key that is piped in, and shows it', async () => {
  const { models } = world;
  const made = await flowly.json(['profile', 'create', 'ada', '--empty', '--display-name', 'Ada']);
  expect(made).toMatchObject({
    ok: true,
    profile: { name: 'ada' },
    readiness: { runnable: false },
  });
  const args = ['profile', 'configure', 'ada', '--provider', 'vllm', '--model', 'ada'];
  const base = ['--api-base', models.apiBase];
  const asArgument = await flowly.run([...args, ...base, '--key', 'sk-typed']);
  expect(asArgument.code).toBe(2);
  const changed = await flowly.json([...args, ...base, '--key-stdin'], `${KEY}\n`);
  expect(changed).toMatchObject({ settings: { provider: 'vllm', model: 'ada' } });

  const [{ profiles }, table, described] = await Promise.all([
    flowly.json(['profile', 'list']),
    flowly.run(['profile', 'list']),
    flowly.json(['profile', 'describe', 'ada']),
  ]);
  expect(profiles).toMatchObject([{ name: 'default' }, { name: 'ada' }]);
  expect(table.out).toMatch(/^NAME .*\ndefault .*\nada +Ada +vllm +ada +connected\n$/);
  expect(described).toMatchObject({ profile: { name: 'ada' }, status: { activeRuns: 0 } });
});

it('streams an answer as it comes, with the key that was given', async () => {
  const gate = new Gate();
  world.models.script('ada', [{ text: ['The first ', gate.opened, 'and the second.'] }]);
  const running = flowly.start(['chat', 'ada', 'Hello']);
  await running.says('The first ');
  gate.open();
  expect(await running.ended).toEqual({ code: 0, out: 'The first and the second.\n', err: '' });
  expect(world.models.callsOf('ada').at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);

  world.models.script('ada', ['Piped']);
  const piped = await flowly.run(['chat', 'ada', '--session', 'notes', '--json'], 'From a pipe');
  const lines = jsonLines(piped.out);
  expect(lines[0]).toMatchObject({ type: 'accepted', data: { status: 'accepted' } });
  expect(lines.at(-1)).toMatchObject({
    type: 'chat',
    data: { state: 'final', sessionKey: 'desktop:notes' },
  });
});

it('Ctrl-C aborts the run, and what a bot cannot do is told with its code', async () => {
  const gate = new Gate();
  world.models.script('ada', [{ text: ['Once upon ', gate.opened, 'a time'] }]);
  const running = flowly.start(['chat', 'ada', 'Tell me']);
  await running.says('Once upon ');
  running.child.kill('SIGINT');
  const stopped = await running.ended;
  expect(stopped).toMatchObject({
    code: 1,
    out: 'Once upon \n',
    err: expect.stringContaining('stopped'),
  });
  gate.open();

  world.models.script('ada', [{ fault: { kind: 'status', status: 401 } }]);
  expect(await refusal(['chat', 'ada', 'Hello'])).toEqual([1, 'MODEL_PROVIDER_UNAVAILABLE']);
  const foreign = await refusal(['chat', 'ada', 'x', '--session', 'cli:x']);
  expect(foreign).toEqual([1, 'REMOTE_SESSION_DENIED']);
});

it('at a terminal asks for a key without showing it, talks, and hands on what a bot asks', async () => {
  const asking = flowly.atTerminal(['profile', 'configure', 'ada', '--key']);
  await asking.says('Key of vllm');
  asking.child.stdin.write(`${KEY}\r`);
  expect((await asking.ended).code).toBe(0);

  const question = { question: 'Which colour?', choices: null };
  world.models.script('ada', [
    { toolCalls: [{ name: 'clarify', arguments: question }] },
    'So it is teal.',
  ]);
  const talking = flowly.atTerminal(['chat', 'ada', '--session', 'colours']);
  await talking.says('You:');
  talking.child.stdin.write('Paint it\r');
  await talking.says('Which colour?');
  talking.child.stdin.write('teal\r');
  await talking.says('So it is teal.');
  await talking.says('You:', talking.out.indexOf('So it is teal.'));
  talking.child.stdin.write('\r');
  expect((await talking.ended).code).toBe(0);
  expect(world.models.callsOf('ada').at(-1)?.messages.at(-1)?.content).toContain('teal');
});

it('makes a group, streams what its members say, shows and deletes it', async () => {
  const { room } = await flowly.json(['group', 'create', 'Two minds', 'default', 'ada']);
  expect(room).toMatchObject({ title: 'Two minds', members: ['default', 'ada'] });
  const gate = new Gate();
  world.models.script('ada', [{ text: ['One line.\n', gate.opened, 'Another.'] }]);
  world.models.script('default', ['Mine.']);
  const running = flowly.start(['group', 'send', 'Two minds', 'What do you think?']);
  await running.says('ada     │ One line.\n');
  gate.open();
  const { code, out } = await running.ended;
  expect(code).toBe(0);
  expect(out.trim().split('\n').sort()).toEqual([
    'ada     │ Another.',
    'ada     │ One line.',
    'default │ Mine.',
  ]);

  const again = await flowly.run(['group', 'send', 'Two minds', '--json'], 'Again');
  expect(jsonLines(again.out).map(({ type }) => type)).toContain('run-state');
  const [history, list, shown] = await Promise.all([
    flowly.run(['group', 'history', 'Two minds', '--limit', '3']),
    flowly.run(['group', 'list']),
    flowly.run(['group', 'show', 'Two minds']),
  ]);
  expect(history.out).toMatch(/^You: Again\n(\w+: [^:]+){2}$/);
  expect(list.out).toContain('Two minds');
  expect(shown.out).toContain('default, ada');
  world.models.script('ada', [{ fault: { kind: 'status', status: 401 } }]);
  const failed = await refusal(['group', 'send', 'Two minds', '@ada alone']);
  expect(failed).toEqual([1, 'ROOM_MEMBER_FAILED']);
  expect(await refusal(['group', 'delete', 'Two minds'])).toEqual([2, 'WRONG_USAGE']);
  expect(await flowly.json(['group', 'delete', 'Two minds', '--yes'])).toMatchObject({ ok: true });
  expect(await refusal(['group', 'show', 'Two minds'])).toEqual([1, 'ROOM_NOT_FOUND']);
});

it('exports and imports while Flowly is stopped, and only then; a restored bot goes on where it was', async () => {
  const template = inHome('ada.flowly-profile.tar.gz');
  const backup = inHome('ada.flowly-backup');
  const asBackup = ['profile', 'export', 'ada', '--backup', '--to', backup, '--password-stdin'];
  expect(await refusal(asBackup, PASSWORD)).toEqual([1, 'HOST_RUNNING']);
  const before = await world.client.rpc('ada', 'chat.history', { sessionKey: 'desktop:cli' });
  const { profiles } = await world.client.call('profiles.list');
  const ada = profiles.find(({ name }) => name === 'ada');
  await Promise.all(world.system.instances.map((instance) => instance.kill('SIGTERM')));

  expect(await flowly.json(['profile', 'export', 'ada', '--to', template])).toMatchObject({
    kind: 'template',
  });
  expect(await flowly.json(asBackup, PASSWORD)).toMatchObject({
    kind: 'backup',
    botId: ada?.botId,
  });
  expect(await refusal(asBackup, PASSWORD)).toEqual([1, 'FILE_EXISTS']);
  const made = await flowly.json(['profile', 'import', template, '--name', 'twin']);
  expect(made).toMatchObject({ profile: { name: 'twin', displayName: 'Ada', provider: 'vllm' } });
  expect(readFileSync(inHome('profiles/twin/config.json'), 'utf8')).not.toContain(KEY);

  renameSync(inHome('profiles/ada'), inHome('gone'));
  const restore = ['profile', 'import', backup, '--restore', '--password-stdin'];
  expect(await refusal(restore, 'not the password')).toEqual([1, 'INVALID']);
  expect(readdirSync(inHome('profiles'))).toEqual(['twin']);
  expect(await flowly.json(restore, PASSWORD)).toMatchObject({
    restored: true,
    profile: { botId: ada?.botId },
  });
  await pretendMoreWasTold(`bot:${ada?.botId}`);

  for (const instance of world.system.instances) instance.start();
  await world.system.ready();
  await world.reconnect();
  const after = await world.client.rpc('ada', 'chat.history', { sessionKey: 'desktop:cli' });
  expect(after.messages).toEqual(before.messages);
  world.models.script('ada', ['Here I am again.']);
  expect(await flowly.run(['chat', 'ada', 'Are you there?'])).toMatchObject({
    code: 0,
    out: 'Here I am again.\n',
  });
});

it('stops a bot until it is connected again', async () => {
  expect(await flowly.json(['profile', 'stop', 'ada'])).toMatchObject({
    status: { state: 'stopped' },
  });
  expect(await refusal(['chat', 'ada', 'Hello'])).toEqual([1, 'PROFILE_STOPPED']);
  expect((await flowly.run(['profile', 'connect', 'ada'])).out).toBe('ada is connected.\n');
  expect((await flowly.run(['chat', 'ada', 'Hello'])).code).toBe(0);
});

it('deletes a bot when its name was typed, or without asking', async () => {
  expect(await refusal(['profile', 'delete', 'twin'])).toEqual([2, 'WRONG_USAGE']);
  const asking = flowly.atTerminal(['profile', 'delete', 'twin']);
  await asking.says('Type its name');
  asking.child.stdin.write('twins\r');
  expect((await asking.ended).out).toContain('nothing was changed');
  const done = await flowly.json(['profile', 'delete', 'twin', '--yes']);
  expect(done).toMatchObject({ deleted: 'twin' });
  expect(await refusal(['profile', 'delete', 'twin', '--yes'])).toEqual([1, 'PROFILE_NOT_FOUND']);
});

it('an import that is killed leaves no bot, and the next one clears up after it', async () => {
  const home = inHome('elsewhere');
  const env = { FLOWLY_HOME: home, REDIS_URL: '' };
  mkdirSync(home);
  const folder = inHome('elsewhere/profiles/big/workspace');
  const file = inHome('big.flowly-profile.tar.gz');
  mkdirSync(folder, { recursive: true });
  const botId = randomUUID();
  writeFileSync(path.join(folder, '../profile.json'), JSON.stringify({ botId }));
  for (let count = 0; count < FILES; count++) {
    writeFileSync(path.join(folder, `${count}`), createHash('sha256').update(`${count}`).digest());
  }
  expect((await flowly.run(['profile', 'export', 'big', '--to', file], '', env)).code).toBe(0);
  rmSync(inHome('elsewhere/profiles/big'), { recursive: true });

  const dying = flowly.start(['profile', 'import', file], env);
  await until(
    () =>
      readdirSync(inHome('elsewhere/profiles')).some((name) =>
        existsSync(inHome('elsewhere/profiles', name, 'workspace/0')),
      ),
    10_000,
    () => 'nothing is unpacked',
  );
  dying.child.kill('SIGKILL');
  await dying.ended;
  const left = readdirSync(inHome('elsewhere/profiles'));
  expect(left).toEqual([expect.stringMatching(/^\.new-/)]);
  expect((await flowly.run(['profile', 'import', file], '', env)).code).toBe(0);
  expect(readdirSync(inHome('elsewhere/profiles'))).toEqual(['big']);
  expect(readdirSync(inHome('elsewhere/profiles/big/workspace'))).toHaveLength(FILES);
});

/** Enough that an import is not over at once. */
const FILES = 1_000;

/** As if the bot had told much since its backup was made: its outbox is known up to a later row. */
async function pretendMoreWasTold(outbox: string): Promise<void> {
  const redis = new Redis(world.system.redis.url);
  const [relayed] = await redis.keys('*:relayed');
  expect(await redis.hexists(relayed ?? '', outbox)).toBe(1);
  await redis.hset(relayed ?? '', outbox, 1_000_000);
  redis.disconnect();
}
