import { chatHistoryPageSchema } from '@flowly/contract';
import { z } from 'zod';
import { BotFixture, accept, answer, claim, exchange } from './bot-fixture';
import { endRun } from './end-run';
import { chatHistory } from './history';
import { contextMessages, addMessage } from './message';
import { sessionsList } from './sessions-list';
import type { Database } from '../core/database';

const KEY = 'desktop:c1';
const planStep = z.object({ detail: z.string() });
const chatHistoryPage = z.object(chatHistoryPageSchema);
let bot: BotFixture;
let database: Database;

beforeEach(async () => {
  bot = new BotFixture();
  database = await bot.open();
});
afterEach(() => bot.remove());

const texts = (page: ReturnType<typeof chatHistory>) =>
  page.messages.map((message) => message.content[0]?.text);

/** One question and `count` answers after it. */
async function answers(count: number): Promise<void> {
  await exchange(database, 'r0');
  await database.write(() => {
    for (let index = 1; index < count; index++) {
      addMessage(database, {
        sessionKey: KEY,
        runId: 'r0',
        role: 'assistant',
        payload: { text: `a${index}` },
        at: 1,
      });
    }
  });
}

describe('chat.history', () => {
  it('is empty for an unknown session', () => {
    const head = {
      sessionKey: KEY,
      sessionId: KEY,
      thinkingLevel: null,
      modelOverride: null,
      messages: [],
    };
    expect(chatHistory(database, { sessionKey: KEY })).toEqual(head);
    expect(chatHistory(database, { sessionKey: KEY, limit: 5 })).toEqual({
      ...head,
      historyPageVersion: 1,
      hasOlder: false,
      before: null,
    });
  });

  it('shows all messages without paging fields when nothing is asked for', async () => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
    };
    await accept(database, 'r1');
    await claim(database, 'r1', { at: 7 });
    const call = { id: 'call-1', name: 'exec', argumentsJson: '{}' };
    const message = answer('hello', { usage, aborted: true, toolCalls: [call] });
    await database.write(() =>
      endRun(database, { runId: 'r1', epoch: 1, state: 'aborted', outcome: {}, message, at: 8 }),
    );
    expect(chatHistory(database, { sessionKey: KEY })).toEqual({
      sessionKey: KEY,
      sessionId: KEY,
      thinkingLevel: null,
      modelOverride: null,
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'question r1' }],
          id: '1',
          runId: 'r1',
          timestamp: 7,
        },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'hello' }],
          id: '2',
          runId: 'r1',
          timestamp: 8,
          tool_calls: [
            { id: 'call-1', type: 'function', function: { name: 'exec', arguments: '{}' } },
          ],
          usage,
          aborted: true,
          durationMs: 5,
        },
      ],
    });
  });

  it('pages backwards, each page from a user message on', async () => {
    for (const run of ['r1', 'r2', 'r3']) await exchange(database, run);
    const newest = chatHistory(database, { sessionKey: KEY, limit: 3 });
    expect(texts(newest)).toEqual(['question r2', 'answer r2', 'question r3', 'answer r3']);
    expect(newest.hasOlder).toBe(true);
    const next = chatHistory(database, { sessionKey: KEY, before: newest.before ?? '' });
    expect(texts(next)).toEqual(['question r1', 'answer r1']);
    expect(next).toMatchObject({ historyPageVersion: 1, hasOlder: false, before: null });
  });

  it('extends a page to 200 messages at most', async () => {
    await answers(250);
    expect(chatHistory(database, { sessionKey: KEY, limit: 10 }).messages).toHaveLength(200);
    expect(chatHistory(database, { sessionKey: KEY, limit: 200 }).messages).toHaveLength(200);
    expect(chatHistory(database, { sessionKey: KEY }).messages).toHaveLength(250 + 1);
  });

  it('gives a cursor of version, session and event id, and takes no other', async () => {
    for (const run of ['r1', 'r2']) await exchange(database, run);
    await exchange(database, 'b1', { sessionKey: 'ios:b' });
    const { before } = chatHistory(database, { sessionKey: KEY, limit: 2 });
    expect(JSON.parse(Buffer.from(before ?? '', 'base64url').toString())).toEqual([1, KEY, 3]);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const bad = ['x', '!', `${before}=`, encode([2, KEY, 3]), encode([1, 'ios:b', 3]), encode([1, KEY, '3']),
      encode([1, KEY, 0]), encode([1, KEY, 1.5]), encode([1, KEY, 3, 4]), encode([1, KEY, -3]), encode(null),
      Buffer.from(`[1, "${KEY}", 3]`).toString('base64url'), Buffer.from(`[1,"${KEY}",3.0]`).toString('base64url'), encode([1, KEY]), encode({ 0: 1 })]; // prettier-ignore
    for (const cursor of bad) {
      expect(() => chatHistory(database, { sessionKey: KEY, before: cursor })).toThrow(
        expect.objectContaining({ code: 'INVALID_HISTORY_CURSOR' }),
      );
    }
  });

  it('gives fewer messages when their JSON would be too long, one at least', async () => {
    for (const run of ['r1', 'r2', 'r3'])
      await exchange(database, run, { text: 'x'.repeat(1_000) });
    const page = chatHistory(database, { sessionKey: KEY, limit: 6 }, 2_600);
    expect(texts(page)).toEqual([
      'question r2',
      'x'.repeat(1_000),
      'question r3',
      'x'.repeat(1_000),
    ]);
    const rest = chatHistory(database, { sessionKey: KEY, before: page.before ?? '' }, 2_600);
    expect(texts(rest)).toEqual(['question r1', 'x'.repeat(1_000)]);
    expect(chatHistory(database, { sessionKey: KEY, limit: 6 }, 10).messages).toHaveLength(1);
  });

  it('takes the cursors of sessions with any key', async () => {
    for (const sessionKey of [
      'ios:😀'.repeat(40),
      `web:${'字'.repeat(252)}`,
      'cli:"\\'.repeat(36),
    ]) {
      for (const run of ['a', 'b'])
        await exchange(database, `${run} ${sessionKey}`, { sessionKey });
      const { before } = chatHistory(database, { sessionKey, limit: 2 });
      const page = chatHistoryPage.parse({ before });
      expect(chatHistory(database, { sessionKey, ...page }).messages).toHaveLength(2);
    }
  });

  it('the bound of 3.9 MiB wins over the user message that a page would begin with', async () => {
    await answers(5);
    const whole = chatHistory(database, { sessionKey: KEY, limit: 2 });
    expect(whole.messages[0]?.role).toBe('user');
    const bytes = Buffer.byteLength(JSON.stringify(whole.messages)) - 2;
    const page = chatHistory(database, { sessionKey: KEY, limit: 2 }, bytes);
    expect(page.messages.map(({ role }) => role)).toEqual(Array(5).fill('assistant'));
    expect(page.hasOlder).toBe(true);
    const older = chatHistory(database, { sessionKey: KEY, before: page.before ?? '' });
    expect(texts(older)).toEqual(['question r0']);
  });

  it('finds a page of a very long session by its place, reading nothing else', () => {
    const seen: string[] = [];
    const read = database.all.bind(database);
    // Only listened to: what is asked is asked.
    jest.spyOn(database, 'all').mockImplementation((sql, ...params) => {
      for (const step of read(`EXPLAIN QUERY PLAN ${sql}`, ...params))
        seen.push(planStep.parse(step).detail);
      return read(sql, ...params);
    });
    chatHistory(database, { sessionKey: KEY, limit: 50 });
    jest.restoreAllMocks();
    expect(seen.length).toBeGreaterThan(0);
    for (const step of seen)
      expect(step).toMatch(
        /^SEARCH messages USING INDEX messages_session_idx \(session_key=\? AND id<\?\)$/,
      );
  });

  it('keeps a page under 3.9 MiB of JSON', async () => {
    const text = 'x'.repeat(300_000);
    for (let index = 0; index < 20; index++) await exchange(database, `r${index}`, { text });
    const page = chatHistory(database, { sessionKey: KEY, limit: 200 });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(3.9 * 1024 * 1024);
    expect(page.messages.length).toBeGreaterThan(24);
    expect(page.hasOlder).toBe(true);
  });
});

