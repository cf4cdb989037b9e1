import { z } from 'zod';
import { ContractError, storedGroupViewSchema, type CommandOutcome } from '@flowly/contract';
import type { Decision } from '@flowly/delivery';
import type { CommittedGroup } from './views/group-event';
import type { GroupSnapshots } from './views/snapshots';

/**
 * Outcomes as they are stored: a group's snapshot is not, it is read when a repeated command is answered. The first
 * answer shows the group as the commit left it, however far its run has come when the answer goes out.
 */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('request closed') }),
  z.object({
    kind: z.literal('group'),
    groupId: z.string(),
    includeMessages: z.boolean(),
    /** A key said that it was done before, by another call. */
    replayed: z.literal(true).optional(),
  }),
  z.object({
    kind: z.literal('imported'),
    ok: z.boolean(),
    imported: z.number().int(),
    existing: z.number().int(),
    conflicts: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('changed group'),
    view: storedGroupViewSchema,
    shown: z.array(z.object({ member: z.string(), stepKey: z.string() })),
    nextSeq: z.number().int(),
    includeMessages: z.boolean(),
  }),
]);

/** The decision of a command that answers with the group it changed. */
export function changedGroup(committed: CommittedGroup, includeMessages: boolean): Decision {
  return {
    outcome: { kind: 'group', groupId: committed.view.id, includeMessages },
    answer: { kind: 'changed group', ...committed, includeMessages },
  };
}

/** The decision of a command that an idempotency key says was done before: the group as it is now. */
export function replayedGroup(groupId: string, includeMessages: boolean): Decision {
  return { outcome: { kind: 'group', groupId, includeMessages, replayed: true } };
}

/** Nobody waits for this answer or decision, or not any more (groups.md §7). */
export function requestIsClosed(): ContractError {
  return new ContractError('ROOM_REQUEST_CLOSED', 'This request is no longer open.');
}

/** The answer that a stored outcome stands for. @throws ContractError when the group was deleted since */
export async function presentOutcome(
  outcome: unknown,
  hostId: string,
  snapshots: Pick<GroupSnapshots, 'now' | 'asCommitted'>,
): Promise<CommandOutcome> {
  const stored = outcomeSchema.parse(outcome);
  if (stored.kind === 'done') return { result: { hostId, ok: true } };
  if (stored.kind === 'request closed') return { error: requestIsClosed().toBody() };
  if (stored.kind === 'imported') {
    const { kind: _, ...counts } = stored;
    return { result: { hostId, ...counts } };
  }
  if (stored.kind === 'changed group') {
    const room = await snapshots.asCommitted(stored, stored.includeMessages);
    return { result: { hostId, room } };
  }
  const room = await snapshots.now(stored.groupId, stored.includeMessages);
  return { result: { hostId, room, ...(stored.replayed && { replayed: true }) } };
}
