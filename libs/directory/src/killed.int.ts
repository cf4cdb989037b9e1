import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOutcome, oldestOutboxRows, openBotStore, readDeletion } from '@flowly/store';
import { mortalProgram } from './children';
import type { Bot } from './directory';
import { HomeFixture } from './home-fixture';
import { readProviders } from './provider';
import { create, finish } from './whole-steps';

/** Where a process can die: before and after each of so many commits, and at the points of the files between. */
const commits = (count: number) =>
  ['before-commit', 'committed'].flatMap((point) =>
    Array.from({ length: count }, (_, index) => `${point} ${index + 1}`),
  );
const IN_CREATION = ['bot-begun', 'bot-built', 'bot-published', ...commits(1)];
/** Of the mark, the hiding, the removal, the looking through the trash and its emptying. */
const IN_DELETION = ['bot-hidden', 'bot-trashed', 'trash-emptied', ...commits(5)];

let programs: string;
let run: ReturnType<typeof mortalProgram>;
let fixture: HomeFixture;
beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), 'mortal-'));
  run = mortalProgram('mortal.child.ts', programs);
});
afterAll(() => rmSync(programs, { recursive: true }));
beforeEach(() => {
  fixture = new HomeFixture();
  fixture.prepare();
});
afterEach(() => fixture.remove());

const WHOLE = ['bot.sqlite3', 'config.json', 'credentials', 'logs', 'media', 'profile.json', 'workspace']; // prettier-ignore

/** Whoever is seen is whole. Returns the bot of this name, if it is seen. */
async function seen(name: string): Promise<Bot | null> {
  const bot = fixture.directory.find(name);
  if (!bot) return null;
  expect(readdirSync(bot.folder)).toEqual(expect.arrayContaining(WHOLE));
  readProviders(bot.folder);
  const database = await openBotStore({ ...bot, busyMs: 1_000 });
  readDeletion(database);
  database.close();
  return bot;
}

/** What was told of a call: its outcome, and one event at most. */
async function told(call: string) {
  const host = await fixture.host();
  const events = oldestOutboxRows(host, 100).map(({ body }) => body);
  return { outcome: findOutcome(host, call), events };
}

it.each(IN_CREATION)('killed at %s, a creation has made a whole bot or none', async (point) => {
  const call = randomUUID();
  expect(run([fixture.home, 'create', 'writer', call], `kill ${point}`)).toBe('SIGKILL');
  const bot = await seen('writer');
  if ((await told(call)).outcome !== null) expect(bot?.botId).toBe(call);
  // The call is delivered again.
  await create(await fixture.host(), fixture.home, 'writer', call);
  expect((await seen('writer'))?.botId).toBe(call);
  expect(await told(call)).toEqual({
    outcome: { botId: call },
    events: [JSON.stringify({ botId: call })],
  });
  expect(readdirSync(join(fixture.home, 'profiles'))).toEqual(['writer']);
});

it.each(IN_DELETION)(
  'killed at %s, a deletion has left the bot whole or is ended',
  async (point) => {
    const call = randomUUID();
    const { botId } = await fixture.create({ name: 'writer' });
    expect(run([fixture.home, 'delete', 'writer', call], `kill ${point}`)).toBe('SIGKILL');
    const isDecided = point !== 'before-commit 1';
    await seen('writer');
    await finish(await fixture.host(), fixture.home);
    if (!isDecided) {
      expect((await seen('writer'))?.botId).toBe(botId);
      expect(await told(call)).toEqual({ outcome: null, events: [] });
      return;
    }
    expect(await seen('writer')).toBeNull();
    const once = { outcome: { botId }, events: [JSON.stringify({ botId })] };
    expect(await told(call)).toEqual(once);
    expect(readdirSync(join(fixture.home, 'profiles/.trash'))).toEqual([]);
    // The name is free, and what comes is a bot of its own.
    const next = randomUUID();
    await create(await fixture.host(), fixture.home, 'writer', next);
    expect((await seen('writer'))?.botId).toBe(next);
  },
);
