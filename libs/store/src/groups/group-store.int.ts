import { randomUUID } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { newPanelRun, storedGroupView, type StoredRun } from '@flowly/groups';
import { AT, type GroupFixture, groupFixture, newGroup, newMessage } from './group-fixture';
import { GroupStore } from './group-store';

let fixture: GroupFixture;
beforeEach(async () => void (fixture = await groupFixture(150)));
afterEach(() => fixture.end());

const running = (boundary: number): StoredRun =>
  newPanelRun({ id: randomUUID(), responders: ['default', 'writer'], at: AT, boundary });

describe('groups', () => {
  it('are found, counted and listed, newest change first (X011)', async () => {
    const made = await Promise.all(
      [1, 2, 3].map((day) => fixture.insert({ createdAt: `2026-01-0${day}` })),
    );
    const [first] = made;
    await fixture.store.transaction((groups) => {
      const group = groups.findGroup(first?.id ?? '');
      if (group) groups.updateGroup({ ...group, updatedAt: '2026-02-01' });
    });
    await fixture.store.read((groups) => {
      expect(groups.countGroups()).toBe(3);
      expect(groups.listGroups().map((group) => group.updatedAt)).toEqual([
        '2026-02-01',
        '2026-01-03',
        '2026-01-02',
      ]);
      expect(groups.findGroup(randomUUID())).toBeNull();
    });
  });

  it('are what was written, with maps that have no prototype', async () => {
    const inserted = await fixture.insert({ policies: { writer: 'mentioned' } });
    const group = await fixture.find(inserted.id);
    expect(group).toEqual({ ...inserted, policies: { default: 'always', writer: 'mentioned' } });
    const changed = {
      ...group,
      title: 'Renamed',
      run: running(4),
      watermarks: { default: 1, writer: 2 },
      updatedAt: '2026-03-01',
    };
    const written = await fixture.store.transaction((groups) => groups.updateGroup(changed));
    const read = await fixture.find(group.id);
    expect(read).toEqual(written);
    expect(Object.getPrototypeOf(read.watermarks)).toBeNull();
    expect(Object.getPrototypeOf(read.run?.members)).toBeNull();
  });

  it('are refused when they were decided on before another wrote', async () => {
    const { id } = await fixture.insert();
    const old = await fixture.find(id);
    await fixture.append(id, {});
    const late = fixture.store.transaction((groups) =>
      groups.updateGroup({ ...old, title: 'late' }),
    );
    await expect(late).rejects.toThrow('outside of the transaction');
    expect((await fixture.find(id)).title).toBe('Council');
  });

  it('tell which runs are going', async () => {
    const [one, two] = [await fixture.insert(), await fixture.insert()];
    await fixture.store.transaction((groups) => {
      groups.updateGroup({ ...one, run: running(0) });
      groups.updateGroup({ ...two, run: { ...running(0), state: 'completed' } });
    });
    expect(await fixture.store.read((groups) => groups.runningGroups())).toEqual([one.id]);
  });

  it('keep what the next step of a run needs, as long as they live', async () => {
    const { id } = await fixture.insert();
    const revision = fixture.store.revision();
    await fixture.store.transaction((groups) => groups.saveRunState(id, 'run', { queue: ['a'] }));
    await fixture.store.transaction((groups) => groups.saveRunState(id, 'run', { queue: [] }));
    await fixture.store.transaction((groups) => groups.saveRunState(id, 'other', 1));
    await fixture.store.transaction((groups) => groups.deleteRunState(id, 'other'));
    const states = await fixture.store.read((groups) => [
      groups.readRunState(id, 'run'),
      groups.readRunState(id, 'other'),
    ]);
    expect(states).toEqual([{ queue: [] }, null]);
    expect(fixture.store.revision()).toBe(revision);
    fixture.other((sqlite) => sqlite.exec('DELETE FROM rooms'));
    expect(await fixture.store.read((groups) => groups.readRunState(id, 'run'))).toBeNull();
  });

  it('give the rules what a snapshot is made of', async () => {
    const { id } = await fixture.insert();
    await fixture.append(
      id,
      { content: 'question' },
      ...Array.from({ length: 20 }, () => ({ role: 'assistant' as const, profile: 'writer' })),
      { role: 'assistant', profile: 'default', content: '@user which one?' },
    );
    const group = await fixture.find(id);
    const input = await fixture.store.read((groups) => groups.viewInput(group));
    expect(input.sinceUser).toHaveLength(21);
    expect(storedGroupView(input)).toMatchObject({
      messageCount: 22,
      latestMessage: { content: '@user which one?', profile: 'default' },
      memberPolicies: { default: 'always', writer: 'always' },
      needsUser: true,
      running: false,
    });
    await fixture.append(id, { content: 'the first' });
    const after = await fixture.store.read((groups) => groups.viewInput(group));
    expect(after).toMatchObject({ sinceUser: [], latestMessage: { content: 'the first' } });
  });
});

