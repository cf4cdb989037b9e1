import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeGroup, sendTo, settled, until, type Answer } from '@flowly/testing';
import { Conversation, textOf, type Way } from './support/conversation';
import { QUICK_CLOCKS } from './support/quick-clocks';
import { Requests } from './support/requests';
import { useWorld, type World } from './support/world';

const ALWAYS = { security: 'full', ask: 'always' };
const NOT_FOUND = { code: 'NOT_FOUND', retryable: false };

const exec = (command: string): Answer => ({
  text: 'Let me see. ',
  toolCalls: [{ id: `call-${randomUUID()}`, name: 'exec', arguments: { command } }],
});
const ask = (question: string, choices?: string[]): Answer => ({
  toolCalls: [{ name: 'clarify', arguments: { question, ...(choices && { choices }) } }],
});

function conversing(world: World, way: Way = 'rpc', bot = 'writer') {
  const chat = new Conversation(world.client, `desktop:${randomUUID()}`, way, bot);
  const requests = new Requests(world.client, way, bot);
  const file = (name: string) => {
    const folder = bot === 'default' ? '' : path.join('profiles', bot);
    return path.join(world.system.home, folder, 'workspace', name);
  };
  return { chat, requests, file };
}

function pidIn(file: string): number | undefined {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) || undefined : undefined;
}

/** A process that nobody has waited for yet is gone all the same. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
}

/** The ends of tools in a session. */
function completions({ told }: Requests, sessionKey: string) {
  return told.filter(
    (event) => event.type === 'tool.complete' && event.data.sessionKey === sessionKey,
  );
}

