import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { GroupMessage, GroupMessagePayload } from '@flowly/contract';
import type { GroupStore } from './group-store';
import { openGroupStore } from './open';
import type { GroupRecord, NewGroup } from './records';

/** Test code: a data folder of its own with a group database, for tests on the real file. */
export const AT = '2026-01-02T03:04:05.678Z';

export interface GroupFixture {
  home: string;
  file: string;
  store: GroupStore;
  /** Closes and opens the store again. */
  reopen(): Promise<void>;
  /** Another program's connection to the same file, closed after `work`. */
  other<T>(work: (sqlite: Sqlite.Database) => T): T;
  /** Adds a group. */
  insert(group?: Partial<NewGroup>): Promise<GroupRecord>;
  /** Adds messages to a group, each a commit of its own. */
  append(groupId: string, ...messages: Partial<GroupMessagePayload>[]): Promise<GroupMessage[]>;
  find(groupId: string): Promise<GroupRecord>;
  end(): void;
}

export async function groupFixture(busyMs = 2_000): Promise<GroupFixture> {
  const home = mkdtempSync(join(tmpdir(), 'flowly-groups-'));
  const file = join(home, 'profile-rooms.sqlite3');
  const fixture: GroupFixture = {
    home,
    file,
    store: await openGroupStore({ home, busyMs }),
    async reopen() {
      fixture.store.close();
      fixture.store = await openGroupStore({ home, busyMs });
    },
    other(work) {
      const sqlite = new Sqlite(file, { fileMustExist: true });
      try {
        sqlite.pragma('foreign_keys = ON');
        return work(sqlite);
      } finally {
        sqlite.close();
      }
    },
    insert: (group) => fixture.store.transaction((groups) => groups.insertGroup(newGroup(group))),
    async append(groupId, ...messages) {
      const added: GroupMessage[] = [];
      for (const message of messages) added.push(await appendOne(fixture.store, groupId, message));
      return added;
    },
    async find(groupId) {
      const group = await fixture.store.read((groups) => groups.findGroup(groupId));
      return group ?? missing(groupId);
    },
    end() {
      fixture.store.close();
      rmSync(home, { recursive: true });
    },
  };
  return fixture;
}

export function newGroup(group: Partial<NewGroup> = {}): NewGroup {
  return {
    id: randomUUID(),
    title: 'Council',
    mode: 'panel',
    members: ['default', 'writer'],
    policies: {},
    createdAt: AT,
    ...group,
  };
}

export function newMessage(message: Partial<GroupMessagePayload> = {}): GroupMessagePayload {
  return { id: randomUUID(), role: 'user', content: 'hello', createdAt: AT, ...message };
}

export function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function appendOne(
  store: GroupStore,
  groupId: string,
  message: Partial<GroupMessagePayload>,
): Promise<GroupMessage> {
  return store.transaction((groups) => {
    const before = groups.findGroup(groupId) ?? missing(groupId);
    const added = groups.appendMessage(before, newMessage(message));
    groups.updateGroup(added.group);
    return added.message;
  });
}

function missing(groupId: string): never {
  throw new Error(`There is no group ${groupId}.`);
}
