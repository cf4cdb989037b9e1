import { z } from 'zod';
import { ContractError } from '../errors';
import { groupFilesSchema } from '../group-attachment';
import { groupMessageSchema, groupViewSchema } from '../group';
import { groupIdSchema } from '../ids';
import { absentable, byRule } from '../parse';
import { characters, hasControl, wellFormed } from '../text';
import { DEFAULT_CEILING_MS, LONG_CEILING_MS, methodTable, PREPARE_CEILING_MS } from './method';

/** `null` is not absent here (groups.md, head). */
const includeMessages = z.boolean().default(true);

const pageLimit = z.number().int().min(1).max(100).default(50);

const cursor = byRule((value): string | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.length <= 512) return value;
  throw new ContractError('ROOM_CURSOR_INVALID', 'The history cursor is invalid.');
});

/** Id of an approval or question; that it is open is examined before the decision or answer (groups.md §2). */
const requestId = z
  .string()
  .min(1)
  .refine((id) => characters(id) <= 256, 'at most 256 characters');

/** 1–128 characters without outer white space or control characters. */
const idempotencyKey = z
  .string()
  .min(1)
  .refine(
    (key) => characters(key) <= 128 && key === key.trim() && !hasControl(key),
    'at most 128 characters, no outer white space or control characters',
  )
  .transform(wellFormed);

/** What a group is to be, examined by the rules on definitions once the database lets it. */
const definition = {
  title: z.unknown().optional(),
  members: z.unknown().optional(),
  mode: z.unknown().optional(),
  memberPolicies: z.unknown().optional(),
};

const groupRow = { owner: 'group-orchestrator', ceilingMs: DEFAULT_CEILING_MS } as const;
const withHost = { hostId: z.string() };
const oneGroup = z.object({ ...withHost, room: groupViewSchema });
const maybeReplayed = oneGroup.extend({ replayed: z.literal(true).optional() });
const done = z.object({ ...withHost, ok: z.literal(true) });

/**
 * `profiles.rooms.*` (groups.md §2). Their params are checked by the orchestrator, because some
 * refusals that need the database come before the definition's. So what defines a group is examined
 * by the rules of `@flowly/groups`, after the limit of groups or whether the group is busy.
 */
export const groupMethods = methodTable({
  'groups.list': {
    ...groupRow,
    wire: 'profiles.rooms.list',
    changes: false,
    params: z.object({ includeMessages }),
    result: z.object({ ...withHost, rooms: z.array(groupViewSchema) }),
  },
  'groups.get': {
    ...groupRow,
    wire: 'profiles.rooms.get',
    changes: false,
    params: z.object({ includeMessages, roomId: groupIdSchema }),
    result: oneGroup,
  },
  'groups.history': {
    ...groupRow,
    wire: 'profiles.rooms.history',
    changes: false,
    params: z.object({ roomId: groupIdSchema, limit: absentable(pageLimit), cursor }),
    result: z.object({
      ...withHost,
      roomId: z.string(),
      messages: z.array(groupMessageSchema),
      nextCursor: z.string().nullable(),
      hasMore: z.boolean(),
      totalCount: z.number().int(),
    }),
  },
  'groups.create': {
    ...groupRow,
    wire: 'profiles.rooms.create',
    changes: true,
    params: z.object({
      includeMessages,
      idempotencyKey: absentable(idempotencyKey),
      ...definition,
    }),
    result: maybeReplayed,
  },
  'groups.update': {
    ...groupRow,
    wire: 'profiles.rooms.update',
    changes: true,
    params: z.object({ includeMessages, roomId: groupIdSchema, ...definition }),
    result: oneGroup,
  },
  'groups.delete': {
    ...groupRow,
    wire: 'profiles.rooms.delete',
    changes: true,
    params: z.object({ roomId: groupIdSchema }),
    result: done,
  },
  // Nothing waits for it (wire.md §3), so in the order of calls it counts as a read.
  'groups.prepare': {
    ...groupRow,
    wire: 'profiles.rooms.prepare',
    ceilingMs: PREPARE_CEILING_MS,
    changes: false,
    params: z.object({ includeMessages, roomId: groupIdSchema }),
    result: oneGroup,
  },
  'groups.send': {
    ...groupRow,
    wire: 'profiles.rooms.send',
    ceilingMs: LONG_CEILING_MS,
    changes: true,
    params: z.object({
      includeMessages,
      idempotencyKey: absentable(idempotencyKey),
      roomId: groupIdSchema,
      attachments: groupFilesSchema,
      content: z.unknown().optional(),
    }),
    result: maybeReplayed,
  },
  'groups.stop': {
    ...groupRow,
    wire: 'profiles.rooms.stop',
    changes: true,
    params: z.object({ roomId: groupIdSchema }),
    result: done,
  },
  'groups.import': {
    ...groupRow,
    wire: 'profiles.rooms.import',
    ceilingMs: LONG_CEILING_MS,
    changes: true,
    params: z.object({ rooms: z.unknown().optional() }),
    result: z.object({
      ...withHost,
      ok: z.boolean(),
      imported: z.number().int(),
      existing: z.number().int(),
      conflicts: z.array(z.string()),
    }),
  },
  'groups.approval.resolve': {
    ...groupRow,
    wire: 'profiles.rooms.approval.resolve',
    changes: true,
    params: z.object({ roomId: groupIdSchema, id: requestId, decision: z.unknown().optional() }),
    result: done,
  },
  'groups.clarify.resolve': {
    ...groupRow,
    wire: 'profiles.rooms.clarify.resolve',
    changes: true,
    params: z.object({ roomId: groupIdSchema, id: requestId, answer: z.unknown().optional() }),
    result: done,
  },
  'groups.storage': {
    ...groupRow,
    wire: 'profiles.rooms.storage',
    changes: false,
    params: z.object({}),
    result: z.object({
      ...withHost,
      rooms: z.array(
        z.object({
          roomId: z.string(),
          title: z.string(),
          mediaBytes: z.number().int(),
          overNotice: z.boolean(),
        }),
      ),
      totalBytes: z.number().int(),
      noticeBytes: z.number().int(),
    }),
  },
});
export type GroupMethodName = keyof typeof groupMethods;