describe('tools of a bot', () => {
  const world = useWorld({ bots: ['writer', 'reviewer'] });
  beforeAll(async () => {
    for (const bot of ['default', 'writer', 'reviewer'])
      await world.client.rpc(bot, 'exec.policy.set', ALWAYS);
  });

  describe.each<[Way, string]>([
    ['straight', 'default'],
    ['rpc', 'writer'],
  ])('%s to %s', (way, bot) => {
    it('a command is asked for, runs when it is allowed, and every step is told and kept', async () => {
      const { chat, requests, file } = conversing(world, way, bot);
      const name = `made-${randomUUID()}`;
      world.models.script(bot, [exec(`echo found && touch ${name}`), 'It is there.']);
      const { runId } = await chat.send('Look');
      const approval = await requests.approval(chat.sessionKey);
      expect(approval).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        command: `echo found && touch ${name}`,
        kind: 'exec',
        supportsAlways: false,
        cwd: path.dirname(file(name)),
        resolvedPath: expect.stringMatching(/\/echo$/),
      });
      expect(existsSync(file(name))).toBe(false);
      expect(await requests.decide(approval.id, 'allow-once')).toEqual({ ok: true });
      expect(textOf(await chat.terminal(runId))).toBe('It is there.');
      expect(existsSync(file(name))).toBe(true);
      await requests.closed(chat.sessionKey, ['allow-once']);
      // Where the decision shows among them is up to the one who decided.
      const steps = requests.told.filter(
        ({ type, data }) =>
          type !== 'agent' &&
          type !== 'exec.approval.closed' &&
          type !== 'needsInput' &&
          JSON.stringify(data).includes(chat.sessionKey),
      );
      expect(steps).toMatchObject([
        {
          type: 'chat',
          data: {
            state: 'iteration_step',
            role: 'assistant',
            content: 'Let me see. ',
            tool_calls: [{ function: { name: 'exec' } }],
          },
        },
        {
          type: 'chat',
          data: { state: 'tool_progress', call: { name: 'exec', state: 'running' } },
        },
        { type: 'tool.start', data: { name: 'exec', args: { command: approval.command } } },
        { type: 'exec.approval.requested', data: { id: approval.id } },
        {
          type: 'chat',
          data: {
            state: 'tool_progress',
            call: { state: 'completed', result: 'found\n[exit code 0]' },
          },
        },
        { type: 'tool.complete', data: { success: true, preview: 'found\n[exit code 0]' } },
        {
          type: 'chat',
          data: {
            state: 'iteration_step',
            role: 'tool',
            name: 'exec',
            content: 'found\n[exit code 0]',
          },
        },
        { type: 'chat', data: { state: 'final', message: { usage: { prompt_tokens: 20 } } } },
      ]);
      expect(chat.pieces(runId).join('')).toBe('Let me see. It is there.');
      expect(await chat.transcript()).toEqual([
        'user: Look',
        'assistant: Let me see. ',
        'tool: found\n[exit code 0]',
        'assistant: It is there.',
      ]);
    });

    it('a command that is denied does not run, and the bot goes on', async () => {
      const { chat, requests, file } = conversing(world, way, bot);
      world.models.script(bot, [exec('touch denied'), 'Then not.']);
      const { runId } = await chat.send('Do it');
      const { id } = await requests.approval(chat.sessionKey);
      await requests.decide(id, 'deny');
      expect(textOf(await chat.terminal(runId))).toBe('Then not.');
      expect(existsSync(file('denied'))).toBe(false);
      await requests.closed(chat.sessionKey, ['deny']);
      expect(world.models.callsOf(bot).at(-1)?.messages.at(-1)).toMatchObject({
        role: 'tool',
        content: expect.stringContaining('did not allow'),
      });
    });

    it('answered twice at once it has one winner', async () => {
      const { chat, requests } = conversing(world, way, bot);
      const other = requests.through(await world.connect());
      world.models.script(bot, [exec('echo once'), 'Once.']);
      const { runId } = await chat.send('Do it');
      const { id } = await requests.approval(chat.sessionKey);
      const answers = await Promise.allSettled([
        requests.decide(id, 'allow-once'),
        other.decide(id, 'deny'),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const lost = answers.find((answer) => answer.status === 'rejected');
      expect(lost).toMatchObject({ reason: NOT_FOUND });
      await chat.terminal(runId);
      const winner = answers[0]?.status === 'fulfilled' ? 'allow-once' : 'deny';
      await requests.closed(chat.sessionKey, [winner]);
      await expect(requests.decide(id, 'deny')).rejects.toMatchObject(NOT_FOUND);
    });

    it('a question is answered once, and the bot goes on with the first answer', async () => {
      const { chat, requests } = conversing(world, way, bot);
      world.models.script(bot, [ask('Tea or coffee?', ['Tea', 'Coffee']), 'Here it is.']);
      const { runId } = await chat.send('Serve me');
      const question = await requests.question(chat.sessionKey);
      expect(question).toMatchObject({ question: 'Tea or coffee?', choices: ['Tea', 'Coffee'] });
      expect(await requests.answer(question.id, 'Tea')).toEqual({ ok: true });
      await expect(requests.answer(question.id, 'Coffee')).rejects.toMatchObject(NOT_FOUND);
      expect(textOf(await chat.terminal(runId))).toBe('Here it is.');
      expect(world.models.callsOf(bot).at(-1)?.messages.at(-1)?.content).toBe('Tea');
      await requests.closed(chat.sessionKey, ['answered']);
    });

    it.each([
      ['an approval', exec('sleep 60'), 'approval'],
      ['a question', ask('Well?'), 'question'],
    ] as const)('an abort ends a turn that waits for %s', async (_, answer, kind) => {
      const { chat, requests } = conversing(world, way, bot);
      world.models.script(bot, [answer, 'never']);
      const { runId } = await chat.send('Wait');
      const { id } = await requests[kind](chat.sessionKey);
      expect(await chat.abort(runId)).toEqual({ ok: true, cancelled: true });
      expect(await chat.terminal(runId)).toMatchObject({ state: 'final', aborted: true });
      await requests.closed(chat.sessionKey, ['cancelled']);
      const late =
        kind === 'approval' ? requests.decide(id, 'allow-once') : requests.answer(id, 'x');
      await expect(late).rejects.toMatchObject(NOT_FOUND);
      world.models.script(bot, ['Next.']);
      const next = await chat.send('Go on');
      expect(textOf(await chat.terminal(next.runId))).toBe('Next.');
    });
  });

  it('bad answers are refused by their codes', async () => {
    const { requests } = conversing(world);
    const refused = { code: 'INVALID_REQUEST' };
    await expect(requests.decide('0123456789abcdef', 'maybe')).rejects.toMatchObject(refused);
    await expect(requests.call('agent.clarify.resolve', { id: 'x' })).rejects.toMatchObject(
      refused,
    );
    await expect(requests.decide('0123456789abcdef', 'deny')).rejects.toMatchObject(NOT_FOUND);
    await expect(requests.answer('0123456789abcdef', 'x')).rejects.toMatchObject(NOT_FOUND);
  });

  it('what a bot needs a person for is told, and is in its status and its sessions', async () => {
    const { chat, requests } = conversing(world);
    const { client } = world;
    const watcher = await world.connect();
    await watcher.call('profiles.list');
    world.models.script('writer', [ask('Tea or coffee?'), 'Thanks.']);
    const { runId } = await chat.send('Ask');
    const { id } = await requests.question(chat.sessionKey);
    const { statuses } = await client.call('profiles.statuses');
    const needsInput = statuses.find(({ profile }) => profile === 'writer')?.needsInput;
    const needed = { kind: 'question', since: expect.any(Number), count: 1 };
    expect(needsInput).toEqual({ sessionKey: chat.sessionKey, ...needed });
    const { sessions } = await client.rpc('writer', 'sessions.list');
    expect(sessions.find(({ key }) => key === chat.sessionKey)?.needsInput).toEqual(needed);
    await requests.answer(id, 'Tea');
    await chat.terminal(runId);
    const told = () =>
      watcher.events.flatMap(({ event, data }) =>
        event === 'profile.event' && data?.type === 'needsInput' ? [data.data.needsInput] : [],
      );
    await until(() => told().length === 2, 5_000, 'it is not told');
    expect(told()).toEqual([needsInput, null]);
  });

  it('the policy is taken by exact keys, straight also in part, and holds at once', async () => {
    const { chat, requests } = conversing(world, 'rpc', 'reviewer');
    const invalid = { code: 'INVALID_PARAMS' };
    for (const params of [
      { security: 'full' },
      { ...ALWAYS, more: 1 },
      { ...ALWAYS, ask: 'maybe' },
    ])
      await expect(requests.call('exec.policy.set', params)).rejects.toMatchObject(invalid);
    await expect(requests.call('exec.policy.get', { x: 1 })).rejects.toMatchObject(invalid);
    const free = { security: 'full', ask: 'off' };
    expect(await requests.call('exec.policy.set', free)).toEqual({ ...free, allowlist: [] });
    expect(await requests.call('exec.policy.get')).toEqual({ ...free, allowlist: [] });
    world.models.script('reviewer', [
      exec('cat ../../../config.json; echo $?'),
      exec('echo free'),
      'Free.',
    ]);
    const { runId } = await chat.send('Go');
    expect(textOf(await chat.terminal(runId))).toBe('Free.');
    const results = (await chat.transcript()).filter((line) => line.startsWith('tool:'));
    expect(results).toEqual([
      expect.stringContaining('no tool may touch'),
      'tool: free\n[exit code 0]',
    ]);
    await world.client.call('exec.policy.set', { ask: 'on-miss' });
    expect(await world.client.call('exec.policy.get')).toMatchObject({
      security: 'full',
      ask: 'on-miss',
    });
    await world.client.call('exec.policy.set', ALWAYS);
  });

  it('what is allowed for good is on the list and not asked for again', async () => {
    const { chat, requests } = conversing(world, 'rpc', 'reviewer');
    await requests.call('exec.policy.set', { security: 'allowlist', ask: 'on-miss' });
    world.models.script('reviewer', [exec('ls'), 'One.', exec('ls -a'), 'Two.']);
    const first = await chat.send('List');
    const { id, resolvedPath, supportsAlways } = await requests.approval(chat.sessionKey);
    expect(supportsAlways).toBe(true);
    await requests.decide(id, 'allow-always');
    await chat.terminal(first.runId);
    const second = await chat.send('Again');
    expect(textOf(await chat.terminal(second.runId))).toBe('Two.');
    const { allowlist } = await requests.call('exec.policy.get');
    expect(allowlist).toMatchObject([{ pattern: resolvedPath, command: 'ls' }]);
  });

  it('a stop ends a command at work with all it has started', async () => {
    const { chat, requests, file } = conversing(world);
    const name = `begun-${randomUUID()}`;
    world.models.script('writer', [exec(`sleep 60 & echo $! > ${name}; wait`)]);
    const { runId } = await chat.send('Run');
    const { id } = await requests.approval(chat.sessionKey);
    await requests.decide(id, 'allow-once');
    const pid = await until(() => pidIn(file(name)), 10_000, 'it has not begun');
    await chat.abort(runId);
    expect(await chat.terminal(runId)).toMatchObject({ aborted: true });
    await until(() => !isAlive(pid), 5_000, 'what it started is alive');
    expect(completions(requests, chat.sessionKey)).toMatchObject([{ data: { success: false } }]);
  });

  it('a group’s request is in the bot’s list alone, and is answered there', async () => {
    const { requests } = conversing(world);
    await world.client.call('profiles.rooms.list');
    const { id: groupId } = await makeGroup(world.client, ['default', 'writer']);
    const sessionKey = `desktop:profile-room:${groupId}`;
    world.models.script('writer', [exec('echo from the group'), 'Said.']);
    await sendTo(world.client, groupId, '@writer look');
    const approval = await requests.approval(sessionKey);
    await requests.decide(approval.id, 'allow-once');
    const room = await settled(world.client, groupId);
    expect(room.latestMessage).toMatchObject({ profile: 'writer', content: 'Said.' });
    expect(room.messages?.at(-1)?.toolCalls).toEqual([
      {
        id: expect.stringMatching(/^call-/),
        name: 'exec',
        argumentsJson: '{"command":"echo from the group"}',
      },
    ]);
    expect(JSON.stringify(requests.told)).not.toContain(groupId);
  });
});

