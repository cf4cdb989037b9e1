import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessageFile } from '@flowly/contract';
import { chatHistory, contextMessages, findRun } from '@flowly/store';
import { accept, AgentWorld, claimed, send, SESSION, stateOf, told, until } from './agent.harness';
import type { Bot } from './bot';
import { conversation } from './context';
import { filesToGive } from './given-files';
import type { LiveTurns } from './live-turns';
import { modelCall } from './model-call';
import { resetForTakeover } from './takeover';
import { TestWeb } from './web.harness';

let world: AgentWorld;
let bot: Bot;
let turns: LiveTurns;
beforeEach(async () => {
  world = await AgentWorld.start({ attachmentFetchMs: 5_000 });
  mkdirSync(join(world.folder, 'media'));
  bot = await world.bot();
  turns = world.turns();
});
afterEach(() => world.stop());

const PICTURE = Buffer.from('bytes of a picture that no other text has');
const at = (name: string) => join(world.folder, 'media', name);
const put = (mediaId: string, bytes: Buffer | string): void => writeFileSync(at(mediaId), bytes);
const picture = (mediaId: string): MessageFile => ({
  fileName: `${mediaId}.png`,
  mimeType: 'image/png',
  kind: 'image',
  mediaId,
});
const text = {
  fileName: 'b.txt',
  mimeType: 'text/plain',
  kind: 'file' as const,
  mediaId: 'chat-b',
};

async function ask(runId: string, files: MessageFile[], message = 'look') {
  world.script('seen');
  await accept(bot, send(runId, { files, message }), null);
  await world.drive(turns, bot, await claimed(bot, runId, turns));
  return world.models.calls.at(-1);
}
const lastWords = () => world.models.calls.at(-1)?.messages.at(-1)?.content;
const attachments = () =>
  chatHistory(bot.database, { sessionKey: SESSION }).messages.at(-2)?.attachments;

it('pictures and texts go to the model with their message, by name and as they are', async () => {
  put('chat-a', PICTURE);
  put('chat-b', 'words of a file');
  const call = await ask('r1', [picture('chat-a'), text, { ...text, mediaId: 'chat-gone' }]);
  expect(JSON.stringify(call?.body)).toContain(PICTURE.toString('base64'));
  expect(lastWords()).toBe(
    [
      'look',
      '[Attachments: chat-a.png, b.txt, b.txt]',
      '[File b.txt]\nwords of a file\n[End of file b.txt]',
      '[File b.txt (text/plain) is attached, but it could not be read.]',
    ].join('\n\n'),
  );
  expect(attachments()).toEqual([picture('chat-a'), text, { ...text, mediaId: 'chat-gone' }]);
});

it('files alone are a message', async () => {
  put('chat-a', PICTURE);
  await ask('r1', [picture('chat-a')], ' ');
  expect(lastWords()).toBe('[Attachments: chat-a.png]');
});

it('a type that says nothing is known by the file’s name', async () => {
  put('chat-a', PICTURE);
  const call = await ask('r1', [{ ...picture('chat-a'), mimeType: 'application/octet-stream' }]);
  expect(JSON.stringify(call?.body)).toContain(PICTURE.toString('base64'));
});

it('later the pictures of four messages are seen again, of older ones and other files the names', async () => {
  put('chat-b', 'words of a file');
  for (let n = 0; n < 6; n++) {
    put(`chat-${n}`, `picture ${n}`);
    await ask(`r${n}`, [picture(`chat-${n}`), text]);
  }
  const run = findRun(bot.database, 'r5');
  const { messages } = contextMessages(bot.database, SESSION, { limit: 100 });
  const given = run && (await filesToGive(bot, run, messages, world.settings.media));
  const seen = [...(given?.values() ?? [])]
    .flat()
    .map(({ data }) => Buffer.from(data ?? []).toString());
  expect(seen.sort()).toEqual([...[1, 2, 3, 4, 5].map((n) => `picture ${n}`), 'words of a file']);
  expect(conversation(messages, given ?? undefined)[0]?.content).toBe(
    'look\n\n[Attachments: chat-0.png, b.txt]',
  );
});

it('a file that went since is not spoken of as unreadable in every later turn', async () => {
  put('chat-a', PICTURE);
  await ask('r1', [picture('chat-a')]);
  rmSync(at('chat-a'));
  await ask('r2', []);
  expect(JSON.stringify(world.models.calls.at(-1)?.body)).not.toContain('could not be read');
});

