import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  chatHistory,
  findRequest,
  findRun,
  readExecAllowlist,
  saveExecPolicy,
  type Run,
} from '@flowly/store';
import { until as untilThere } from '@flowly/testing';
import type { ExecPolicy, RequestResolve } from '@flowly/contract';
import { acceptStep } from './accept-turn';
import {
  accept,
  AgentWorld,
  claimed,
  send,
  SESSION,
  stateOf,
  stepGiven,
  told,
  until,
} from './agent.harness';
import type { Bot } from './bot';
import {
  answerQuestion,
  decideApproval,
  listApprovals,
  listQuestions,
  resolveForGroup,
} from './requests';
import { interruptTurn, resetForTakeover } from './takeover';

let world: AgentWorld;
let bot: Bot;
beforeEach(async () => {
  world = await AgentWorld.start({ aliveMs: 400, renewMs: 50, requestLookMs: 50 });
  bot = await world.bot();
});
afterEach(() => world.stop());

const ask = (question: string, choices?: string[]) => ({
  text: 'Let me ask. ',
  toolCalls: [{ id: 'c1', name: 'clarify', arguments: { question, ...(choices && { choices }) } }],
});
const exec = (command: string) => ({
  toolCalls: [{ id: 'c1', name: 'exec', arguments: { command } }],
});
const policy = (wanted: ExecPolicy) =>
  bot.database.write(() => saveExecPolicy(bot.database, wanted));

async function begin(runId: string) {
  const turns = world.turns();
  const { claimed: run } = await accept(bot, send(runId), turns.claim());
  if (!run) throw new Error('not claimed');
  return { turns, run, done: world.drive(turns, bot, run) };
}

async function openApproval() {
  const now = () => listApprovals(bot, Date.now())[0];
  return untilThere(now, 10_000, 'no approval is asked for');
}
async function openQuestion() {
  const now = () => listQuestions(bot, Date.now())[0];
  return untilThere(now, 10_000, 'no question is asked');
}

const toolResults = () => world.models.calls.at(-1)?.messages.filter(({ role }) => role === 'tool');
const ends = () => told(bot).filter(({ state }) => state === 'final' || state === 'error');
const closings = () => told(bot).flatMap(({ reason }) => reason ?? []);

describe('a question', () => {
  it('waits for its answer without a slot, and the bot goes on with it', async () => {
    world.script(ask('Tea or coffee?', ['Tea', 'Coffee']), 'Coffee it is.');
    const { turns, done } = await begin('r1');
    const question = await openQuestion();
    expect(question).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      question: 'Tea or coffee?',
      choices: ['Tea', 'Coffee'],
      sessionKey: SESSION,
      riskReasons: [],
    });
    expect(question.expiresAt - question.createdAt).toBe(300);
    await until(() => world.lent === 1);
    const answered = await bot.database.write(() =>
      answerQuestion(bot, question.id, 'Coffee', Date.now()),
    );
    expect(answered?.runId).toBe('r1');
    turns.notice(bot.botId, 'r1');
    await done;
    expect(world.lent).toBe(0);
    expect(toolResults()).toMatchObject([{ content: 'Coffee' }]);
    expect(ends()).toMatchObject([
      { state: 'final', message: { content: [{ text: 'Coffee it is.' }] } },
    ]);
    expect(told(bot)).toMatchObject([
      { id: question.id, question: 'Tea or coffee?' },
      { needsInput: { sessionKey: SESSION, kind: 'question', count: 1 } },
      { id: question.id, reason: 'answered', sessionKey: SESSION },
      { needsInput: null },
      { state: 'final' },
    ]);
  });

  it('is a step of the history, and its tokens are counted', async () => {
    world.script(ask('Tea?'), 'Good.');
    const { done } = await begin('r1');
    const { id } = await openQuestion();
    await bot.database.write(() => answerQuestion(bot, id, 'Yes', Date.now()));
    await done;
    const { messages } = chatHistory(bot.database, { sessionKey: SESSION });
    expect(messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ text: 'Let me ask. ' }],
        tool_calls: [{ id: 'c1', function: { name: 'clarify', arguments: '{"question":"Tea?"}' } }],
      },
      { role: 'tool', content: [{ text: 'Yes' }], tool_call_id: 'c1', name: 'clarify' },
      { role: 'assistant', content: [{ text: 'Good.' }], usage: { prompt_tokens: 20 } },
    ]);
    expect(findRun(bot.database, 'r1')?.sideEffects).toBe(false);
  });

  it('that nobody answers expires, and the bot goes on by itself', async () => {
    await world.stop();
    world = await AgentWorld.start({ clarifyMs: 200, requestLookMs: 50 });
    bot = await world.bot();
    world.script(ask('Tea?'), 'I took tea.');
    const { done } = await begin('r1');
    const { id } = await openQuestion();
    await done;
    expect(closings()).toEqual(['timeout']);
    expect(toolResults()).toMatchObject([
      { content: expect.stringContaining('Nobody has answered') },
    ]);
    expect(ends()).toMatchObject([{ state: 'final' }]);
    expect(await bot.database.write(() => answerQuestion(bot, id, 'late', Date.now()))).toBeNull();
  });

  it('is cancelled when its turn is stopped, which ends with the text so far', async () => {
    world.script(ask('Tea?'), 'never');
    const { turns, done } = await begin('r1');
    await openQuestion();
    turns.wake(bot.botId, 'r1');
    await done;
    expect(closings()).toEqual(['cancelled']);
    expect(ends()).toMatchObject([{ state: 'final', aborted: true }]);
    expect(world.models.calls).toHaveLength(1);
    const { messages } = chatHistory(bot.database, { sessionKey: SESSION });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });
});

