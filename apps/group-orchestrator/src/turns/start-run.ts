import {
  newCouncilRun,
  newPanelRun,
  panelStepKey,
  type Responders,
  type StoredRun,
} from '@flowly/groups';
import type { GroupReader, GroupRecord } from '@flowly/store';
import { councilTurn } from './council-turn';
import { newRunSteps, withStep, type RunSteps, type Step } from './run-steps';

/** A run that begins, and the steps that are given at once: all of a panel, the first of a council. */
export interface StartedRun {
  run: StoredRun;
  steps: RunSteps;
  given: Step[];
}

/** The run that a message starts, which is the group's newest already; null when nobody is to answer (groups.md §3.6). */
export function startRun(
  groups: GroupReader,
  group: GroupRecord,
  id: string,
  calls: Responders,
  at: Date,
): StartedRun | null {
  if (calls.responders.length === 0) return null;
  return group.mode === 'panel'
    ? startPanel(group, id, calls, at)
    : startCouncil(groups, group, id, calls, at);
}

function startPanel(group: GroupRecord, id: string, calls: Responders, at: Date): StartedRun {
  const { responders } = calls;
  const run = newPanelRun({ id, responders, at: at.toISOString(), boundary: group.live });
  const given = responders.map((member) => ({ member, stepKey: panelStepKey(id, member) }));
  const steps = given.reduce(
    (state, step) => withStep(state, step, at.getTime()),
    newRunSteps(calls),
  );
  return { run, steps, given };
}

function startCouncil(
  groups: GroupReader,
  group: GroupRecord,
  id: string,
  calls: Responders,
  at: Date,
): StartedRun {
  const { responders } = calls;
  const run = newCouncilRun({ id, responders, at: at.toISOString() });
  const plan = { ...newRunSteps(calls), queue: responders };
  const { step, ...first } = councilTurn(groups, { ...group, run }, plan, at);
  return { ...first, given: step ? [step] : [] };
}