it('gives the model the words of a session in order', async () => {
  for (const run of ['r1', 'r2'])
    await exchange(database, run, { text: run === 'r1' ? '' : 'said' });
  expect(contextMessages(database, KEY, { limit: 100 }).messages).toEqual([
    { role: 'user', text: 'question r1' },
    { role: 'user', text: 'question r2' },
    { role: 'assistant', text: 'said' },
  ]);
  const newest = contextMessages(database, KEY, { limit: 1 });
  expect(newest.messages).toEqual([{ role: 'assistant', text: 'said' }]);
  const older = contextMessages(database, KEY, { limit: 9, before: newest.before ?? 0 });
  expect(older.messages.map(({ text }) => text)).toEqual(['question r1', 'question r2']);
  expect(older.before).toBeNull();
});

describe('sessions.list', () => {
  const OPEN = { straight: false };
  const keys = (params: Parameters<typeof sessionsList>[1], way = OPEN) =>
    sessionsList(database, params, way).sessions.map((session) => session.key);

  async function sessions(...newestFirst: string[]): Promise<void> {
    for (const [index, sessionKey] of newestFirst.entries()) {
      await exchange(database, `run ${sessionKey}`, { sessionKey, at: 1_000 - index });
    }
  }

  it('G215 fills a page past hidden sessions, newest first', async () => {
    await sessions('ios:a', 'desktop:profile-room:1', 'cron:job', 'web:b', 'ios:c');
    const three = sessionsList(database, { limit: 3 }, OPEN);
    expect(three.sessions.map((session) => session.key)).toEqual(['ios:a', 'web:b', 'ios:c']);
    expect(three).not.toHaveProperty('next');
    const two = sessionsList(database, { limit: 2 }, OPEN);
    expect(two.sessions.map((session) => session.key)).toEqual(['ios:a', 'web:b']);
    expect(keys({ limit: 2, before: two.next })).toEqual(['ios:c']);
    expect(keys({})).toEqual(['ios:a', 'web:b', 'ios:c']);
    expect(keys({}, { straight: true })).toEqual(['ios:a', 'cron:job', 'web:b', 'ios:c']);
  });

  it('keeps its place among sessions of one instant and over more than a chunk', async () => {
    await database.write(() => {
      for (let index = 0; index < 450; index++) {
        database.run(
          'INSERT INTO sessions(key, created_at, updated_at) VALUES (?, 1, 1)',
          `web:${index}`,
        );
      }
    });
    const seen = keys({ limit: 200 });
    for (let next = sessionsList(database, { limit: 200 }, OPEN).next; next; ) {
      const page = sessionsList(database, { limit: 200, before: next }, OPEN);
      seen.push(...page.sessions.map((session) => session.key));
      next = page.next;
    }
    expect(new Set(seen).size).toBe(450);
    expect(seen).toHaveLength(450);
    expect(keys({})).toHaveLength(450);
  });

  it('tells what a row is about', async () => {
    await exchange(database, 'r1', { sessionKey: 'ios:thread:1', at: 50 });
    await accept(database, 'r2', { sessionKey: 'ios:thread:1', at: 60 });
    await claim(database, 'r2', { at: 60 });
    expect(sessionsList(database, {}, OPEN).sessions).toEqual([
      {
        key: 'ios:thread:1',
        sizeBytes: expect.any(Number),
        modifiedAt: 60,
        channel: 'ios',
        chatId: 'thread:1',
        title: null,
        displayName: 'thread:1',
        updatedAt: 60,
        lastAssistantRunId: 'r1',
        lastAssistantAt: 50,
        running: true,
        modelOverride: null,
      },
    ]);
  });

  it('takes no cursor of another list', () => {
    expect(() => sessionsList(database, { before: 'x' }, OPEN)).toThrow(
      expect.objectContaining({ code: 'INVALID_PARAMS' }),
    );
  });
});
