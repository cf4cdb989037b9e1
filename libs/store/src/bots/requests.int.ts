import type { Database } from '../core/database';
import { requestAbort } from './abort-run';
import { accept, BotFixture, claim } from './bot-fixture';
import { chatHistory } from './history';
import { contextMessages } from './message';
import {
  decideRequest,
  findRequest,
  forgetRequests,
  giveUpRequest,
  openRequest,
  openRequestOf,
  openRequests,
  type NewRequest,
} from './requests';
import { addRunStep, removeRunSteps, unansweredCall } from './run-steps';
import { findRun } from './run';

let bot: BotFixture;
let database: Database;
beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
  await accept(database, 'r1');
  await claim(database, 'r1');
});
afterEach(() => bot.remove());

const request = (id: string, changes: Partial<NewRequest> = {}): NewRequest => ({
  id,
  runId: 'r1',
  sessionKey: 'desktop:c1',
  kind: 'approval',
  body: { command: 'ls' },
  createdAt: 10,
  expiresAt: 100,
  ...changes,
});
const open = (id: string, changes: Partial<NewRequest> = {}, epoch = 1) =>
  database.write(() => openRequest(database, request(id, changes), epoch));
const decide = (id: string, at: number, on = database) =>
  on.write(() => decideRequest(on, id, { reason: 'deny', at }));

it('a database of the version before gets its requests when it is opened', async () => {
  const older = new BotFixture();
  try {
    const first = await older.open();
    first.exec('DROP TABLE requests');
    first.pragma('user_version = 1');
    first.close();
    const next = await older.open();
    expect(next.pragma('user_version')).toBe(2);
    expect(openRequests(next, 'approval', 1)).toEqual([]);
  } finally {
    older.remove();
  }
});

describe('a request', () => {
  it('is open until it is decided, once', async () => {
    expect(await open('a')).toMatchObject({ id: 'a', runId: 'r1', reason: null, closedAt: null });
    expect(openRequestOf(database, 'r1')).toMatchObject({ id: 'a', body: { command: 'ls' } });
    expect(openRequests(database, 'approval', 50).map(({ id }) => id)).toEqual(['a']);
    expect(openRequests(database, 'clarify', 50)).toEqual([]);
    expect(await decide('a', 50)).toMatchObject({ reason: 'deny', closedAt: 50 });
    expect(await decide('a', 51)).toBeNull();
    expect(openRequestOf(database, 'r1')).toBeNull();
    expect(findRequest(database, 'a')).toMatchObject({ reason: 'deny' });
  });

  it('has one winner among two processes', async () => {
    await open('a');
    const other = await bot.open();
    const taken = await Promise.all([decide('a', 50), decide('a', 50, other)]);
    expect(taken.filter((decided) => decided !== null)).toHaveLength(1);
  });

  it('cannot be decided when it has expired, but given up', async () => {
    await open('a');
    expect(openRequests(database, 'approval', 100)).toEqual([]);
    expect(await decide('a', 100)).toBeNull();
    const given = () =>
      database.write(() => giveUpRequest(database, 'a', { reason: 'timeout', at: 100 }));
    expect(await given()).toMatchObject({ reason: 'timeout' });
    expect(await given()).toBeNull();
  });

  it('keeps the answer to a question', async () => {
    await open('a', { kind: 'clarify', body: { question: 'Tea?' } });
    await database.write(() =>
      decideRequest(database, 'a', { reason: 'answered', answer: 'Coffee', at: 20 }),
    );
    expect(findRequest(database, 'a')).toMatchObject({ reason: 'answered', answer: 'Coffee' });
  });

  it('is not opened by an older attempt, nor when the run is to end or has ended', async () => {
    expect(await open('a', {}, 7)).toBeNull();
    await database.write(() => requestAbort(database, 'r1', null, 5));
    expect(await open('b')).toBeNull();
    expect(await open('c', { runId: 'unknown' })).toBeNull();
  });

  it('is the only open one of its turn', async () => {
    await open('a');
    await expect(open('b')).rejects.toThrow();
    await decide('a', 50);
    expect(await open('b')).toMatchObject({ id: 'b' });
  });

  it('is forgotten some time after it was closed', async () => {
    await open('a');
    await forgetRequests(database, 1_000);
    expect(findRequest(database, 'a')).not.toBeNull();
    await decide('a', 50);
    await forgetRequests(database, 51);
    expect(findRequest(database, 'a')).toBeNull();
  });
});

describe('steps of a run', () => {
  const call = (id: string) => ({ id, name: 'exec', argumentsJson: '{"command":"ls"}' });
  const step = (...ids: string[]) =>
    ({ role: 'assistant', text: 'Let me look.', toolCalls: ids.map(call) }) as const;
  const result = (toolCallId: string) =>
    ({ role: 'tool', text: 'total 0', toolCallId, toolName: 'exec' }) as const;
  const add = (message: Parameters<typeof addRunStep>[2], epoch = 1) =>
    database.write(() => addRunStep(database, { runId: 'r1', epoch }, message, 20));
  const run = () => {
    const found = findRun(database, 'r1');
    if (!found) throw new Error('no run');
    return found;
  };

  it('are shown by the history and given to the model', async () => {
    expect(await add(step('c1'))).toBe(true);
    expect(await add(result('c1'))).toBe(true);
    const { messages } = chatHistory(database, { sessionKey: 'desktop:c1' });
    expect(messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ text: 'Let me look.' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'exec', arguments: '{"command":"ls"}' } },
        ],
      },
      { role: 'tool', content: [{ text: 'total 0' }], tool_call_id: 'c1', name: 'exec' },
    ]);
    expect(contextMessages(database, 'desktop:c1', { limit: 10 }).messages).toEqual([
      { role: 'user', text: 'question r1' },
      step('c1'),
      result('c1'),
    ]);
  });

  it('are not added by an older attempt', async () => {
    expect(await add(step('c1'), 0)).toBe(false);
    expect(chatHistory(database, { sessionKey: 'desktop:c1' }).messages).toHaveLength(1);
  });

  it('show which call has no result yet', async () => {
    expect(unansweredCall(database, run())).toBeNull();
    await add(step('c1', 'c2'));
    expect(unansweredCall(database, run())).toEqual(call('c1'));
    await add(result('c1'));
    expect(unansweredCall(database, run())).toEqual(call('c2'));
    await add(result('c2'));
    expect(unansweredCall(database, run())).toBeNull();
  });

  it('can be taken away, down to the message of the user', async () => {
    const bytes = () => database.get('SELECT size_bytes FROM sessions');
    const before = bytes();
    await add(step('c1'));
    await add(result('c1'));
    expect(bytes()).not.toEqual(before);
    await database.write(() => removeRunSteps(database, run()));
    expect(bytes()).toEqual(before);
    expect(contextMessages(database, 'desktop:c1', { limit: 10 }).messages).toEqual([
      { role: 'user', text: 'question r1' },
    ]);
  });
});
