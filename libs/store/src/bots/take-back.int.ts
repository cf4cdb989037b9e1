import type { Database } from '../core/database';
import { accept, BotFixture, claim, exchange } from './bot-fixture';
import { chatHistory } from './history';
import { findRun } from './run';
import { sessionsList } from './sessions-list';
import { clearHistory, takeBackExchange } from './take-back';

const KEY = 'desktop:c1';
const FILE = {
  kind: 'file' as const,
  fileName: 'a.txt',
  mimeType: 'text/plain',
  size: 1,
  mediaId: 'chat-a-1.txt',
};

let fixture: BotFixture;
let database: Database;
beforeEach(async () => {
  fixture = new BotFixture();
  database = await fixture.open();
  await exchange(database, 'r1', { at: 1 });
  await exchange(database, 'r2', { at: 2 });
  await exchange(database, 'other', { sessionKey: 'desktop:c2' });
});
afterEach(() => fixture.remove());

const textsOf = (sessionKey = KEY) =>
  chatHistory(database, { sessionKey }).messages.map(({ content }) => content[0]?.text);
const takeBack = () => database.write(() => takeBackExchange(database, KEY));
const row = () =>
  sessionsList(database, {}, { straight: false }).sessions.find(({ key }) => key === KEY);

it('takes the last exchange, gives its words back, and leaves the receipt without them', async () => {
  const before = row();
  expect(await takeBack()).toEqual({ removed: 2, text: 'question r2', mediaIds: [] });
  expect(textsOf()).toEqual(['question r1', 'answer r1']);
  expect(findRun(database, 'r2')).toMatchObject({ state: 'completed', message: '' });
  expect(findRun(database, 'r1')).toMatchObject({ message: 'question r1' });
  expect(row()).toMatchObject({ lastAssistantRunId: 'r1', lastAssistantAt: 1 });
  expect(row()?.sizeBytes).toBeLessThan(before?.sizeBytes ?? 0);
  expect(await takeBack()).toMatchObject({ text: 'question r1' });
  expect(row()).toMatchObject({ lastAssistantRunId: null, lastAssistantAt: null, sizeBytes: 0 });
  expect(await takeBack()).toBeNull();
  expect(textsOf('desktop:c2')).toHaveLength(2);
});

it('names the files that went with it', async () => {
  await accept(database, 'r3', { files: [FILE] });
  await claim(database, 'r3');
  expect(await takeBack()).toMatchObject({ removed: 1, mediaIds: ['chat-a-1.txt'] });
  expect(findRun(database, 'r3')?.files).toBeUndefined();
});

it('clears a whole history and keeps the session', async () => {
  const clear = () => database.write(() => clearHistory(database, KEY));
  expect(await clear()).toEqual({ removed: 4, mediaIds: [] });
  expect(textsOf()).toEqual([]);
  expect(row()).toMatchObject({ key: KEY, sizeBytes: 0, lastAssistantRunId: null });
  expect(await clear()).toEqual({ removed: 0, mediaIds: [] });
  expect(textsOf('desktop:c2')).toHaveLength(2);
});
