import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptStep } from './accept-turn';
import { AgentWorld, stepGiven, told } from './agent.harness';
import { commitEnd } from './end-turn';

let world: AgentWorld;
beforeEach(async () => {
  world = await AgentWorld.start();
  mkdirSync(join(world.folder, 'media'));
});
afterEach(() => world.stop());

const PICTURE = 'bytes of a picture that no other text has';
const files = [
  { fileName: 'a.png', mimeType: 'image/png', kind: 'image' as const, mediaId: 'group-1-a.png' },
  { fileName: 'b.txt', mimeType: 'text/plain', kind: 'file' as const, mediaId: 'group-1-b.txt' },
  { fileName: 'c.txt', mimeType: 'text/plain', kind: 'file' as const, mediaId: 'group-1-gone' },
];

it('a step’s files are read by id and given to the model; the bot’s database has no bytes', async () => {
  writeFileSync(join(world.folder, 'media', 'group-1-a.png'), PICTURE);
  writeFileSync(join(world.folder, 'media', 'group-1-b.txt'), 'words of a file');
  const bot = await world.bot();
  const turns = world.turns();
  const step = { ...stepGiven('s1'), attachments: files };
  const run = await acceptStep(bot, step, () => turns.claim());
  if (!run) throw new Error('The step was not taken.');
  world.script('seen');
  await world.drive(turns, bot, run);
  const [call] = world.models.calls;
  expect(JSON.stringify(call?.body)).toContain(Buffer.from(PICTURE).toString('base64'));
  expect(call?.messages.at(-1)?.content).toBe(
    [
      'prompt of s1',
      '[File b.txt]\nwords of a file\n[End of file b.txt]',
      '[File c.txt (text/plain) is attached, but it could not be read.]',
    ].join('\n\n'),
  );
  bot.database.pragma('wal_checkpoint(TRUNCATE)');
  const stored = readFileSync(bot.database.file);
  for (const text of [PICTURE, Buffer.from(PICTURE).toString('base64'), 'words of a file'])
    expect(stored.includes(text)).toBe(false);
});

it('files of an answer travel with its end', async () => {
  const bot = await world.bot();
  const turns = world.turns();
  const run = await acceptStep(bot, stepGiven('s1'), () => turns.claim());
  if (!run) throw new Error('The step was not taken.');
  await commitEnd(bot, run, {
    state: 'final',
    text: '',
    aborted: false,
    usage: null,
    model: 'm',
    completedAt: Date.now(),
    durationMs: 1,
    attachments: [{ mediaId: 'generated.png' }],
  });
  expect(told(bot).at(-1)).toMatchObject({
    type: 'ended',
    attachments: [{ mediaId: 'generated.png' }],
  });
});
