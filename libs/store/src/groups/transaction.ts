import { type GroupMessage, type GroupMessagePayload, wellFormed } from '@flowly/contract';
import { faultPoint } from '@flowly/faults';
import { messageWeight, readWatermarks, shiftBoundaries, shiftWatermarks } from '@flowly/groups';
import type { Database } from '../core/database';
import { storablePayload } from './messages';
import { GroupReader } from './reader';
import { groupColumns, type GroupRecord, type NewGroup } from './records';
import { writeDerivedRevision, writeRevision } from './revision';
import { assertMessageFits, assertMetadataFits, assertRoomLeft } from './size-limits';
import { storedJson } from './stored-json';
import { trimStoredWindow } from './window';

export interface TransactionRules {
  /** The `revision` this transaction makes if it touches Flowly's tables. */
  revision: number;
  /** Held to none of the size limits: a stop, a deletion, the end of a member or a run. */
  unlimited: boolean;
  /** Bytes from which on, less a reserve, ordinary writes are refused. */
  fileBytes: number;
}

/**
 * One decision on groups, inside `BEGIN IMMEDIATE`. Read a group here, make the new value, write it
 * with one {@link updateGroup}. Every write may throw ContractError ROOM_STORE_LIMIT.
 */
export class GroupTransaction extends GroupReader {
  private touched = false;
  private readonly unwritten = new Set<string>();

  constructor(
    database: Database,
    private readonly rules: TransactionRules,
  ) {
    super(database);
  }

  insertGroup(group: NewGroup): GroupRecord {
    const record: GroupRecord = {
      ...group,
      title: wellFormed(group.title),
      watermarks: readWatermarks(group.members, null),
      run: null,
      usage: null,
      updatedAt: group.createdAt,
      rowRevision: this.rules.revision,
      nextSeq: 0,
      total: 0,
      live: 0,
      weight: 0,
    };
    const { members, watermarks, policies } = this.fittingColumns(record);
    this.touch();
    this.database.run(
      `INSERT INTO rooms(id, title, mode, members_json, watermarks_json, run_json, created_at, updated_at,
        row_revision, next_seq, usage_json, member_policies_json)
        VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, 0, NULL, ?)`,
      record.id,
      record.title,
      record.mode,
      members,
      watermarks,
      record.createdAt,
      record.updatedAt,
      record.rowRevision,
      policies,
    );
    this.database.run(
      'INSERT INTO ext_groups(room_id, total, live, weight) VALUES (?, 0, 0, 0)',
      record.id,
    );
    return record;
  }

  /**
   * Writes all of a group but its messages, in one statement; returns it with its new `rowRevision`.
   * @throws Error when the value was not read in this transaction and another has written since
   */
  updateGroup(group: GroupRecord): GroupRecord {
    const columns = this.fittingColumns(group);
    this.touch();
    const changed = this.database.run(
      `UPDATE rooms SET title = ?, mode = ?, members_json = ?, watermarks_json = ?, run_json = ?,
        updated_at = ?, row_revision = ?, next_seq = ?, usage_json = ?, member_policies_json = ?
        WHERE id = ? AND row_revision = ?`,
      wellFormed(group.title),
      group.mode,
      columns.members,
      columns.watermarks,
      columns.run,
      group.updatedAt,
      this.rules.revision,
      group.nextSeq,
      columns.usage,
      columns.policies,
      group.id,
      group.rowRevision,
    );
    if (changed === 0) throw new Error('The group was decided on outside of the transaction.');
    this.unwritten.delete(group.id);
    faultPoint('group-stored');
    return { ...group, rowRevision: this.rules.revision };
  }

  /**
   * Adds a message with the next sequence and takes what no longer fits out of the live window. The
   * returned group has the watermarks and boundaries of the new window and must be written with
   * {@link updateGroup} before the transaction ends.
   */
  appendMessage(
    group: GroupRecord,
    payload: GroupMessagePayload,
  ): { group: GroupRecord; message: GroupMessage } {
    const stored = storablePayload(payload);
    const json = storedJson(stored);
    if (!this.rules.unlimited) assertMessageFits(json);
    this.touch();
    const seq = group.nextSeq;
    this.database.run(
      'INSERT INTO room_messages(room_id, seq, message_id, payload_json) VALUES (?, ?, ?, ?)',
      group.id,
      seq,
      stored.id,
      json,
    );
    faultPoint('message-stored');
    this.referToMedia(group.id, stored);
    this.unwritten.add(group.id);
    return { group: this.grown(group, messageWeight(stored)), message: { ...stored, seq } };
  }

  /** Removes a group with all its messages; what of ours refers to it goes with it. */
  deleteGroup(groupId: string): void {
    this.touch();
    this.database.run('DELETE FROM rooms WHERE id = ?', groupId);
  }

  /** Any JSON value; replaces what was saved for this run. */
  saveRunState(groupId: string, runId: string, state: unknown): void {
    this.database.run(
      `INSERT INTO ext_runs(room_id, run_id, state_json) VALUES (?, ?, ?)
        ON CONFLICT(room_id, run_id) DO UPDATE SET state_json = excluded.state_json`,
      groupId,
      runId,
      JSON.stringify(state),
    );
  }

  deleteRunState(groupId: string, runId: string): void {
    this.database.run('DELETE FROM ext_runs WHERE room_id = ? AND run_id = ?', groupId, runId);
  }

  /** Counts the revision up if Flowly's tables were touched; the store calls it before the commit. */
  finish(): void {
    if (this.unwritten.size > 0) throw new Error('A message was added without updateGroup.');
    if (!this.touched) return;
    writeRevision(this.database, this.rules.revision);
    writeDerivedRevision(this.database, this.rules.revision);
  }

  private grown(group: GroupRecord, weight: number): GroupRecord {
    const size = { count: group.live + 1, weight: group.weight + weight };
    const window = trimStoredWindow(this.database, group.id, size);
    this.database.run(
      'UPDATE ext_groups SET total = ?, live = ?, weight = ? WHERE room_id = ?',
      group.total + 1,
      window.count,
      window.weight,
      group.id,
    );
    return {
      ...group,
      nextSeq: group.nextSeq + 1,
      total: group.total + 1,
      live: window.count,
      weight: window.weight,
      watermarks: shiftWatermarks(group.watermarks, window.trimmed),
      run: group.run && shiftBoundaries(group.run, window.trimmed),
    };
  }

  private referToMedia(groupId: string, { attachments }: GroupMessagePayload): void {
    for (const { mediaId } of attachments ?? []) {
      if (mediaId === undefined) continue;
      this.database.run(
        'INSERT OR IGNORE INTO ext_media(media_id, room_id) VALUES (?, ?)',
        mediaId,
        groupId,
      );
    }
  }

  private fittingColumns(group: GroupRecord) {
    const columns = groupColumns(group);
    if (!this.rules.unlimited) {
      const { members, watermarks, run, policies } = columns;
      assertMetadataFits(members, watermarks, run ?? '', policies);
    }
    return columns;
  }

  private touch(): void {
    if (!this.touched && !this.rules.unlimited) assertRoomLeft(this.database, this.rules.fileBytes);
    this.touched = true;
  }
}
