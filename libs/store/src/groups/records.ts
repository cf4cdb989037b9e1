import { type GroupMode, groupModeSchema, type MemberPolicy } from '@flowly/contract';
import {
  nameMap,
  readStoredRun,
  readUsage,
  readWatermarks,
  resolvePolicies,
  type StoredRun,
  type StoredUsage,
  type Watermarks,
} from '@flowly/groups';
import { z } from 'zod';
import { parseStored, storedJson } from './stored-json';

/** A group as the database holds it; a value that is changed by making a new one. */
export interface GroupRecord {
  readonly id: string;
  readonly title: string;
  readonly mode: GroupMode;
  readonly members: readonly string[];
  /** Every member's policy. */
  readonly policies: Readonly<Record<string, MemberPolicy>>;
  readonly watermarks: Readonly<Watermarks>;
  /** The newest run. */
  readonly run: StoredRun | null;
  readonly usage: StoredUsage | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** `revision` of the transaction that last wrote the group or its messages. */
  readonly rowRevision: number;
  /** Sequence of the next message. */
  readonly nextSeq: number;
  /** All messages, also those outside the live window. */
  readonly total: number;
  /** Messages in the live window and the sum of their weights. */
  readonly live: number;
  readonly weight: number;
}

/** What a new group is made of. */
export type NewGroup = Pick<
  GroupRecord,
  'id' | 'title' | 'mode' | 'members' | 'policies' | 'createdAt'
>;

/** One row a group; `newest` is the highest stored sequence. */
export const SELECT_GROUPS = `
  SELECT id, title, mode, members_json, watermarks_json, run_json, created_at, updated_at, row_revision,
    next_seq, usage_json, member_policies_json, total, live, weight,
    (SELECT seq FROM room_messages WHERE room_id = rooms.id ORDER BY seq DESC LIMIT 1) AS newest
  FROM rooms JOIN ext_groups ON ext_groups.room_id = rooms.id`;

const count = z.number().int().min(0);
const rowSchema = z.object({
  id: z.string(),
  title: z.string(),
  mode: groupModeSchema.catch('panel'),
  members_json: z.string(),
  watermarks_json: z.string(),
  run_json: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  row_revision: count.catch(0),
  next_seq: count.catch(0),
  usage_json: z.string().nullable().catch(null),
  member_policies_json: z.string().nullable().catch(null),
  total: count,
  live: count,
  weight: count,
  newest: z.number().int().nullable(),
});
const namesSchema = z.array(z.unknown()).catch([]);

/** A row of {@link SELECT_GROUPS}; what is invalid on its own reads as its default (store.md §3). */
export function readGroup(value: unknown): GroupRecord {
  const row = rowSchema.parse(value);
  const members = namesSchema
    .parse(parseStored(row.members_json))
    .filter((name) => typeof name === 'string');
  return {
    id: row.id,
    title: row.title,
    mode: row.mode,
    members,
    policies: resolvePolicies(members, parseStored(row.member_policies_json)),
    watermarks: readWatermarks(members, parseStored(row.watermarks_json)),
    run: readStoredRun(parseStored(row.run_json), members),
    usage: readUsage(parseStored(row.usage_json)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    rowRevision: row.row_revision,
    nextSeq: Math.max(row.next_seq, (row.newest ?? -1) + 1),
    total: row.total,
    live: row.live,
    weight: row.weight,
  };
}

/** The JSON columns of a group. */
export interface GroupColumns {
  members: string;
  watermarks: string;
  run: string | null;
  policies: string;
  usage: string | null;
}

/** Only members have watermarks, policies and a place in the run: strict readers refuse others. */
export function groupColumns(group: GroupRecord): GroupColumns {
  const { members, watermarks, run, policies, usage } = group;
  return {
    members: storedJson(members),
    watermarks: storedJson(readWatermarks(members, watermarks)),
    run: run && storedJson({ ...run, members: onlyMembers(run.members, members) }),
    policies: storedJson(resolvePolicies(members, policies)),
    usage: usage && storedJson(usage),
  };
}

function onlyMembers<T>(map: Record<string, T>, members: readonly string[]): Record<string, T> {
  return nameMap(Object.entries(map).filter(([name]) => members.includes(name)));
}
