import { groupFixture, type GroupFixture } from './group-fixture';

let fixture: GroupFixture;
let first: string;
let second: string;
beforeEach(async () => {
  fixture = await groupFixture();
  first = (await fixture.insert()).id;
  second = (await fixture.insert()).id;
});
afterEach(() => fixture.end());

const file = (mediaId: string) => ({
  fileName: 'a.pdf',
  mimeType: 'application/pdf',
  kind: 'file' as const,
  status: 'ready' as const,
  mediaId,
});
const post = (group: string, ...mediaIds: string[]) =>
  fixture.append(group, { attachments: mediaIds.map(file) });
const unshared = (group: string) =>
  fixture.store.read((groups) => groups.unsharedMedia(group).sort());
const referred = (mediaId: string) => fixture.store.read((groups) => groups.isReferredTo(mediaId));
const named = () => fixture.store.read((groups) => groups.mediaInMessages());

it('a file belongs to a group alone while no other group refers to it', async () => {
  await post(first, 'group-a', 'group-b', 'generated.png');
  await post(first, 'group-a');
  await post(second, 'group-b');
  expect(await unshared(first)).toEqual(['generated.png', 'group-a']);
  expect(await unshared(second)).toEqual([]);
  expect([await referred('group-b'), await referred('group-c')]).toEqual([true, false]);
});

it('also a message outside the window refers to its files', async () => {
  await post(first, 'group-old');
  fixture.other((sqlite) => sqlite.prepare('UPDATE room_messages SET trimmed = 1').run());
  expect(await referred('group-old')).toBe(true);
  expect(await named()).toEqual(new Set(['group-old']));
});

it('what another program wrote counts, also where nothing tells that it has', async () => {
  await post(first, 'group-a');
  fixture.other((sqlite) =>
    sqlite
      .prepare(
        `UPDATE room_messages SET payload_json = replace(payload_json, 'group-a', 'group-z')`,
      )
      .run(),
  );
  expect(await named()).toEqual(new Set(['group-z']));
});

it('a message that cannot be read keeps whatever looks like its files', async () => {
  await post(first, 'group-a');
  await post(first, 'group-b');
  fixture.other((sqlite) =>
    sqlite
      .prepare(`UPDATE room_messages SET payload_json = substr(payload_json, 2) WHERE seq = 1`)
      .run(),
  );
  expect(await named()).toEqual(new Set(['group-a', 'group-b']));
});

it('finds the newest message of the user, however long ago', async () => {
  const newest = () =>
    fixture.store.read((groups) => groups.newestUserMessage(first)?.content ?? null);
  expect(await newest()).toBeNull();
  await fixture.append(first, { content: 'one' }, { content: 'two' });
  for (let count = 0; count < 20; count++)
    await fixture.append(first, { role: 'assistant', profile: 'writer' });
  expect(await newest()).toBe('two');
});
