import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { MessageAttachment } from '@flowly/contract';
import { ended, GroupWorld, until } from '../orchestrator.harness';
import { stepEnded } from '../turns/step-ended';
import { withMessageFiles } from './message-files';
import { assertThere } from './with-files';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start({ reconcileMs: 40 });
  group = await world.create();
});
afterEach(() => world.stop());

const brief = { fileName: 'brief.txt', mimeType: 'text/plain', content: 'SGVsbG8=' };
const send = (attachments: unknown[], id?: string, content = '@writer hi') =>
  world.command('groups.send', { roomId: group, content, attachments }, id);
const names = () => {
  try {
    return readdirSync(join(world.home, 'media')).sort();
  } catch {
    return []; // nothing was ever written
  }
};
const attachments = async (): Promise<MessageAttachment[]> =>
  ((await world.get(group)).messages ?? []).flatMap((message) => message.attachments ?? []);
const steps = () => world.orders.flatMap((order) => (order.type === 'step' ? [order] : []));

it('X031: files alone are a message; they are on the disk when it is committed', async () => {
  await send([brief], undefined, '');
  const room = await world.get(group);
  expect(room.messages).toMatchObject([{ content: 'Review the attached files.' }]);
  const [file] = await attachments();
  expect(file).toEqual({
    fileName: 'brief.txt',
    mimeType: 'text/plain',
    kind: 'file',
    status: 'ready',
    size: 5,
    mediaId: expect.stringMatching(new RegExp(`^group-${group.slice(0, 8)}-[0-9a-f]{32}\\.txt$`)),
  });
  const path = join(world.home, 'media', file?.mediaId ?? '');
  expect(readFileSync(path, 'utf8')).toBe('Hello');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await world.store.read((groups) => groups.unsharedMedia(group))).toEqual([file?.mediaId]);
});

it('an image gets a thumbnail made here, other kinds and addresses keep the client’s', async () => {
  const create = { width: 30, height: 20, channels: 3 as const, background: '#123' };
  const content = (await sharp({ create }).png().toBuffer()).toString('base64');
  const thumbnail = Buffer.from('of the client').toString('base64');
  await send([
    { fileName: 'a.png', mimeType: 'image/png', content, thumbnail },
    { ...brief, thumbnail },
    { fileName: 'c.mp4', mimeType: 'video/mp4', cdnUrl: 'https://example.com/c.mp4', thumbnail },
  ]);
  const [image, file, video] = await attachments();
  expect(image).toMatchObject({ kind: 'image', width: 30, height: 20, size: expect.any(Number) });
  const made = Buffer.from(image?.thumbnail ?? '', 'base64');
  expect((await sharp(made).metadata()).format).toBe('jpeg');
  expect(file).toMatchObject({ kind: 'file', thumbnail });
  expect(video).toEqual({
    fileName: 'c.mp4',
    mimeType: 'video/mp4',
    kind: 'video',
    status: 'ready',
    cdnUrl: 'https://example.com/c.mp4',
    thumbnail,
  });
  const { weight } = await world.record(group);
  const thumbnails = (image?.thumbnail?.length ?? 0) + 2 * thumbnail.length;
  expect(weight).toBe(256 + '@writer hi'.length + thumbnails);
});

it('the responders are given the files by id, nobody the bytes', async () => {
  await send([brief, { fileName: 'w', mimeType: 'image/png', cdnUrl: 'https://example.com/w' }]);
  await until(() => steps().length === 1);
  const [stored] = await attachments();
  expect(steps()).toMatchObject([{ bot: 'writer' }]);
  expect(steps()[0]?.attachments).toEqual([
    { fileName: 'brief.txt', mimeType: 'text/plain', kind: 'file', mediaId: stored?.mediaId },
    { fileName: 'w', mimeType: 'image/png', kind: 'image', cdnUrl: 'https://example.com/w' },
  ]);
  expect(steps()[0]?.prompt).toContain('[Attachments: brief.txt, w]');
});

it('X044: in a council the files go to the members in the first round only', async () => {
  const params = { title: 'Council', members: ['default', 'writer'], mode: 'council' };
  await world.command('groups.create', params);
  group = (await world.store.read((groups) => groups.listGroups()[0]))?.id ?? '';
  await send([brief], undefined, 'everybody');
  for (const count of [1, 2, 3, 4]) {
    await until(() => steps().length === count);
    const step = steps().at(-1);
    if (!step) throw new Error('No step was given.');
    const given = { group, run: step.runId, steps: { [step.bot]: step.stepKey } };
    await stepEnded(world.orchestrator, ended(given, step.bot, { text: `words ${count}` }));
  }
  const given = steps().map(({ bot, attachments: files }) => [bot, files?.length ?? 0]);
  expect(given).toEqual([
    ['default', 1],
    ['writer', 1],
    ['default', 0],
    ['writer', 0],
  ]);
});

it('a command that is delivered again makes no second files', async () => {
  const id = randomUUID();
  await Promise.all([send([brief, brief], id), send([brief, brief], id)]);
  await send([brief, brief], id);
  expect(names()).toHaveLength(2);
  expect((await attachments()).map(({ mediaId }) => mediaId).sort()).toEqual(names());
});

it('what is refused writes nothing', async () => {
  await send([brief]);
  const before = names();
  await expect(send([brief])).rejects.toMatchObject({ code: 'ROOM_BUSY' });
  const unknown = { roomId: randomUUID(), content: 'x', attachments: [brief] };
  await expect(world.command('groups.send', unknown)).rejects.toMatchObject({
    code: 'ROOM_NOT_FOUND',
  });
  expect(names()).toEqual(before);
});

it('X032: a bad file is refused before the group is looked for', async () => {
  const params = { roomId: randomUUID(), content: 'x', attachments: [{ ...brief, content: '!' }] };
  await expect(world.command('groups.send', params)).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
});

it('a commit that fails takes its files with it', async () => {
  const { database } = world.store;
  database.exec(
    `CREATE TEMP TRIGGER no BEFORE INSERT ON room_messages BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  await expect(send([brief, brief])).rejects.toMatchObject({ code: 'ROOM_STORE_INVALID' });
  database.exec('DROP TRIGGER no');
  expect(names()).toEqual([]);
  expect((await world.get(group)).messageCount).toBe(0);
});

it('the files of a delivery that was committed outlive another that failed', async () => {
  const id = randomUUID();
  await send([brief], id);
  const again = { groupId: group, commandId: id, files: [brief], isWanted: () => true };
  const failing = withMessageFiles(world.orchestrator, again, ([file]) =>
    Promise.reject(new Error(file?.mediaId)),
  );
  await expect(failing).rejects.toThrow(names()[0]);
  expect(names()).toEqual((await attachments()).map(({ mediaId }) => mediaId));
  expect(names()).toHaveLength(1);
});

it('files that another delivery took away are not committed', async () => {
  const message = { groupId: group, commandId: randomUUID(), files: [brief], isWanted: () => true };
  const failing = withMessageFiles(world.orchestrator, message, async (written) => {
    world.orchestrator.media.removeFiles(names());
    assertThere(world.orchestrator, written);
  });
  await expect(failing).rejects.toMatchObject({ code: 'ROOM_STORE_CONFLICT', retryable: true });
});

it('a folder that cannot be written refuses the message, retryable', async () => {
  writeFileSync(join(world.home, 'media'), 'no folder');
  await expect(send([brief])).rejects.toMatchObject({
    code: 'ROOM_STORE_INVALID',
    retryable: true,
  });
  expect((await world.get(group)).messageCount).toBe(0);
});
