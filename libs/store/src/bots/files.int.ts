import type { MessageFile } from '@flowly/contract';
import type { Database } from '../core/database';
import { accept, BotFixture, claim, exchange } from './bot-fixture';
import { filesOfSession, notOfRun, referredFiles, setRunFiles } from './files';
import { chatHistory } from './history';
import { removeSession } from './remove-session';
import { findRun } from './run';

const KEY = 'desktop:c1';
let fixture: BotFixture;
let database: Database;
beforeEach(async () => {
  fixture = new BotFixture();
  database = await fixture.open();
});
afterEach(() => fixture.remove());

const file = (mediaId: string): MessageFile => ({
  fileName: 'a.png',
  mimeType: 'image/png',
  kind: 'image',
  mediaId,
});
const away: MessageFile = {
  fileName: 'b.png',
  mimeType: 'image/png',
  kind: 'image',
  cdnUrl: 'https://files.example.com/b.png',
};
const attachments = () =>
  chatHistory(database, { sessionKey: KEY }).messages.map((message) => message.attachments);
const size = () => database.get('SELECT size_bytes FROM sessions');

it('files of a send are in its receipt, and in its message when it begins', async () => {
  await accept(database, 'r1', { files: [file('chat-1'), away] });
  expect(attachments()).toEqual([]);
  expect(notOfRun(database, 'r1', ['chat-1', 'chat-2'])).toEqual(['chat-2']);
  expect(notOfRun(database, 'r2', ['chat-1'])).toEqual(['chat-1']);
  await claim(database, 'r1');
  expect(attachments()).toEqual([[file('chat-1'), away]]);
});

it('files of a group’s step are no part of the session', async () => {
  const step = { stepKey: 'r1', groupId: 'g', runId: 'run', bot: 'writer' };
  await accept(database, 'r1', { origin: 'group', step, files: [file('group-1')] });
  await claim(database, 'r1');
  expect(attachments()).toEqual([undefined]);
  expect(filesOfSession(database, KEY)).toEqual([]);
});

it('a file that was fetched is known by its id from then on, to the claim that stands', async () => {
  await accept(database, 'r1', { files: [away] });
  const run = await claim(database, 'r1', { aliveUntil: 1 });
  if (!run) throw new Error('The run is not free.');
  const fetched = { ...away, mediaId: 'chat-2', size: 7 };
  const before = size();
  const set = () => database.write(() => setRunFiles(database, run, [fetched]));
  expect(await set()).toBe(true);
  expect(findRun(database, 'r1')?.files).toEqual([fetched]);
  expect(attachments()).toEqual([[fetched]]);
  const added = JSON.stringify(fetched).length - JSON.stringify(away).length;
  expect(size()).toEqual({ size_bytes: Number(Object.values(Object(before))[0]) + added });

  await claim(database, 'r1', { owner: 'runner-2', at: 5 });
  expect(await set()).toBe(false);
  await exchange(database, 'r2', { sessionKey: 'desktop:c2' });
  const ended = { runId: 'r2', epoch: 1, sessionKey: 'desktop:c2' };
  expect(await database.write(() => setRunFiles(database, ended, [fetched]))).toBe(false);
});

it('what a session’s files are is asked before it goes; its receipts then name none', async () => {
  await accept(database, 'r1', { files: [file('chat-1'), away] });
  await accept(database, 'r2', { files: [file('chat-2')] });
  await accept(database, 'r3', { sessionKey: 'desktop:c2', files: [file('chat-3')] });
  expect(filesOfSession(database, KEY)).toEqual(['chat-1', 'chat-2']);
  await database.write(() => removeSession(database, KEY));
  expect(filesOfSession(database, KEY)).toEqual([]);
  expect(notOfRun(database, 'r1', ['chat-1'])).toEqual(['chat-1']);
});

it('messages and open runs refer to files, ended ones that never began do not', async () => {
  await accept(database, 'r1', { files: [file('chat-1'), away] });
  await claim(database, 'r1');
  database.run(`UPDATE runs SET state = 'completed'`);
  await accept(database, 'r2', { files: [file('chat-2')] });
  await accept(database, 'r3', { files: [file('chat-3')] });
  database.run(`UPDATE runs SET state = 'aborted' WHERE run_id = 'r3'`);
  expect([...referredFiles(database)].sort()).toEqual(['chat-1', 'chat-2']);
});
