import { eachByItself } from '@flowly/delivery';
import { faultPoint } from '@flowly/faults';
import { isActive, isRunning, runMember } from '@flowly/groups';
import type { GroupRecord } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { stopRun, withFrozenRun } from '../turns/stop-run';

/** Whether a group concerns a bot that goes. */
export type Concerns = (group: GroupRecord) => boolean;

/** Whether the bot is queued, running or waiting in the group's run. */
export function isAtWork(bot: string): Concerns {
  return ({ run }) => {
    const state = run && isRunning(run) ? runMember(run, bot)?.state : undefined;
    return state !== undefined && isActive(state);
  };
}

/**
 * Stops the running groups that concern a bot before it goes (groups.md §5), each as its own `stop` would. What is
 * stopped already is left alone, so it may be done again.
 * @throws the first failure, when all others are done
 */
export async function stopGroups(orchestrator: Orchestrator, concerns: Concerns): Promise<void> {
  const { store } = orchestrator;
  const running = await store.read((groups) =>
    groups
      .runningGroups()
      .flatMap((id) => groups.findGroup(id) ?? [])
      .filter(concerns),
  );
  await eachByItself(running, async (group) => {
    await withFrozenRun(orchestrator, group, (groups, frozen) => {
      const current = groups.findGroup(group.id);
      if (current && concerns(current)) stopRun(orchestrator, groups, frozen)();
    });
    faultPoint('group-stopped');
  });
}