describe('requests that nobody answers', () => {
  const world = useWorld({ bots: ['writer'], limits: { approvalMs: 700, clarifyMs: 700 } });
  beforeAll(() => world.client.rpc('writer', 'exec.policy.set', ALWAYS));

  it.each([
    ['an approval', exec('touch late'), 'Nobody has allowed'],
    ['a question', ask('Well?'), 'Nobody has answered'],
  ])('%s expires, and the bot goes on', async (_, answer, words) => {
    const { chat, requests, file } = conversing(world);
    world.models.script('writer', [answer, 'I went on.']);
    const { runId } = await chat.send('Wait');
    expect(textOf(await chat.terminal(runId))).toBe('I went on.');
    await requests.closed(chat.sessionKey, ['timeout']);
    expect(world.models.callsOf('writer').at(-1)?.messages.at(-1)?.content).toContain(words);
    expect(existsSync(file('late'))).toBe(false);
    expect((await requests.call('exec.approval.list')).approvals).toEqual([]);
  });
});

describe('when the runner is killed', () => {
  const world = useWorld({
    bots: ['writer'],
    limits: QUICK_CLOCKS,
  });
  beforeAll(() => world.client.rpc('writer', 'exec.policy.set', ALWAYS));

  it('while a turn waits, its request is cancelled and the turn starts again', async () => {
    const { chat, requests } = conversing(world);
    world.models.script('writer', [ask('First?'), ask('Second?'), 'Answered.']);
    const { runId } = await chat.send('Ask');
    const first = await requests.question(chat.sessionKey);
    expect(first.question).toBe('First?');
    await world.system.service('bot-runner').restart();
    await until(
      async () => (await requests.question(chat.sessionKey)).question === 'Second?',
      20_000,
      'the turn was not taken up',
    );
    const second = await requests.question(chat.sessionKey);
    await expect(requests.answer(first.id, 'late')).rejects.toMatchObject(NOT_FOUND);
    await requests.answer(second.id, 'Yes');
    expect(textOf(await chat.terminal(runId, 20_000))).toBe('Answered.');
    await requests.closed(chat.sessionKey, ['cancelled', 'answered']);
    expect(chat.terminals(runId)).toHaveLength(1);
    expect(await chat.transcript()).toEqual([
      'user: Ask',
      'assistant: ',
      'tool: Yes',
      'assistant: Answered.',
    ]);
  }, 40_000);

  it('while a command runs, the turn ends as interrupted and its tool has ended', async () => {
    const { chat, requests, file } = conversing(world);
    const name = `begun-${randomUUID()}`;
    world.models.script('writer', [exec(`echo $$ > ${name}; sleep 60`), 'never']);
    const { runId } = await chat.send('Run');
    await requests.decide((await requests.approval(chat.sessionKey)).id, 'allow-once');
    const pid = await until(() => pidIn(file(name)), 10_000, 'it has not begun');
    await world.system.service('bot-runner').restart();
    await until(() => !isAlive(pid), 10_000, 'the command has outlived its runner');
    expect(await chat.terminal(runId, 20_000)).toMatchObject({
      state: 'error',
      errorCode: 'RUN_INTERRUPTED',
      retryable: true,
    });
    expect(completions(requests, chat.sessionKey)).toMatchObject([{ data: { success: false } }]);
  }, 40_000);
});