it('what does not fit the model’s window is left out, and the history keeps it', async () => {
  for (let n = 0; n < 5; n++) await ask(`r${n}`, [], `${n} ${'word '.repeat(1_500)}`);
  const said = world.models.calls.at(-1)?.messages ?? [];
  // 8,192 tokens of an own server, two thirds for the conversation, three bytes a token.
  expect(JSON.stringify(said).length).toBeLessThan(8_192 * 2);
  expect(said[0]).toMatchObject({ role: 'user', content: expect.stringMatching(/^3 word/) });
  expect(said.at(-1)?.content).toMatch(/^4 word/);
  expect(chatHistory(bot.database, { sessionKey: SESSION }).messages).toHaveLength(10);
});

it('a long session is read back only as far as the window reaches, and begins with a question', async () => {
  await accept(bot, send('r1', { message: 'first' }), null);
  const run = await claimed(bot, 'r1', turns);
  bot.database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
     INSERT INTO messages(session_key, run_id, role, payload, created_at)
     SELECT ?, 'old', iif(i % 2, 'assistant', 'user'), json_object('text', hex(zeroblob(100))), 1 FROM n`,
    SESSION,
  );
  const { messages } = await modelCall(bot, run, world.settings.media);
  expect(messages[0]?.role).toBe('user');
  expect(messages.length).toBeGreaterThan(50);
  expect(messages.length).toBeLessThan(300);
});

it('the end says what the model was given', async () => {
  await ask('r1', []);
  const end = told(bot).at(-1);
  expect(end).toMatchObject({ state: 'final', contextTokens: 10 });
  // Nobody knows what an own server's model can hold.
  expect(end).not.toHaveProperty('contextWindow');
});

describe('files that are elsewhere', () => {
  const URL_OF = 'https://files.example.com/a.png';
  const away: MessageFile = {
    fileName: 'a.png',
    mimeType: 'image/png',
    kind: 'image',
    cdnUrl: URL_OF,
  };
  let web: TestWeb;
  beforeEach(async () => {
    web = await TestWeb.start();
    world.network = web.network;
  });
  afterEach(() => web.stop());

  it('G276: are fetched before the model is asked and kept in the bot’s media', async () => {
    web.at('files.example.com/a.png', PICTURE);
    put('chat-b', 'words');
    const call = await ask('r1', [text, away]);
    expect(JSON.stringify(call?.body)).toContain(PICTURE.toString('base64'));
    const [, file] = attachments() ?? [];
    expect(file).toEqual({
      ...away,
      size: PICTURE.length,
      mediaId: expect.stringMatching(/^chat-[0-9a-f]{32}-1\.png$/),
    });
    const stored = at(file?.mediaId ?? '');
    expect(readFileSync(stored).equals(PICTURE)).toBe(true);
    expect(statSync(stored).mode & 0o777).toBe(0o600);
    expect(findRun(bot.database, 'r1')?.files).toEqual(attachments());
    bot.database.pragma('wal_checkpoint(TRUNCATE)');
    expect(readFileSync(bot.database.file).includes(PICTURE)).toBe(false);
  });

  it('that cannot be had fail nothing: the model is told', async () => {
    web.names.set('files.example.com', [['10.0.0.1']]);
    const call = await ask('r1', [away]);
    expect(lastWords()).toContain(
      '[File a.png (image/png) is attached, but it could not be read.]',
    );
    expect(JSON.stringify(call?.body)).not.toContain(URL_OF);
    expect(stateOf(bot, 'r1')).toBe('completed');
    expect(attachments()).toEqual([away]);
    expect(world.errors).toEqual([]);
  });

  it('are fetched once: who takes the turn up has them', async () => {
    web.at('files.example.com/a.png', PICTURE);
    world.script({ fault: { kind: 'hang-before-headers' } }, 'seen');
    await accept(bot, send('r1', { files: [away] }), null);
    const first = await claimed(bot, 'r1', turns);
    void world.drive(turns, bot, first);
    await until(() => world.models.calls.length === 1);
    bot.database.run(`UPDATE runs SET alive_until = 0 WHERE run_id = 'r1'`);
    const others = world.turns('runner-2');
    const second = await claimed(bot, 'r1', others);
    await turns.renew();
    await resetForTakeover(bot, second, world.bus.live);
    await world.drive(others, bot, second);
    expect(stateOf(bot, 'r1')).toBe('completed');
    expect(web.asked).toHaveLength(1);
    expect(JSON.stringify(world.models.calls[1]?.body)).toContain(PICTURE.toString('base64'));
  });

  it('do not hold up who stops the turn', async () => {
    web.at('files.example.com/a.png', () => undefined);
    await accept(bot, send('r1', { files: [away] }), null);
    const run = await claimed(bot, 'r1', turns);
    const driven = world.drive(turns, bot, run);
    await until(() => web.asked.length === 1);
    turns.wake(bot.botId, 'r1');
    await driven;
    expect(told(bot).at(-1)).toMatchObject({ state: 'final', aborted: true });
    expect(world.models.calls).toEqual([]);
  });
});
