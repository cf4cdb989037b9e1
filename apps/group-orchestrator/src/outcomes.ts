import { z } from 'zod';
import type { CommandOutcome } from '@flowly/contract';
import type { GroupSnapshots } from './views/snapshots';

/** Outcomes as they are stored: a group's snapshot is not, it is read when the answer goes out. */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('group'), groupId: z.string(), includeMessages: z.boolean() }),
]);
export type GroupOutcome = z.infer<typeof outcomeSchema>;

/** The answer that a stored outcome stands for, now. @throws ContractError when the group was deleted since */
export async function presentOutcome(
  outcome: unknown,
  hostId: string,
  snapshots: Pick<GroupSnapshots, 'committed'>,
): Promise<CommandOutcome> {
  const stored = outcomeSchema.parse(outcome);
  if (stored.kind === 'done') return { result: { hostId, ok: true } };
  return {
    result: { hostId, room: await snapshots.committed(stored.groupId, stored.includeMessages) },
  };
}