describe('turns that wait', () => {
  const world = useWorld({ bots: ['writer'], env: { FLOWLY_RUNNER_CONCURRENCY: '2' } });

  it('never stop others, however many there are', async () => {
    await world.client.call('profiles.rooms.list');
    world.models.answer(({ messages }) =>
      messages.at(-1)?.content.includes('wait') ? ask('Well?') : 'At once.',
    );
    for (const model of ['default', 'writer']) world.models.script(model, []);
    const waiting = Array.from({ length: 5 }, () => conversing(world));
    for (const { chat, requests } of waiting) {
      await chat.send('wait for me');
      await requests.question(chat.sessionKey);
    }
    const { id } = await makeGroup(world.client, ['default', 'writer']);
    await sendTo(world.client, id, '@writer wait, too');
    const group = conversing(world);
    const inGroup = await group.requests.question(`desktop:profile-room:${id}`);
    const { chat } = conversing(world);
    const { runId } = await chat.send('quick');
    expect(textOf(await chat.terminal(runId))).toBe('At once.');
    await group.requests.answer(inGroup.id, 'Now');
    await settled(world.client, id);
    for (const each of waiting) {
      const { id: question } = await each.requests.question(each.chat.sessionKey);
      await each.requests.answer(question, 'Now');
      await each.requests.closed(each.chat.sessionKey, ['answered']);
    }
  }, 40_000);
});

describe('the demo model', () => {
  const world = useWorld();

  it('asks and runs when it is told to', async () => {
    const { chat, requests } = conversing(world, 'straight', 'default');
    const { runId } = await chat.send('Hello [ask Which one?] and then [run ls]');
    const question = await requests.question(chat.sessionKey);
    expect(question.question).toBe('Which one?');
    await requests.answer(question.id, 'The first');
    const approval = await requests.approval(chat.sessionKey);
    expect(approval.command).toBe('ls');
    await requests.decide(approval.id, 'allow-once');
    const text = textOf(await chat.terminal(runId));
    expect(text).toContain('A tool said: “The first”.');
    expect(text).toContain('SOUL.md');
  });
});
