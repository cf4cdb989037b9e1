import { randomUUID } from 'node:crypto';
import {
  ended,
  foldUsage,
  messageWeight,
  newPanelRun,
  settled,
  windowLength,
  type StoredUsage,
} from '@flowly/groups';
import { openGroupStore, type GroupStore } from '@flowly/store';

/** A group that has been talked in for long. */
export interface FilledGroup {
  id: string;
  title: string;
  members: readonly string[];
  messages: number;
  /** Characters of each message; 120 when none are given. */
  length?: number;
}

const BUSY_MS = 10_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const LENGTH = 120;
/** More than the indexes of a million messages take, so that building them does not go through the disk. */
const CACHE_KIB = 512 * 1024;

/**
 * Writes groups with their messages straight into the group database of a data folder whose services do not run: what
 * the product would have written, in bulk.
 */
export async function fillGroups(home: string, groups: readonly FilledGroup[]): Promise<void> {
  const store = await openGroupStore({ home, busyMs: BUSY_MS });
  try {
    store.database.pragma(`cache_size = -${CACHE_KIB}`);
    for (const group of groups) await fill(store, group);
  } finally {
    store.close();
  }
}

async function fill(store: GroupStore, group: FilledGroup) {
  const { id, title, members, messages } = group;
  const policies = Object.fromEntries(members.map((name) => [name, 'mentioned' as const]));
  await store.transaction(
    (groups) => {
      const [createdAt, updatedAt] = [timeOf(0), timeOf(messages)];
      const inserted = groups.insertGroup({
        id,
        title,
        mode: 'panel',
        members,
        policies,
        createdAt,
      });
      const { live, weight } = addMessages(store, group);
      store.database.run(
        'UPDATE ext_groups SET total = ?, live = ?, weight = ? WHERE room_id = ?',
        messages,
        live,
        weight,
        id,
      );
      const watermarks = Object.fromEntries(members.map((name) => [name, live]));
      const run = lastRun(members, live, updatedAt);
      const usage = usageOf(members);
      const size = { nextSeq: messages, total: messages, live, weight };
      groups.updateGroup({ ...inserted, ...size, watermarks, run, usage, updatedAt });
    },
    { unlimited: true },
  );
}

/** @returns the size of the live window */
function addMessages({ database }: GroupStore, group: Omit<FilledGroup, 'title'>) {
  const { id, members, messages, length = LENGTH } = group;
  const each = messageWeight({ content: contentOf(0, length) });
  const live = windowLength(Array.from({ length: Math.min(messages, 1_000) }, () => each));
  for (let seq = 0; seq < messages; seq++) {
    const messageId = randomUUID();
    database.run(
      'INSERT INTO room_messages(room_id, seq, message_id, payload_json, trimmed) VALUES (?, ?, ?, ?, ?)',
      id,
      seq,
      messageId,
      payloadJson(members, messageId, seq, length),
      seq < messages - live ? 1 : 0,
    );
  }
  return { live, weight: live * each };
}

/** The user and the members by turns. Keys are in the order of the format's canonical JSON. */
function payloadJson(members: readonly string[], id: string, seq: number, length: number): string {
  const content = contentOf(seq, length);
  const createdAt = timeOf(seq);
  const profile = members[(seq % (members.length + 1)) - 1];
  return JSON.stringify(
    profile === undefined
      ? { content, createdAt, id, role: 'user' }
      : { content, createdAt, durationMs: 1_200, id, profile, role: 'assistant' },
  );
}

function contentOf(seq: number, length: number): string {
  return `Message ${seq} `.padEnd(length, '.');
}

function timeOf(seq: number): string {
  return new Date(FIRST_AT + seq * 1_000).toISOString();
}

function lastRun(responders: readonly string[], boundary: number, at: string) {
  const going = newPanelRun({ id: randomUUID(), responders, at, boundary });
  const end = { kind: 'pass' } as const;
  return settled(
    responders.reduce((run, member) => ended(run, member, end, at), going),
    at,
  );
}

function usageOf(members: readonly string[]): StoredUsage | null {
  const usage = { prompt_tokens: 90_000, completion_tokens: 4_000, cache_read_tokens: 60_000 };
  return members.reduce<StoredUsage | null>(
    (stored, member) => foldUsage(stored, { member, model: 'gpt-5.4-mini', usage }),
    null,
  );
}
