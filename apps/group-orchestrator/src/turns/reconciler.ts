import { faultPoint } from '@flowly/faults';
import { isRunning, stranded, turnFailures, type StoredRun } from '@flowly/groups';
import { eachByItself } from '@flowly/delivery';
import type { GroupRecord, GroupTransaction } from '@flowly/store';
import type { Orchestrator } from '../orchestrator';
import { repeatRemovals } from '../sessions/repeat-removals';
import { addGroupEvent } from '../views/group-event';
import { endMember } from './end-member';
import { addAbort, addStep, membersOf } from './give-step';
import { allEnded, changeStep, readRunSteps, type RunSteps, type RunStepState } from './run-steps';

/** How long a step or an abort is left alone before it is given again, in rounds of the reconciler. */
const REPEAT_ROUNDS = 1.5;

/**
 * Takes up what a dead process left (design rule 1): every running group has someone who drives it, because its open
 * steps are given again until their bots have told what became of them (groups.md §5, crash and takeover).
 */
export async function reconcileGroups(orchestrator: Orchestrator): Promise<void> {
  const { store, relay } = orchestrator;
  relay.kick();
  const due = await store.read((groups) => ({
    running: groups.runningGroups(),
    aborting: groups
      .savedRunStates()
      .filter(({ state }) => hasAborts(readRunSteps(state)))
      .map(({ groupId, runId }) => ({ groupId, runId })),
  }));
  await eachByItself(due.running, (groupId) =>
    store.transaction((groups) => driveOn(orchestrator, groups, groupId), {
      unlimited: true,
    }),
  );
  await eachByItself(due.aborting, ({ groupId, runId }) =>
    store.transaction((groups) => repeatAborts(orchestrator, groups, groupId, runId)),
  );
  await repeatRemovals(orchestrator);
}

function driveOn(orchestrator: Orchestrator, groups: GroupTransaction, groupId: string): void {
  const group = groups.findGroup(groupId);
  if (!group?.run || !isRunning(group.run)) return;
  const running = { ...group, run: group.run };
  const steps = readRunSteps(groups.readRunState(groupId, group.run.id));
  if (!steps || allEnded(steps)) {
    strand(orchestrator, groups, running);
    return;
  }
  const now = Date.now();
  let current: GroupRecord & { run: StoredRun } = running;
  for (const [stepKey, step] of Object.entries(steps.steps)) {
    if (step.ended || step.aborting) continue;
    const { at, failure } = deadlineOf(orchestrator, step);
    const isDue = isOld(orchestrator, step, now);
    // Asked once more when its time is over: what it came to before counts, however late it is heard.
    if (step.givenAt > at) {
      if (isDue) current = fail(orchestrator, groups, current, { stepKey, step }, failure, now);
    } else if (isDue || now > at) {
      giveAgain(orchestrator, groups, current, steps, { stepKey, step }, now);
    }
  }
}

function isOld({ limits }: Orchestrator, step: RunStepState, now: number): boolean {
  return now - step.givenAt >= limits.reconcileMs * REPEAT_ROUNDS;
}

/** A running run that another program wrote: nobody can drive it (groups.md §5). */
function strand(
  { store }: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
): void {
  const at = new Date().toISOString();
  const stored = groups.updateGroup({ ...group, run: stranded(group.run, at), updatedAt: at });
  addGroupEvent(store, groups, stored, { type: 'run-state' });
}

/** When the step's time is over (Unix ms), and what it has failed by then. */
function deadlineOf({ limits, memberTimeoutMs }: Orchestrator, step: RunStepState) {
  return step.acceptedAt === null
    ? { at: step.firstGivenAt + limits.acceptMs, failure: turnFailures.notStarted }
    : { at: step.acceptedAt + memberTimeoutMs, failure: turnFailures.tooLong };
}

function fail(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  { stepKey, step }: { stepKey: string; step: RunStepState },
  failure: (typeof turnFailures)['notStarted'] | (typeof turnFailures)['tooLong'],
  now: number,
): GroupRecord & { run: StoredRun } {
  const at = new Date(now).toISOString();
  const { store } = orchestrator;
  const stored = endMember(orchestrator, groups, group, {
    member: step.member,
    stepKey,
    end: failure,
    at,
    ...(failure === turnFailures.notStarted && {
      readiness: { state: 'error', updatedAt: at, error: failure.text },
    }),
  });
  change(groups, group.id, group.run.id, stepKey, { aborting: true, givenAt: now });
  addAbort(store, group.id, group.run.id, { member: step.member, stepKey }, now);
  return { ...stored, run: stored.run ?? group.run };
}

function giveAgain(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  group: GroupRecord & { run: StoredRun },
  { responders }: RunSteps,
  { stepKey, step }: { stepKey: string; step: RunStepState },
  now: number,
): void {
  change(groups, group.id, group.run.id, stepKey, { givenAt: now });
  const running = { group, responders, members: membersOf(orchestrator, group) };
  addStep(orchestrator.store, groups, running, { member: step.member, stepKey }, now);
  faultPoint('step-given-again');
}

/** Aborts are ordered again until each turn has ended (groups.md §6.3). */
function repeatAborts(
  orchestrator: Orchestrator,
  groups: GroupTransaction,
  groupId: string,
  runId: string,
): void {
  const steps = readRunSteps(groups.readRunState(groupId, runId));
  if (!steps) return;
  const now = Date.now();
  for (const [stepKey, step] of Object.entries(steps.steps)) {
    if (!step.aborting || !isOld(orchestrator, step, now)) continue;
    change(groups, groupId, runId, stepKey, { givenAt: now });
    addAbort(orchestrator.store, groupId, runId, { member: step.member, stepKey }, now);
  }
}

function change(
  groups: GroupTransaction,
  groupId: string,
  runId: string,
  stepKey: string,
  step: Partial<RunStepState>,
): void {
  const steps = readRunSteps(groups.readRunState(groupId, runId));
  if (steps) groups.saveRunState(groupId, runId, changeStep(steps, stepKey, step));
}

function hasAborts(steps: RunSteps | null): boolean {
  return steps !== null && !allEnded(steps) && Object.values(steps.steps).some((s) => s.aborting);
}