describe('messages', () => {
  it('are numbered from 0, also after others were taken away', async () => {
    const { id } = await fixture.insert();
    const first = await fixture.append(id, {}, {}, {});
    expect(first.map((message) => message.seq)).toEqual([0, 1, 2]);
    fixture.other((sqlite) => {
      sqlite.exec('DELETE FROM room_messages WHERE seq = 2');
      sqlite.exec("UPDATE room_store_meta SET value = value + 1 WHERE key = 'revision'");
    });
    const [next] = await fixture.append(id, {});
    expect(next?.seq).toBe(3);
    expect(await fixture.find(id)).toMatchObject({ total: 3, live: 3, nextSeq: 4 });
  });

  it('are numbered after the highest that is stored, whatever the group says', async () => {
    const { id } = await fixture.insert();
    await fixture.append(id, {}, {});
    fixture.other((sqlite) => sqlite.exec('UPDATE rooms SET next_seq = 0'));
    expect((await fixture.append(id, {}))[0]?.seq).toBe(2);
  });

  it('cost one insert and one update of the group (G038)', async () => {
    const { id } = await fixture.insert();
    await fixture.append(id, ...Array.from({ length: 40 }, () => ({})));
    fixture.other((sqlite) =>
      sqlite.exec(`
        CREATE TABLE counted(what TEXT);
        CREATE TRIGGER i AFTER INSERT ON room_messages BEGIN INSERT INTO counted VALUES ('insert'); END;
        CREATE TRIGGER u AFTER UPDATE ON room_messages BEGIN INSERT INTO counted VALUES ('update'); END;
        CREATE TRIGGER d AFTER DELETE ON room_messages BEGIN INSERT INTO counted VALUES ('delete'); END;
        CREATE TRIGGER r AFTER UPDATE ON rooms BEGIN INSERT INTO counted VALUES ('group'); END;`),
    );
    await fixture.append(id, { role: 'assistant', profile: 'writer', content: 'the reply' });
    fixture.other((sqlite) => {
      expect(sqlite.prepare('SELECT what FROM counted').pluck().all()).toEqual(['insert', 'group']);
      expect(sqlite.prepare('SELECT COUNT(*) FROM room_messages').pluck().get()).toBe(41);
    });
    const window = await fixture.store.read((groups) => groups.liveWindow(id));
    expect(window.at(-1)?.content).toBe('the reply');
  });

  it('must be followed by the group they change', async () => {
    const group = await fixture.insert();
    const append = fixture.store.transaction((groups) => {
      const current = groups.findGroup(group.id);
      if (current) groups.appendMessage(current, newMessage());
    });
    await expect(append).rejects.toThrow('updateGroup');
    expect((await fixture.find(group.id)).total).toBe(0);
  });

  it('refer to their files until the group goes', async () => {
    const { id } = await fixture.insert();
    const file = {
      fileName: 'a',
      mimeType: 'b',
      kind: 'file',
      status: 'ready',
      mediaId: 'group-a.pdf',
    } as const;
    await fixture.append(id, { attachments: [file] }, { attachments: [file] });
    const media = () => fixture.store.database.all('SELECT media_id FROM ext_media');
    expect(media()).toEqual([{ media_id: 'group-a.pdf' }]);
    fixture.other((sqlite) => sqlite.exec('DELETE FROM rooms'));
    expect(media()).toEqual([]);
  });
});

describe('the revision', () => {
  it('grows by one with each transaction that touches groups, and no other', async () => {
    const { id } = await fixture.insert();
    await fixture.store.transaction((groups) => {
      for (let count = 0; count < 3; count++) {
        const group = groups.findGroup(id);
        if (group) groups.updateGroup(groups.appendMessage(group, newMessage()).group);
      }
    });
    await fixture.store.transaction((groups) => groups.findGroup(id));
    await fixture.store
      .transaction((groups) => {
        groups.insertGroup(newGroup());
        throw new Error('undone');
      })
      .catch((error: unknown) => expect(error).toMatchObject({ message: 'undone' }));
    expect(fixture.store.revision()).toBe(2);
    expect((await fixture.find(id)).rowRevision).toBe(2);
  });

  it('shows that another program wrote: sizes are counted anew before they are used', async () => {
    const { id } = await fixture.insert();
    await fixture.append(id, {}, {}, {});
    fixture.other((sqlite) => {
      sqlite.exec('UPDATE room_messages SET trimmed = 1 WHERE seq = 0');
      sqlite.exec("UPDATE room_store_meta SET value = value + 1 WHERE key = 'revision'");
    });
    expect(await fixture.find(id)).toMatchObject({ total: 3, live: 2 });
    const [added] = await fixture.append(id, {});
    expect(added?.seq).toBe(3);
    expect(await fixture.find(id)).toMatchObject({ total: 4, live: 3 });
    expect(fixture.store.revision()).toBe(6);
  });
});

