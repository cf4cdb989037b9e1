import { ContractError, type GroupMessage } from '@flowly/contract';
import type { StoredGroup } from '@flowly/groups';
import { z } from 'zod';
import type { Database } from '../core/database';
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