describe('a command', () => {
  it('that is asked for runs when it is allowed, in the workspace', async () => {
    await policy({ security: 'full', ask: 'always' });
    world.script(exec('pwd && touch made'), 'Done.');
    const { run, done } = await begin('r1');
    const approval = await openApproval();
    expect(approval).toMatchObject({
      command: 'pwd && touch made',
      kind: 'exec',
      supportsAlways: false,
      cwd: join(world.folder, 'workspace'),
    });
    expect(approval.expiresAt - approval.createdAt).toBe(120);
    expect(existsSync(join(world.folder, 'workspace', 'made'))).toBe(false);
    expect(findRun(bot.database, run.runId)?.sideEffects).toBe(false);
    await bot.database.write(() => decideApproval(bot, approval.id, 'allow-once', Date.now()));
    await done;
    expect(existsSync(join(world.folder, 'workspace', 'made'))).toBe(true);
    expect(toolResults()?.[0]?.content).toContain('workspace\n[exit code 0]');
    expect(findRun(bot.database, run.runId)?.sideEffects).toBe(true);
    expect(closings()).toEqual(['allow-once']);
  });

  it('that is denied does not run, and the model is told', async () => {
    await policy({ security: 'full', ask: 'always' });
    world.script(exec('touch made'), 'A pity.');
    const { run, done } = await begin('r1');
    const { id } = await openApproval();
    await bot.database.write(() => decideApproval(bot, id, 'deny', Date.now()));
    await done;
    expect(existsSync(join(world.folder, 'workspace', 'made'))).toBe(false);
    expect(toolResults()).toMatchObject([{ content: expect.stringContaining('did not allow') }]);
    expect(findRun(bot.database, run.runId)?.sideEffects).toBe(false);
  });

  it('that is allowed for good is not asked for again', async () => {
    world.script(exec('ls -a'), 'First.');
    const first = await begin('r1');
    const { id, resolvedPath, supportsAlways } = await openApproval();
    expect(supportsAlways).toBe(true);
    await bot.database.write(() => decideApproval(bot, id, 'allow-always', Date.now()));
    await first.done;
    expect(readExecAllowlist(bot.database)).toMatchObject([
      { pattern: resolvedPath, command: 'ls -a' },
    ]);
    world.script(exec('ls'), 'Second.');
    await (
      await begin('r2')
    ).done;
    expect(ends()).toHaveLength(2);
    expect(closings()).toEqual(['allow-always']);
  });

  it('that may not run is refused without asking', async () => {
    await policy({ security: 'deny', ask: 'always' });
    world.script(exec('ls'), 'Well.');
    await (
      await begin('r1')
    ).done;
    expect(toolResults()).toMatchObject([{ content: expect.stringContaining('turned off') }]);
    await policy({ security: 'full', ask: 'off' });
    world.script(exec('cat ../config.json'), 'Well.');
    await (
      await begin('r2')
    ).done;
    expect(toolResults()?.at(-1)?.content).toContain('no tool may touch');
    expect(closings()).toEqual([]);
  });

  it('at work ends when its turn is stopped', async () => {
    await policy({ security: 'full', ask: 'off' });
    world.script(exec('echo $$ > pid; sleep 60'), 'never');
    const { turns, done } = await begin('r1');
    const file = join(world.folder, 'workspace', 'pid');
    await until(() => existsSync(file) && readFileSync(file, 'utf8').trim() !== '');
    turns.wake(bot.botId, 'r1');
    await done;
    const pid = Number(readFileSync(file, 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(ends()).toMatchObject([{ aborted: true }]);
  });
});

describe('the loop', () => {
  it('offers no tool that was taken away, and refuses its call', async () => {
    world.script(exec('ls'), 'Without.');
    const turns = world.turns();
    const wanted = send('r1', { disabledTools: ['exec'] });
    const { claimed: run } = await accept(bot, wanted, turns.claim());
    if (run) await world.drive(turns, bot, run);
    expect(world.models.calls[0]?.tools).toEqual(['clarify']);
    expect(toolResults()).toMatchObject([{ content: 'There is no tool exec.' }]);
  });

  it('tells the model what is wrong with its arguments', async () => {
    const endless = JSON.stringify({ command: `echo ${'ü'.repeat(50_000)}` });
    const calls = ['{"command":', '{}', '[]', endless].map((given) => ({
      name: 'exec',
      arguments: given,
    }));
    world.script({ toolCalls: calls }, 'Sorry.');
    await (
      await begin('r1')
    ).done;
    const results = toolResults() ?? [];
    expect(results).toHaveLength(4);
    for (const { content } of results) expect(content).toMatch(/^The arguments are not valid/);
  });

  it('is bounded', async () => {
    await world.stop();
    world = await AgentWorld.start({ toolIterations: 3 });
    bot = await world.bot();
    world.script({ toolCalls: [{ id: 'same', name: 'nothing', arguments: {} }] });
    await (
      await begin('r1')
    ).done;
    expect(world.models.calls).toHaveLength(3);
    expect(ends()).toMatchObject([{ state: 'error', errorCode: 'MODEL_PROVIDER_UNAVAILABLE' }]);
    const { messages } = chatHistory(bot.database, { sessionKey: SESSION });
    const ids = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    expect(new Set(ids).size).toBe(2);
  });

  it('gives each call an id of its own in the whole conversation, however the server counts', async () => {
    const first = { toolCalls: [{ id: 'c1', name: 'nothing', arguments: {} }] };
    world.script(first, 'One.', first, 'Two.');
    for (const runId of ['r1', 'r2']) {
      const { done } = await begin(runId);
      await done;
    }
    const { messages } = chatHistory(bot.database, { sessionKey: SESSION });
    const ids = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    expect(ids).toEqual(['c1', 'c1-2']);
  });

  it('ends a run whose claim was lost while it waited without a word', async () => {
    world.script(ask('Tea?'), 'never');
    const { turns, done } = await begin('r1');
    await openQuestion();
    bot.database.run(`UPDATE runs SET owner = 'other', epoch = epoch + 1 WHERE run_id = 'r1'`);
    await turns.renew();
    await done;
    expect(closings()).toEqual([]);
    expect(ends()).toEqual([]);
    expect(listQuestions(bot, Date.now())).toHaveLength(1);
  });
});

describe('when the runner dies', () => {
  async function takenUp(): Promise<{ run: Run; turns: ReturnType<AgentWorld['turns']> }> {
    await until(() => (findRun(bot.database, 'r1')?.aliveUntil ?? Infinity) < Date.now());
    const turns = world.turns('alive');
    return { run: await claimed(bot, 'r1', turns), turns };
  }

  it('while its turn waits, the request is cancelled and the turn starts again', async () => {
    world.script(ask('Tea?'), ask('Tea, again?'), 'Tea.');
    await begin('r1');
    const first = await openQuestion();
    const { run, turns } = await takenUp();
    await resetForTakeover(bot, run, world.bus.live);
    expect(findRequest(bot.database, first.id)).toMatchObject({ reason: 'cancelled' });
    const done = world.drive(turns, bot, run);
    const second = await openQuestion();
    expect(second.question).toBe('Tea, again?');
    await bot.database.write(() => answerQuestion(bot, second.id, 'Yes', Date.now()));
    await done;
    expect(closings()).toEqual(['cancelled', 'answered']);
    expect(ends()).toMatchObject([{ message: { content: [{ text: 'Tea.' }] } }]);
    const { messages } = chatHistory(bot.database, { sessionKey: SESSION });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(told(bot)).toContainEqual(expect.objectContaining({ toolCallId: 'c1', success: false }));
  });

  it('after a side effect the turn ends as interrupted, and its tool has ended', async () => {
    await policy({ security: 'full', ask: 'off' });
    world.script(exec('echo $$ > pid; sleep 60'), 'never');
    const { turns: dead } = await begin('r1');
    await until(() => findRun(bot.database, 'r1')?.sideEffects === true);
    const { run } = await takenUp();
    expect(run.sideEffects).toBe(true);
    await interruptTurn(bot, run);
    expect(ends()).toMatchObject([{ state: 'error', errorCode: 'RUN_INTERRUPTED' }]);
    expect(told(bot)).toContainEqual(expect.objectContaining({ toolCallId: 'c1', success: false }));
    dead.wake(bot.botId, 'r1');
    await dead.settled(5_000);
    expect(ends()).toHaveLength(1);
  });
});

describe('a step of a group', () => {
  const KEY = 'room-group-run-1-writer';
  const jobs = (type: string) => told(bot).filter((job) => job['type'] === type);
  const resolve = (changes: Partial<RequestResolve>): RequestResolve => ({
    type: 'resolve',
    stepKey: KEY,
    groupId: 'group-1',
    runId: 'group-run-1',
    bot: 'writer',
    sessionKey: 'desktop:profile-room:group-1',
    requestId: 'unknown',
    kind: 'approval',
    command: { id: 'command-1', gateway: 'g' },
    ...changes,
  });
  const take = (job: RequestResolve) =>
    bot.database.write(() => resolveForGroup(bot, job, Date.now()));

  async function beginStep() {
    await policy({ security: 'full', ask: 'always' });
    world.script({ text: 'Let me look. ', ...exec('echo hi') }, 'It says hi.');
    const turns = world.turns();
    const run = await acceptStep(bot, stepGiven(KEY), () => turns.claim());
    if (!run) throw new Error('not claimed');
    const done = world.drive(turns, bot, run);
    const approval = await openApproval();
    return { turns, done, approval };
  }

  it('tells its group of the request, takes the decision and shows what it did', async () => {
    const { done, approval } = await beginStep();
    expect(jobs('request-opened')).toMatchObject([
      {
        stepKey: KEY,
        groupId: 'group-1',
        bot: 'writer',
        requestId: approval.id,
        kind: 'approval',
        request: { id: approval.id, command: 'echo hi', expiresAt: approval.expiresAt },
      },
    ]);
    const call = {
      id: 'c1',
      name: 'exec',
      argumentsJson: '{"command":"echo hi"}',
      startedAt: expect.any(Number),
    };
    expect(await world.bus.live.readSteps([KEY])).toEqual([
      { text: '', calls: [{ ...call, state: 'running' }] },
    ]);
    const job = resolve({ requestId: approval.id, decision: 'allow-once' });
    expect(await take(job)).toBe(KEY);
    expect(await take(job)).toBe(KEY);
    expect(await take({ ...job, command: { id: 'command-2', gateway: 'g' } })).toBeNull();
    await done;
    expect(jobs('resolved').map(({ taken }) => taken)).toEqual([true, true, false]);
    expect(jobs('request-closed')).toMatchObject([
      { requestId: approval.id, kind: 'approval' },
      { requestId: approval.id, kind: 'approval' },
    ]);
    expect(jobs('ended')).toMatchObject([
      {
        text: 'It says hi.',
        toolCalls: [{ id: 'c1', name: 'exec', argumentsJson: '{"command":"echo hi"}' }],
        usage: { prompt_tokens: 20 },
      },
    ]);
    expect(await world.bus.live.readSteps([KEY])).toMatchObject([
      { text: 'It says hi.', calls: [{ id: 'c1', state: 'completed' }] },
    ]);
    expect(told(bot).flatMap(({ state }) => state ?? [])).toEqual(['final']);
  });

  it('answers a decision for what is unknown, of another kind or expired', async () => {
    const { turns, done, approval } = await beginStep();
    const answers = [
      resolve({ command: { id: 'a', gateway: 'g' }, decision: 'deny' }),
      resolve({
        command: { id: 'b', gateway: 'g' },
        requestId: approval.id,
        kind: 'clarify',
        answer: 'yes',
      }),
      resolve({
        command: { id: 'c', gateway: 'g' },
        requestId: approval.id,
        stepKey: 'another',
        decision: 'deny',
      }),
    ];
    for (const job of answers) expect(await take(job)).toBeNull();
    expect(jobs('resolved').map(({ taken }) => taken)).toEqual([false, false, false]);
    expect(jobs('request-closed')).toHaveLength(3);
    expect(listApprovals(bot, Date.now())).toHaveLength(1);
    turns.wake(bot.botId, KEY);
    await done;
    expect(stateOf(bot, KEY)).toBe('aborted');
    expect(jobs('request-closed').at(-1)).toMatchObject({ requestId: approval.id });
  });
});