describe('history', () => {
  const page = (id: string, before: number | null, limit = 50) =>
    fixture.store.read((groups) => groups.historyPage(id, before, limit));
  const seqs = (messages: { seq: number }[]) => [
    messages[0]?.seq,
    messages.at(-1)?.seq,
    messages.length,
  ];

  async function conversation(length: number): Promise<string> {
    const { id } = await fixture.insert();
    await fixture.append(id, ...Array.from({ length }, (_, n) => ({ content: `message-${n}` })));
    return id;
  }

  it('comes in pages, newest first, each oldest first (G011)', async () => {
    const id = await conversation(125);
    const first = await page(id, null);
    expect(seqs(first.messages)).toEqual([75, 124, 50]);
    expect(first).toMatchObject({ hasMore: true, nextSeq: 75, total: 125 });
    const second = await page(id, first.nextSeq);
    expect(seqs(second.messages)).toEqual([25, 74, 50]);
    const third = await page(id, second.nextSeq);
    expect(seqs(third.messages)).toEqual([0, 24, 25]);
    expect(third).toMatchObject({ hasMore: false, nextSeq: null, total: 125 });
  });

  it('goes on where it was when the message at the boundary left the window (G013)', async () => {
    const id = await conversation(125);
    const { nextSeq } = await page(id, null);
    fixture.other((sqlite) => {
      sqlite.exec('UPDATE room_messages SET trimmed = 1 WHERE seq = 75');
      sqlite.exec("UPDATE room_store_meta SET value = value + 1 WHERE key = 'revision'");
    });
    const second = await page(id, nextSeq);
    expect(seqs(second.messages)).toEqual([25, 74, 50]);
    expect(second.hasMore).toBe(true);
  });

  it('of an empty group, and before the first message (X026, X024)', async () => {
    const empty = { messages: [], nextSeq: null, hasMore: false };
    expect(await page((await fixture.insert()).id, null)).toEqual({ ...empty, total: 0 });
    expect(await page(await conversation(3), 0)).toEqual({ ...empty, total: 3 });
  });

  it('neither repeats nor skips while messages are being added', async () => {
    const id = await conversation(60);
    const read: number[] = [];
    for (let before: number | null = null; ; ) {
      const found: Awaited<ReturnType<typeof page>> = await page(id, before, 7);
      read.unshift(...found.messages.map((message) => message.seq));
      await fixture.append(id, {}, {});
      before = found.nextSeq;
      if (before === null) break;
    }
    expect(read).toEqual(Array.from({ length: 60 }, (_, seq) => seq));
  });
});

describe('limits (X095)', () => {
  const limit = { code: 'ROOM_STORE_LIMIT', retryable: false };
  const thumbnail = 'x'.repeat(4 * 1024 * 1024);
  const heavy = newMessage({
    attachments: [{ fileName: 'a', mimeType: 'b', kind: 'image', status: 'ready', thumbnail }],
  });

  it('a message over 4 MiB is refused and undone', async () => {
    const { id } = await fixture.insert();
    await expect(fixture.append(id, heavy)).rejects.toMatchObject(limit);
    expect(await fixture.find(id)).toMatchObject({ total: 0, nextSeq: 0 });
  });

  it('metadata over 256 KiB is refused, but not for what ends a run', async () => {
    const group = await fixture.insert();
    const run = running(0);
    const writer = { state: 'failed' as const, updatedAt: AT, error: 'x'.repeat(262_144) };
    const large = { ...group, run: { ...run, members: { ...run.members, writer } } };
    const write = (unlimited: boolean) =>
      fixture.store.transaction((groups) => groups.updateGroup(large), { unlimited });
    await expect(write(false)).rejects.toMatchObject(limit);
    await write(true);
    expect((await fixture.find(group.id)).run?.members['writer']).toEqual(writer);
  });

  it('a file that is nearly full takes only what ends something', async () => {
    const { id } = await fixture.insert();
    const reserve = 16 * 1024 * 1024;
    const full = new GroupStore(fixture.store.database, reserve + 1);
    const rename = (unlimited: boolean) =>
      full.transaction(
        (groups) => {
          const group = groups.findGroup(id);
          if (group) groups.updateGroup({ ...group, title: 'last words' });
        },
        { unlimited },
      );
    await expect(rename(false)).rejects.toMatchObject(limit);
    await rename(true);
    expect((await fixture.find(id)).title).toBe('last words');
  });
});

it('answers ROOM_STORE_CONFLICT when another process holds the file, with nothing changed', async () => {
  const { id } = await fixture.insert();
  const other = new Sqlite(fixture.file);
  other.exec('BEGIN IMMEDIATE');
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  await expect(fixture.append(id, {})).rejects.toMatchObject({
    code: 'ROOM_STORE_CONFLICT',
    retryable: true,
  });
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(3);
  expect((await fixture.find(id)).total).toBe(0);
  other.close();
  await fixture.append(id, {});
  expect((await fixture.find(id)).total).toBe(1);
});
