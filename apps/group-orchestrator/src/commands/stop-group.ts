import { ContractError, groupMethods, parseParams } from '@flowly/contract';
import { decideOnce, type CommandHandler } from '@flowly/delivery';
import type { Orchestrator } from '../orchestrator';
import { stopRun, withFrozenRun } from '../turns/stop-run';

/**
 * `stop` (groups.md §6): freeze what clients see, commit what is visible, order the aborts. A failed commit lets the
 * run go on.
 */
export function stopGroup(orchestrator: Orchestrator): CommandHandler {
  const { store } = orchestrator;
  return async (command) => {
    const { roomId } = parseParams(groupMethods['groups.stop'].params, command.params);
    const group = await store.read((groups) => groups.findGroup(roomId));
    if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
    await withFrozenRun(orchestrator, group, (groups, frozen) =>
      decideOnce(store.database, command, () => ({
        outcome: { kind: 'done' },
        addJobs: stopRun(orchestrator, groups, frozen),
      })),
    );
    return 'follows from the commit';
  };
}
