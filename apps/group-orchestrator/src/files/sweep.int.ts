import { mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GroupWorld } from '../orchestrator.harness';
import { sweepFiles } from './sweep';

let world: GroupWorld;
let group: string;
beforeEach(async () => {
  world = await GroupWorld.start();
  group = await world.create();
  mkdirSync(join(world.home, 'media'));
});
afterEach(() => world.stop());

const HOUR_MS = 3_600_000;
const at = (name: string) => join(world.home, 'media', name);
const ofGroup = (name: string) => `group-${group.slice(0, 8)}-${name}`;
const names = () => readdirSync(join(world.home, 'media')).sort();
const put = (name: string, ageMs: number, bytes = 0) => {
  writeFileSync(at(name), '');
  truncateSync(at(name), bytes);
  const then = new Date(Date.now() - ageMs);
  utimesSync(at(name), then, then);
};
const refer = (mediaId: string) =>
  world.store.transaction((groups) => {
    const record = groups.findGroup(group);
    if (!record) throw new Error('There is no such group.');
    const file = { fileName: 'a', mimeType: 'b', kind: 'file', status: 'ready', mediaId } as const;
    const { group: grown } = groups.appendMessage(record, {
      id: mediaId,
      role: 'user',
      content: 'see',
      createdAt: new Date().toISOString(),
      attachments: [file],
    });
    groups.updateGroup(grown);
  });

it('G123: what is older than an hour and in no message goes, and nothing else', async () => {
  for (const name of ['kept.pdf', 'trimmed.pdf', 'stranded.pdf', 'stranded.pdf.1.new'])
    put(ofGroup(name), 48 * HOUR_MS);
  put(ofGroup('young.pdf'), HOUR_MS - 60_000);
  put('vid-generated.mp4', 48 * HOUR_MS);
  await refer(ofGroup('trimmed.pdf'));
  world.store.database.exec('UPDATE room_messages SET trimmed = 1');
  await refer(ofGroup('kept.pdf'));

  expect(await sweepFiles(world.orchestrator)).toBe(2);
  const left = ['kept.pdf', 'trimmed.pdf', 'young.pdf'].map(ofGroup);
  expect(names()).toEqual([...left, 'vid-generated.mp4'].sort());
  expect(await sweepFiles(world.orchestrator)).toBe(0);
});

it('a file that a message names is kept, also where our own rows do not know it', async () => {
  put(ofGroup('kept.pdf'), 48 * HOUR_MS);
  await refer(ofGroup('kept.pdf'));
  world.store.database.exec('DELETE FROM ext_media');
  expect(await sweepFiles(world.orchestrator)).toBe(0);
  expect(names()).toEqual([ofGroup('kept.pdf')]);
});

it('G180: storage sums what is there for a group, referred to or not', async () => {
  put(ofGroup('a.png'), 0, 2_048);
  put(ofGroup('b.png'), 0, 1_024);
  put('vid-generated.mp4', 0, 9_999);
  put('group-99999999-gone.png', 0, 10);
  expect(await world.command('groups.storage', {})).toEqual({
    hostId: 'host-1',
    rooms: [{ roomId: group, title: 'Council', mediaBytes: 3_072, overNotice: false }],
    totalBytes: 3_082,
    noticeBytes: 524_288_000,
  });
  expect(names()).toHaveLength(4);
});

it('G181: from 500 MiB on the group is worth a word; the largest comes first', async () => {
  const other = await world.create();
  put(`group-${other.slice(0, 8)}-big.bin`, 0, 524_288_001);
  put(ofGroup('almost.bin'), 0, 524_287_999);
  expect(await world.command('groups.storage', {})).toMatchObject({
    rooms: [
      { roomId: other, overNotice: true },
      { roomId: group, overNotice: false },
    ],
  });
});

it('G182: a store that cannot be read has nothing to say, which is no error', async () => {
  put(ofGroup('a.png'), 0, 2_048);
  world.store.database.exec('ALTER TABLE rooms RENAME TO elsewhere');
  expect(await world.command('groups.storage', {})).toEqual({
    hostId: 'host-1',
    rooms: [],
    totalBytes: 0,
    noticeBytes: 524_288_000,
  });
});
