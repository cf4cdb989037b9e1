import { deriveUuid, type LiveSaid } from '@flowly/bus';
import { ContractError, keptToolCalls, type GroupMessage } from '@flowly/contract';
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
import { addGroupEvent } from '../views/group-event';
import { addAbort } from './give-step';
import { changeStep, readRunSteps, type Step } from './run-steps';

/** What is visible of a step that has no live record. */
const SILENCE: LiveSaid = { text: '', calls: [] };

/** A run whose live records take nothing more, with what is visible of each step by its key. */
export interface FrozenRun {
  groupId: string;
  runId: string;
  visible: ReadonlyMap<string, LiveSaid>;
}

/**
 * Freezes what clients see of a group's run for one transaction that may stop it (groups.md §6). When that fails or
 * does not stop it, the run goes on.
 * @param group as it was read; the transaction finds it as it is then
 */
export async function withFrozenRun(
  { store, live }: Orchestrator,
  group: GroupRecord,
  decide: (groups: GroupTransaction, frozen: FrozenRun) => void,
): Promise<void> {
  const runId = group.run?.id ?? '';
  const stepKeys = activeSteps(group).map(({ stepKey }) => stepKey);
  const said = stepKeys.length > 0 ? await live.freeze(runId, stepKeys) : [];
  const visible = new Map(stepKeys.map((key, index) => [key, said[index] ?? SILENCE]));
  let goesOn = true;
  try {
    await store.transaction(
      (groups) => {
        decide(groups, { groupId: group.id, runId, visible });
        goesOn = isGoing(groups.findGroup(group.id), runId);
      },
      { unlimited: true },
    );
  } finally {
    if (goesOn) await live.unfreeze(runId);
  }
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

/**
 * Stops the frozen run, if it still goes: posts what is visible, tells of it. Inside the transaction.
 * @returns what orders the aborts that follow from it
 * @throws ContractError ROOM_NOT_FOUND
 */
export function stopRun(
  { store }: Orchestrator,
  groups: GroupTransaction,
  frozen: FrozenRun,
): () => void {
  const group = groups.findGroup(frozen.groupId);
  if (!group) throw new ContractError('ROOM_NOT_FOUND', 'There is no such group.');
  const steps = group.run?.id === frozen.runId ? activeSteps(group) : [];
  const { run } = group;
  if (run === null || run.id !== frozen.runId || !isRunning(run)) return () => undefined;
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
  return () => orderAborts(store, groups, group.id, run.id, steps, at.getTime());
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
