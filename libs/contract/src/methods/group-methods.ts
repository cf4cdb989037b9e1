import { z } from 'zod';
import { idempotencyKeySchema } from '../chat';
import { ContractError } from '../errors';
import { groupFilesSchema } from '../group-attachment';
import { groupMessageSchema, groupViewSchema } from '../group';
import { groupIdSchema } from '../ids';
import { absentable, byRule } from '../parse';
import { DEFAULT_CEILING_MS, LONG_CEILING_MS, methodTable } from './method';

/** `null` is not absent here (groups.md, head). */
const includeMessages = z.boolean().default(true);

const pageLimit = z.number().int().min(1).max(100).default(50);

const cursor = byRule((value): string | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.length <= 512) return value;
  throw new ContractError('ROOM_CURSOR_INVALID', 'The history cursor is invalid.');
});

const groupRow = { owner: 'group-orchestrator', ceilingMs: DEFAULT_CEILING_MS } as const;
const withHost = { hostId: z.string() };
const oneGroup = z.object({ ...withHost, room: groupViewSchema });
const done = z.object({ ...withHost, ok: z.literal(true) });

/**
 * `profiles.rooms.*` (groups.md §2). Their params are checked by the orchestrator, because some
 * refusals that need the database come before the definition's. What `create` defines is examined
 * after the limit of groups, so the rules on it are applied by `groupDefinition`.
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
      idempotencyKey: absentable(idempotencyKeySchema),
      title: z.unknown().optional(),
      members: z.unknown().optional(),
      mode: z.unknown().optional(),
      memberPolicies: z.unknown().optional(),
    }),
    result: oneGroup,
  },
  'groups.send': {
    ...groupRow,
    wire: 'profiles.rooms.send',
    ceilingMs: LONG_CEILING_MS,
    changes: true,
    params: z.object({
      includeMessages,
      idempotencyKey: absentable(idempotencyKeySchema),
      roomId: groupIdSchema,
      attachments: groupFilesSchema,
      content: z.unknown().optional(),
    }),
    result: oneGroup,
  },
  'groups.stop': {
    ...groupRow,
    wire: 'profiles.rooms.stop',
    changes: true,
    params: z.object({ roomId: groupIdSchema }),
    result: done,
  },
});
export type GroupMethodName = keyof typeof groupMethods;
