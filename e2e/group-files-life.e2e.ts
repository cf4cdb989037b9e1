import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { makeGroup, sendTo, until, wholeHistory } from '@flowly/testing';
import { groupDatabase } from './support/group-database';
import { age, groupPrefix, mediaFolder, mediaNames, putMedia } from './support/media';
import { randomBy, seedOfThisRun } from './support/random';
import { useWorld } from './support/world';

const seed = seedOfThisRun();
const world = useWorld({ bots: ['writer'] });
const silent = { memberPolicies: { default: 'mentioned', writer: 'mentioned' } };

it('G123: at a start, old files that no message refers to go, and no others', async () => {
  const { home } = world.system;
  const { id } = await makeGroup(world.client, ['default', 'writer'], silent);
  const name = (end: string) => `${groupPrefix(id)}${end}`;
  await sendTo(world.client, id, 'one');
  for (const instance of world.system.instances) await instance.kill('SIGTERM');
  const file = { fileName: 'kept.pdf', mimeType: 'application/pdf', mediaId: name('kept.pdf') };
  addFile(home, id, { ...file, kind: 'file', status: 'ready', size: 3 });
  for (const each of [name('kept.pdf'), name('stranded.pdf'), 'vid-generated.mp4'])
    putMedia(home, each, 'pdf', 48);
  putMedia(home, name('young.pdf'), 'pdf');
  for (const instance of world.system.instances) instance.start();
  await world.system.ready();
  await world.reconnect();
  expect(mediaNames(home)).toEqual(
    [name('kept.pdf'), name('young.pdf'), 'vid-generated.mp4'].sort(),
  );
});

it(`an orchestrator that dies in the middle of sends leaves nothing behind (E2E_SEED=${seed})`, async () => {
  const random = randomBy(seed);
  const { home } = world.system;
  const orchestrator = world.system.service('group-orchestrator');
  const { id } = await makeGroup(world.client, ['default', 'writer'], silent);
  const contents = Array.from({ length: 30 }, () => randomBytes(200_000).toString('base64'));
  const sends = contents.map((content, index) =>
    world.client
      .call('profiles.rooms.send', {
        roomId: id,
        content: `message ${index}`,
        attachments: [{ fileName: 'a.bin', mimeType: 'x/y', content }],
      })
      .then(
        () => true,
        () => false,
      ),
  );
  const own = () => mediaNames(home).filter((name) => name.startsWith(groupPrefix(id)));
  for (const files of [2, 10, 20]) {
    await until(() => own().length >= files, 15_000, `there were never ${files} files`);
    await sleep(random() * 20);
    await orchestrator.restart();
  }
  const accepted = await Promise.all(sends);
  await world.system.ready();

  const history = await wholeHistory(world.client, id);
  const said = history.map(({ content }) => content);
  expect(new Set(said).size).toBe(said.length);
  for (const [index, wasAccepted] of accepted.entries())
    if (wasAccepted) expect(said).toContain(`message ${index}`);
  for (const { content, attachments } of history) {
    const bytes = readFileSync(path.join(mediaFolder(home), attachments?.[0]?.mediaId ?? ''));
    expect(bytes.toString('base64') === contents[Number(content.split(' ')[1])]).toBe(true);
  }
  for (const name of own()) age(home, name, 2);
  await orchestrator.restart();
  await world.system.ready();
  await world.client.call('profiles.rooms.list', { includeMessages: false });
  const referred = history.map(({ attachments }) => attachments?.[0]?.mediaId);
  expect(own()).toEqual([...referred].sort());
}, 60_000);

/** Gives the group's newest message a file, as another program would. */
function addFile(home: string, groupId: string, file: Record<string, unknown>): void {
  const database = new Database(groupDatabase(home));
  database
    .prepare(
      `UPDATE room_messages SET payload_json = json_set(payload_json, '$.attachments', json(?))
        WHERE room_id = ?`,
    )
    .run(JSON.stringify([file]), groupId);
  database.close();
}
