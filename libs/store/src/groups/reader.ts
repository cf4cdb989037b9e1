import { ContractError, type GroupMessage } from '@flowly/contract';
import type { StoredGroup } from '@flowly/groups';
import { z } from 'zod';
import type { Database } from '../core/database';
import { isReferredTo, mediaInMessages, unsharedMedia } from './media-references';
import { MESSAGE_COLUMNS, readMessage } from './messages';
import { type GroupRecord, readGroup, SELECT_GROUPS } from './records';
import { readRevision } from './revision';
import { FROM_WINDOW } from './window';

/** A page of a group's history. */
export interface GroupHistoryPage {
  /** Oldest first. */
  messages: GroupMessage[];
  /** The boundary of the next page; null at the start of the history. */
  nextSeq: number | null;
  hasMore: boolean;
  /** All messages of the group. */
  total: number;
}

const idSchema = z.object({ id: z.string() });
const revisionSchema = idSchema.extend({ row_revision: z.number().int().min(0).catch(0) });
const totalSchema = z.object({ total: z.number().int() });
const stateSchema = z.object({ state_json: z.string() });
const savedStateSchema = stateSchema.extend({ room_id: z.string(), run_id: z.string() });

/** Read together to find the newest message of the user; a turn of all members fits. */
const SINCE_USER_CHUNK = 8;

/**
 * Reads of the group database, all of one consistent state: inside `GroupStore.read` or a
 * transaction. Times are ISO strings as stored; `seq` numbers the messages of a group from 0.
 */
export class GroupReader {
  constructor(protected readonly database: Database) {}

  revision(): number {
    return readRevision(this.database);
  }

  findGroup(groupId: string): GroupRecord | null {
    const row = this.database.get(`${SELECT_GROUPS} WHERE id = ?`, groupId);
    return row === undefined ? null : readGroup(row);
  }

  /** Newest `updatedAt` first. */
  listGroups(): GroupRecord[] {
    return this.database.all(`${SELECT_GROUPS} ORDER BY updated_at DESC, id`).map(readGroup);
  }

  /** As {@link listGroups}, only with the revision that says whether a group is still as it was read. */
  groupRevisions(): { id: string; rowRevision: number }[] {
    return this.database
      .all(
        `SELECT id, row_revision FROM rooms JOIN ext_groups ON ext_groups.room_id = rooms.id
          ORDER BY updated_at DESC, id`,
      )
      .map((row) => revisionSchema.parse(row))
      .map((row) => ({ id: row.id, rowRevision: row.row_revision }));
  }

  countGroups(): number {
    const row = this.database.get('SELECT COUNT(*) AS total FROM rooms');
    return totalSchema.parse(row).total;
  }

  /** Ids of the groups whose newest run is going. */
  runningGroups(): string[] {
    return this.database
      .all(
        `SELECT id FROM rooms WHERE run_json IS NOT NULL
          AND iif(json_valid(run_json), json_extract(run_json, '$.state'), NULL) = 'running'`,
      )
      .map((row) => idSchema.parse(row).id);
  }

  /** Oldest first. @throws ContractError ROOM_STORE_INVALID */
  liveWindow(groupId: string): GroupMessage[] {
    return this.database
      .all(`SELECT ${MESSAGE_COLUMNS} ${FROM_WINDOW} ORDER BY seq`, groupId)
      .map(windowMessage);
  }

  /**
   * The newest messages of the live window, oldest first; those after a watermark w are the newest
   * `live - w`. @throws ContractError ROOM_STORE_INVALID
   */
  newestMessages(groupId: string, limit: number): GroupMessage[] {
    return this.newestBefore(groupId, Number.MAX_SAFE_INTEGER, limit).reverse();
  }

  /** @throws ContractError ROOM_STORE_INVALID */
  latestMessage(groupId: string): GroupMessage | null {
    return this.newestMessages(groupId, 1)[0] ?? null;
  }

  /** The newest message of the user in the live window; a turn of all members is not far from it. */
  newestUserMessage(groupId: string): GroupMessage | null {
    // When a run begins it is the newest of all.
    let chunk = this.newestBefore(groupId, Number.MAX_SAFE_INTEGER, 1);
    for (;;) {
      const user = chunk.find((message) => message.role === 'user');
      const oldest = chunk.at(-1);
      if (user || !oldest) return user ?? null;
      chunk = this.newestBefore(groupId, oldest.seq, SINCE_USER_CHUNK);
    }
  }

