import { z } from 'zod';
import { storedGroupViewSchema, type CommandOutcome } from '@flowly/contract';
import type { Decision } from '@flowly/delivery';
import type { CommittedGroup } from './views/group-event';
import type { GroupSnapshots } from './views/snapshots';

/**
 * Outcomes as they are stored: a group's snapshot is not, it is read when a repeated command is answered. The first
 * answer shows the group as the commit left it, however far its run has come when the answer goes out.
 */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('group'), groupId: z.string(), includeMessages: z.boolean() }),
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

/** The answer that a stored outcome stands for. @throws ContractError when the group was deleted since */
export async function presentOutcome(
  outcome: unknown,
  hostId: string,
  snapshots: Pick<GroupSnapshots, 'now' | 'asCommitted'>,
): Promise<CommandOutcome> {
  const stored = outcomeSchema.parse(outcome);
  if (stored.kind === 'done') return { result: { hostId, ok: true } };
  const room =
    stored.kind === 'group'
      ? await snapshots.now(stored.groupId, stored.includeMessages)
      : await snapshots.asCommitted(stored, stored.includeMessages);
  return { result: { hostId, room } };
}
