import fc from 'fast-check';
import { messageWeight, newPanelRun, windowLength } from '@flowly/groups';
import type { GroupMessagePayload } from '@flowly/contract';
import { AT, type GroupFixture, groupFixture, newMessage } from './group-fixture';
import type { GroupRecord } from './records';

let fixture: GroupFixture;
beforeEach(async () => void (fixture = await groupFixture()));
afterEach(() => fixture.end());

/** Adds messages in one commit. */
function appendAll(
  groupId: string,
  messages: Partial<GroupMessagePayload>[],
): Promise<GroupRecord> {
  return fixture.store.transaction((groups) => {
    let group = groups.findGroup(groupId);
    if (group === null) throw new Error('gone');
    for (const message of messages) group = groups.appendMessage(group, newMessage(message)).group;
    return groups.updateGroup(group);
  });
}

const short = (count: number) => Array.from({ length: count }, (_, n) => ({ content: `${n}` }));

it('holds at most 1,000 messages; watermarks and boundaries move with it in the same commit', async () => {
  const { id } = await fixture.insert();
  const full = await appendAll(id, short(1_000));
  await fixture.store.transaction((groups) =>
    groups.updateGroup({
      ...full,
      watermarks: { default: 1_000, writer: 2 },
      run: newPanelRun({ id: 'run', responders: ['default', 'writer'], at: AT, boundary: 1_000 }),
    }),
  );
  await appendAll(id, short(3));
  const group = await fixture.find(id);
  expect(group).toMatchObject({ total: 1_003, live: 1_000, nextSeq: 1_003 });
  expect(group.watermarks).toEqual({ default: 997, writer: 0 });
  expect(group.run?.members).toMatchObject({
    default: { boundary: 997 },
    writer: { boundary: 997 },
  });

  const [window, newest, page] = await fixture.store.read((groups) => [
    groups.liveWindow(id),
    groups.newestMessages(id, 3),
    groups.historyPage(id, 4, 50),
  ]);
  expect([window.length, window[0]?.seq, window.at(-1)?.seq]).toEqual([1_000, 3, 1_002]);
  expect(newest).toEqual(window.slice(-3));
  expect(page.messages.map((message) => message.seq)).toEqual([0, 1, 2, 3]);
});

it('is right for any weights: what is trimmed as it grows is what a walk over the file leaves', async () => {
  // Weights around the limits of 2 MiB and 30 messages, made of one long thumbnail each.
  const size = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 40_000 }),
    fc.integer({ min: 50_000, max: 150_000 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(size, { maxLength: 30 }), { minLength: 1, maxLength: 4 }),
      async (commits) => {
        const { id } = await fixture.insert();
        for (const sizes of commits) {
          await appendAll(
            id,
            sizes.map((length) => ({ attachments: [image(length)] })),
          );
        }
        const group = await fixture.find(id);
        const [stored, window] = await fixture.store.read((groups) => [
          groups.historyPage(id, null, 1_000).messages,
          groups.liveWindow(id),
        ]);
        const weights = stored.map(messageWeight);
        const length = windowLength([...weights].reverse());
        expect(window).toEqual(length === 0 ? [] : stored.slice(-length));
        expect(group).toMatchObject({
          total: commits.flat().length,
          live: length,
          weight: window.map(messageWeight).reduce((sum, weight) => sum + weight, 0),
        });
      },
    ),
    { numRuns: 12 },
  );
});

it('is trimmed by as much as is needed at once when another program left it too long', async () => {
  const { id } = await fixture.insert();
  await appendAll(id, short(1_010));
  fixture.other((sqlite) => sqlite.exec('UPDATE room_messages SET trimmed = 0'));
  await fixture.reopen();
  expect((await fixture.find(id)).live).toBe(1_010);
  await appendAll(id, short(1));
  const group = await fixture.find(id);
  expect(group.live).toBe(1_000);
  expect((await fixture.store.read((groups) => groups.liveWindow(id)))[0]?.seq).toBe(11);
});

function image(length: number) {
  const thumbnail = 'x'.repeat(length);
  return {
    fileName: 'a',
    mimeType: 'image/png',
    kind: 'image',
    status: 'ready',
    thumbnail,
  } as const;
}
