import type { Attention, MemberRunState } from '@flowly/contract';
import { nameMap } from './name-map';
import {
  councilStepKey,
  isActive,
  isRunning,
  openRequestOf,
  runMember,
  type StoredRun,
  type StoredRunMember,
} from './run';
import { INTERRUPTED_TEXT, type Terminal, type TurnEnd } from './turn-end';

/**
 * How a run changes (groups.md §5, §6). Every transition returns a new run, or the very same object when it changes
 * nothing. Times are ISO strings.
 */

/** A panel that asks everybody at once, each with the same snapshot. */
export function newPanelRun(start: {
  id: string;
  responders: readonly string[];
  at: string;
  /** Length of the live window with the user's message. */
  boundary: number;
}): StoredRun {
  return newRun('panel', start, { boundary: start.boundary });
}

/** A council before its first turn; see {@link turnGiven}. */
export function newCouncilRun(start: {
  id: string;
  responders: readonly string[];
  at: string;
}): StoredRun {
  return newRun('council', start, {});
}

/** It is this member's turn, whether it has spoken in this council before or is called by another now. */
export function turnGiven(
  run: StoredRun,
  turn: { member: string; round: number; turn: number; boundary: number; at: string },
): StoredRun {
  const { member, round, boundary, at } = turn;
  const entry: StoredRunMember = {
    state: 'queued',
    updatedAt: at,
    error: '',
    boundary,
    gatewayRunId: councilStepKey(run.id, round, turn.turn, member),
  };
  const members = nameMap([...Object.entries(run.members), [member, entry]]);
  return { ...run, round, turnCount: turn.turn, members };
}

/** Members that had nothing new to read in a council: whoever has not spoken yet has had its say. */
export function turnsSkipped(run: StoredRun, members: readonly string[], at: string): StoredRun {
  return mapMembers(run, (entry, name) =>
    members.includes(name) && entry.state === 'queued'
      ? { ...entry, state: 'completed', updatedAt: at }
      : entry,
  );
}

/** The bot has taken the step; only a queued member starts by it. */
export function accepted(
  run: StoredRun,
  member: string,
  { gatewayRunId, at }: { gatewayRunId: string; at: string },
): StoredRun {
  if (runMember(run, member)?.state !== 'queued') return run;
  return withMember(run, member, { state: 'running', updatedAt: at, gatewayRunId });
}

/**
 * The member's turn is over. The first end counts, also before the acceptance; the run itself still shows
 * as running until {@link settled}, as the member's own event does.
 */
export function ended(run: StoredRun, member: string, end: TurnEnd, at: string): StoredRun {
  const entry = runMember(run, member);
  if (!isRunning(run) || !entry || !isActive(entry.state)) return run;
  return withMember(withoutRequest(run, member), member, { ...outcome(end), updatedAt: at });
}

/** The member waits for the user until its request is closed; one that has not begun or has ended does not. */
export function requestOpened(run: StoredRun, attention: Attention, at: string): StoredRun {
  const { profile, id } = attention;
  const entry = runMember(run, profile);
  const isAtWork = entry?.state === 'running' || entry?.state === 'needs_user';
  if (!isRunning(run) || !isAtWork || openRequestOf(run, profile)?.id === id) return run;
  return withMember(run, profile, { state: 'needs_user', updatedAt: at, attention });
}

/** The member goes on: its request was answered somewhere or has expired. */
export function requestClosed(
  run: StoredRun,
  { member, id }: { member: string; id: string },
  at: string,
): StoredRun {
  if (!isRunning(run) || openRequestOf(run, member)?.id !== id) return run;
  return withMember(withoutRequest(run, member), member, { state: 'running', updatedAt: at });
}

/**
 * A terminal that came after its member had failed, was aborted or stranded: recorded once and else
 * without effect. For the newest run only; one of an older run is dropped by the caller.
 */
export function endedLate(
  run: StoredRun,
  member: string,
  terminal: Pick<Terminal, 'state' | 'aborted'>,
  at: string,
): StoredRun {
  const entry = runMember(run, member);
  if (!entry || entry.lateResult || isActive(entry.state) || entry.state === 'completed') {
    return run;
  }
  const state = terminal.aborted ? 'aborted' : terminal.state;
  return withMember(run, member, {
    lateResult: { state, receivedAt: at, disposition: 'discarded' },
  });
}

/** The run with its end, if no member is queued, running or waiting any more. */
export function settled(run: StoredRun, at: string): StoredRun {
  const states = Object.values(run.members).map((entry) => entry.state);
  if (!isRunning(run) || states.some(isActive)) return run;
  return { ...run, state: endState(states), finishedAt: at };
}

/** The user stopped the run: whoever had not ended is aborted, and its request is over. */
export function stopped(run: StoredRun, at: string): StoredRun {
  if (!isRunning(run)) return run;
  return cutOff(Object.keys(run.members).reduce(withoutRequest, run), at, 'aborted', '');
}

/** Nobody can drive the run any more: whoever had not ended is stranded. */
export function stranded(run: StoredRun, at: string): StoredRun {
  return cutOff(run, at, 'stranded', INTERRUPTED_TEXT);
}

/** When n messages leave the live window, every boundary moves with it. */
export function shiftBoundaries(run: StoredRun, trimmed: number): StoredRun {
  if (trimmed === 0) return run;
  return mapMembers(run, (entry) =>
    entry.boundary === undefined
      ? entry
      : { ...entry, boundary: Math.max(0, entry.boundary - trimmed) },
  );
}

function newRun(
  mode: StoredRun['mode'],
  { id, responders, at }: { id: string; responders: readonly string[]; at: string },
  entry: Pick<StoredRunMember, 'boundary'>,
): StoredRun {
  return {
    id,
    mode,
    state: 'running',
    startedAt: at,
    finishedAt: '',
    round: 0,
    turnCount: 0,
    members: nameMap(
      responders.map((name) => [name, { state: 'queued', updatedAt: at, error: '', ...entry }]),
    ),
  };
}

function outcome(end: TurnEnd): Pick<StoredRunMember, 'state' | 'error'> {
  switch (end.kind) {
    case 'answer':
    case 'pass':
      return { state: 'completed', error: '' };
    case 'failed':
    case 'stranded':
      return { state: end.kind, error: end.text };
  }
}

function endState(states: readonly MemberRunState[]): StoredRun['state'] {
  if (states.includes('stranded')) return 'stranded';
  if (states.every((state) => state === 'completed')) return 'completed';
  if (states.every((state) => state === 'aborted')) return 'aborted';
  return 'partial';
}

function cutOff(
  run: StoredRun,
  at: string,
  state: 'aborted' | 'stranded',
  error: string,
): StoredRun {
  if (!isRunning(run)) return run;
  const cut = mapMembers(run, (entry) =>
    isActive(entry.state) ? { ...entry, state, error, updatedAt: at } : entry,
  );
  return { ...cut, state, finishedAt: at };
}

function withoutRequest(run: StoredRun, name: string): StoredRun {
  return mapMembers(run, (entry, other) => {
    if (other !== name) return entry;
    const { attention: _attention, ...rest } = entry;
    return rest;
  });
}

function withMember(run: StoredRun, name: string, change: Partial<StoredRunMember>): StoredRun {
  return mapMembers(run, (entry, other) => (other === name ? { ...entry, ...change } : entry));
}

function mapMembers(
  run: StoredRun,
  change: (entry: StoredRunMember, name: string) => StoredRunMember,
): StoredRun {
  const members = Object.entries(run.members).map(
    ([name, entry]) => [name, change(entry, name)] as const,
  );
  return { ...run, members: nameMap(members) };
}