  /** What was said in the live window after the user's newest message, oldest first. */
  messagesSinceUser(groupId: string): GroupMessage[] {
    const since: GroupMessage[] = [];
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const chunk = this.newestBefore(groupId, before, SINCE_USER_CHUNK);
      const user = chunk.findIndex((message) => message.role === 'user');
      since.push(...(user === -1 ? chunk : chunk.slice(0, user)));
      const oldest = chunk.at(-1);
      if (user !== -1 || oldest === undefined) return since.reverse();
      before = oldest.seq;
    }
  }

  /**
   * The newest `limit` messages before a sequence, in or out of the live window; null = from the
   * newest. An index descent, whatever the depth (groups.md §11).
   * @throws ContractError ROOM_HISTORY_UNAVAILABLE
   */
  historyPage(groupId: string, before: number | null, limit: number): GroupHistoryPage {
    try {
      return this.readPage(groupId, before ?? Number.MAX_SAFE_INTEGER, limit);
    } catch (error) {
      throw new ContractError(
        'ROOM_HISTORY_UNAVAILABLE',
        'This part of the history cannot be read.',
        {
          cause: error,
        },
      );
    }
  }

  /** The oldest messages of a group, in or out of the live window; one that cannot be read is null. */
  firstMessages(groupId: string, limit: number): (GroupMessage | null)[] {
    return this.database
      .all(
        `SELECT ${MESSAGE_COLUMNS} FROM room_messages WHERE room_id = ? ORDER BY seq LIMIT ?`,
        groupId,
        limit,
      )
      .map(readMessage);
  }

  /** What the next step of a run needs, as it was saved; null if nothing is. */
  readRunState(groupId: string, runId: string): unknown {
    const row = this.database.get(
      'SELECT state_json FROM ext_runs WHERE room_id = ? AND run_id = ?',
      groupId,
      runId,
    );
    return row === undefined ? null : JSON.parse(stateSchema.parse(row).state_json);
  }

  /** Everything saved for runs that something is still awaited of; few, as rows go with their runs. */
  savedRunStates(): { groupId: string; runId: string; state: unknown }[] {
    return this.database
      .all('SELECT room_id, run_id, state_json FROM ext_runs')
      .map((row) => savedStateSchema.parse(row))
      .map((row) => ({
        groupId: row.room_id,
        runId: row.run_id,
        state: JSON.parse(row.state_json),
      }));
  }

  /** Whether a message of any group has this file. */
  isReferredTo(mediaId: string): boolean {
    return isReferredTo(this.database, mediaId);
  }

  /** The files of a group's messages that no message of another group has. */
  unsharedMedia(groupId: string): string[] {
    return unsharedMedia(this.database, groupId);
  }

  /** The files of groups that any message names, by the messages themselves; reads all of them. */
  mediaInMessages(): Set<string> {
    return mediaInMessages(this.database);
  }

  /** What `storedGroupView` of the rules takes. */
  viewInput(group: GroupRecord): StoredGroup {
    const sinceUser = this.messagesSinceUser(group.id);
    return {
      ...group,
      messageCount: group.total,
      latestMessage: sinceUser.at(-1) ?? this.latestMessage(group.id),
      sinceUser,
    };
  }

  /** Newest first. */
  private newestBefore(groupId: string, before: number, limit: number): GroupMessage[] {
    return this.database
      .all(
        `SELECT ${MESSAGE_COLUMNS} ${FROM_WINDOW} AND seq < ? ORDER BY seq DESC LIMIT ?`,
        groupId,
        before,
        limit,
      )
      .map(windowMessage);
  }

  private readPage(groupId: string, before: number, limit: number): GroupHistoryPage {
    const rows = this.database.all(
      `SELECT ${MESSAGE_COLUMNS} FROM room_messages
        WHERE room_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      groupId,
      before,
      limit + 1,
    );
    const hasMore = rows.length > limit;
    const messages = rows.slice(0, limit).map(historyMessage).reverse();
    const total = this.database.get('SELECT total FROM ext_groups WHERE room_id = ?', groupId);
    return {
      messages,
      nextSeq: hasMore ? (messages[0]?.seq ?? null) : null,
      hasMore,
      total: total === undefined ? 0 : totalSchema.parse(total).total,
    };
  }
}

function windowMessage(row: unknown): GroupMessage {
  const message = readMessage(row);
  if (message) return message;
  throw new ContractError('ROOM_STORE_INVALID', 'A message of the live window cannot be read.');
}

function historyMessage(row: unknown): GroupMessage {
  const message = readMessage(row);
  if (message) return message;
  throw new Error('A stored message is not a JSON object.');
}
