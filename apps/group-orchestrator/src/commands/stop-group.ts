import { deriveUuid, type LiveSaid } from '@flowly/bus';
import {
  ContractError,
  groupMethods,
  keptToolCalls,
  parseParams,
  type GroupMessage,
} from '@flowly/contract';
import { decideOnce, type CommandHandler, type Decision } from '@flowly/delivery';
import {
  isActive,
  isRunning,
  moveWatermark,
  speaksWhenStopped,
  stepKeyOf,
  stopped,
  storedContent,
  type StoredRun,
} from '@flowly/groups';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { addAbort } from '../turns/give-step';
import { changeStep, readRunSteps } from '../turns/run-steps';
import { addGroupEvent } from '../views/group-event';

/** What is visible of a step that has no live record. */
const SILENCE: LiveSaid = { text: '', calls: [] };

interface Step {
  member: string;
  stepKey: string;
}

/**
 * `stop` (groups.md §6): freeze what clients see, commit what is visible, order the aborts. A failed commit lets the
 * run go on.
 */
export function stopGroup(orchestrator: Orchestrator): CommandHandler {
  const { store, live } = orchestrator;
  return async (command) => {
    const { roomId } = parseParams(groupMethods['groups.stop'].params, command.params);
    const group = await store.read((groups) => groups.findGroup(roomId));
    if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
    const steps = activeSteps(group);
    const runId = group.run?.id ?? '';
    const stepKeys = steps.map(({ stepKey }) => stepKey);
    const said = steps.length > 0 ? await live.freeze(runId, stepKeys) : [];
    const visible = new Map(stepKeys.map((key, index) => [key, said[index] ?? SILENCE]));
    let goesOn = true;
    try {
      await store.transaction(
        (groups) => {
          decideOnce(store.database, command, () =>
            decideStop(orchestrator, groups, { groupId: roomId, runId, visible }),
          );
          goesOn = isGoing(groups.findGroup(roomId), runId);
        },
        { unlimited: true },
      );
    } finally {
      if (goesOn) await live.unfreeze(runId);
    }
    return 'follows from the commit';
  };
}

/** Whether the run goes on nevertheless: the commit failed, or this stop had its effect before, on an earlier run. */
function isGoing(group: GroupRecord | null, runId: string): boolean {
  return group?.run?.id === runId && isRunning(group.run);
}

/** Members at work and the steps they were given, in member order. */
function activeSteps(group: GroupRecord): Step[] {
  const { run } = group;
  if (run === null || !isRunning(run)) return [];
  return group.members.flatMap((member) => {
    const entry = run.members[member];
    if (!entry || !isActive(entry.state)) return [];
    const stepKey = stepKeyOf(run, member);
    return stepKey === null ? [] : [{ member, stepKey }];
  });
}

function decideStop(
  { store }: Orchestrator,
  groups: GroupTransaction,
  frozen: { groupId: string; runId: string; visible: ReadonlyMap<string, LiveSaid> },
): Decision {
  const group = groups.findGroup(frozen.groupId);
  if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  const steps = group.run?.id === frozen.runId ? activeSteps(group) : [];
  const { run } = group;
  if (run === null || run.id !== frozen.runId || !isRunning(run))
    return { outcome: { kind: 'done' } };
  const at = new Date();
  const { record, appended } = postVisible(groups, { ...group, run }, steps, frozen.visible, at);
  const done = groups.updateGroup({
    ...record,
    run: stopped(record.run ?? run, at.toISOString()),
    updatedAt: at.toISOString(),
  });
  addGroupEvent(
    store,
    groups,
    done,
    { type: 'run-state', ...(appended.length > 0 && { appended }) },
    { closed: steps.map(({ stepKey }) => ({ botId: '', runId: stepKey, groupId: group.id })) },
  );
  return {
    outcome: { kind: 'done' },
    addJobs: () => orderAborts(store, groups, group.id, run.id, steps, at.getTime()),
  };
}

function postVisible(
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  steps: Step[],
  visible: ReadonlyMap<string, LiveSaid>,
  at: Date,
): { record: GroupRecord; appended: GroupMessage[] } {
  const appended: GroupMessage[] = [];
  let record: GroupRecord = group;
  for (const { member, stepKey } of steps) {
    const { text, calls } = visible.get(stepKey) ?? SILENCE;
    const toolCalls = keptToolCalls(calls);
    const entry = record.run?.members[member];
    if (!entry || !speaksWhenStopped(entry.state, text)) continue;
    const added = groups.appendMessage(record, {
      id: deriveUuid(stepKey, 'stopped'),
      role: 'assistant',
      profile: member,
      content: storedContent(text),
      createdAt: at.toISOString(),
      aborted: true,
      ...(toolCalls.length > 0 && { toolCalls }),
      durationMs: Math.max(0, at.getTime() - Date.parse(group.run.startedAt)),
    });
    const boundary = added.group.run?.members[member]?.boundary ?? 0;
    record = {
      ...added.group,
      watermarks: moveWatermark(added.group.watermarks, member, boundary),
    };
    appended.push(added.message);
  }
  return { record, appended };
}

function orderAborts(
  store: Orchestrator['store'],
  groups: GroupTransaction,
  groupId: string,
  runId: string,
  steps: Step[],
  at: number,
): void {
  const state = readRunSteps(groups.readRunState(groupId, runId));
  if (state) {
    const aborting = steps.reduce(
      (current, { stepKey }) => changeStep(current, stepKey, { aborting: true, givenAt: at }),
      state,
    );
    groups.saveRunState(groupId, runId, aborting);
  }
  for (const step of steps) addAbort(store, groupId, runId, step, at);
}
