import {
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { StepEnded } from '@flowly/contract';
import { ended, GroupWorld, type Given } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';

let world: GroupWorld;
let group: string;
let png: Buffer;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
  group = await world.create();
  const create = { width: 30, height: 20, channels: 3 as const, background: '#123' };
  png = await sharp({ create }).png().toBuffer();
  mkdirSync(join(world.home, 'writer', 'media'), { recursive: true });
  put('generated.png', png);
});
afterEach(() => world.stop());

const own = (name: string) => join(world.home, 'writer', 'media', name);
const put = (name: string, bytes: Buffer | string) => writeFileSync(own(name), bytes);
const copies = () => {
  try {
    return readdirSync(join(world.home, 'media')).sort();
  } catch {
    return []; // nothing was ever copied
  }
};
const end = (given: Given, changes: Partial<StepEnded>) =>
  stepEnded(world.orchestrator, ended(given, 'writer', changes));
const reply = async () => (await world.get(group)).messages?.at(-1);

it('G121: a file that a reply names is copied from its bot’s media into the group’s', async () => {
  await end(await world.send(group, '@writer draw'), { text: 'Here: ![x](generated.png)' });
  const message = await reply();
  expect(message).toMatchObject({ profile: 'writer', content: 'Here: ![x](generated.png)' });
  const [file] = message?.attachments ?? [];
  expect(message?.attachments).toEqual([
    {
      fileName: 'generated.png',
      mimeType: 'image/png',
      kind: 'image',
      status: 'ready',
      size: png.length,
      width: 30,
      height: 20,
      mediaId: expect.stringMatching(new RegExp(`^group-${group.slice(0, 8)}-[0-9a-f]{32}\\.png$`)),
    },
  ]);
  expect(readFileSync(join(world.home, 'media', file?.mediaId ?? ''))).toEqual(png);
  expect(readFileSync(own('generated.png'))).toEqual(png);
});

it('an end that is told again makes no second copy, and changes none', async () => {
  const given = await world.send(group, '@writer draw');
  const told = { text: '![x](generated.png)' };
  await Promise.all([end(given, told), end(given, told)]);
  put('generated.png', 'changed since');
  await end(given, told);
  expect(copies()).toHaveLength(1);
  expect(readFileSync(join(world.home, 'media', copies()[0] ?? ''))).toEqual(png);
  expect((await world.get(group)).messageCount).toBe(2);
});

it('what the terminal lists comes first, each file once; files alone are an answer', async () => {
  put('data.bin', 'abc');
  const attachments = [{ mediaId: 'data.bin', fileName: 'Data', mimeType: 'text/csv' }];
  const text = '[d](data.bin) ![x](generated.png)';
  await end(await world.send(group, '@writer one'), { text, attachments });
  expect((await reply())?.attachments).toMatchObject([
    { fileName: 'Data', mimeType: 'text/csv', kind: 'file', size: 3 },
    { fileName: 'generated.png' },
  ]);
  await end(await world.send(group, '@writer two'), { text: '', attachments });
  expect(await reply()).toMatchObject({ content: '', attachments: [{ fileName: 'Data' }] });
});

it('one that cannot be read is left out and the reply stays', async () => {
  writeFileSync(join(world.home, 'secret'), 'secret');
  symlinkSync(join(world.home, 'secret'), own('link.txt'));
  mkdirSync(own('folder'));
  const text = '[a](missing.txt) [b](link.txt) [c](folder) [d](../secret) ![x](generated.png)';
  await end(await world.send(group, '@writer draw'), { text });
  expect((await reply())?.attachments).toMatchObject([{ fileName: 'generated.png' }]);
  await end(await world.send(group, '@writer again'), { text: '[a](missing.txt)' });
  expect(await reply()).toMatchObject({ content: '[a](missing.txt)' });
  expect(await reply()).not.toHaveProperty('attachments');
});

it('takes 25 MiB a reply: what no longer fits is left out', async () => {
  for (const [name, mebibytes] of [
    ['a.bin', 20],
    ['b.bin', 6],
    ['c.bin', 5],
  ] as const) {
    put(name, '');
    truncateSync(own(name), mebibytes * 1024 * 1024);
  }
  const text = '[a](a.bin) [b](b.bin) [c](c.bin)';
  await end(await world.send(group, '@writer files'), { text });
  expect((await reply())?.attachments).toMatchObject([
    { fileName: 'a.bin' },
    { fileName: 'c.bin' },
  ]);
});

it('nothing is copied for an answer that does not count', async () => {
  const given = await world.send(group, '@writer draw');
  await world.command('groups.stop', { roomId: group });
  await end(given, { text: '![x](generated.png)' });
  await end(await world.send(group, '@writer two'), {
    state: 'error',
    text: '![x](generated.png)',
    errorCode: 'AGENT_INTERNAL_ERROR',
  });
  expect(copies()).toEqual([]);
});

it('a commit that fails leaves no copy, and the repeated end makes it again', async () => {
  const given = await world.send(group, '@writer draw');
  const { database } = world.store;
  database.exec(
    `CREATE TEMP TRIGGER no BEFORE INSERT ON room_messages BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  await expect(end(given, { text: '![x](generated.png)' })).rejects.toThrow();
  expect(copies()).toEqual([]);
  database.exec('DROP TRIGGER no');
  await end(given, { text: '![x](generated.png)' });
  expect((await reply())?.attachments).toMatchObject([{ mediaId: copies()[0] }]);
});
