import {
  type Attention,
  type MemberRunState,
  type Run,
  runMemberSchema,
  runSchema,
} from '@flowly/contract';
import { z } from 'zod';
import { nameMap } from './name-map';

/** The run of a group as it is stored (groups.md §5), and what it says. Times are ISO strings. */

const storedRunMemberSchema = runMemberSchema.extend({
  /** Length of the live window when the step was given: an index into it, like a watermark. */
  boundary: z.number().int().min(0).optional(),
  /** Run id at the bot, which for our own steps is the step key. */
  gatewayRunId: z.string().optional(),
});
export const storedRunSchema = runSchema.extend({
  members: z.record(z.string(), storedRunMemberSchema),
});
export type StoredRunMember = z.infer<typeof storedRunMemberSchema>;
export type StoredRun = z.infer<typeof storedRunSchema>;

/** Idempotency key of a member's step in a panel. */
export function panelStepKey(runId: string, member: string): string {
  return `room-${runId}-${member}`;
}

/** Idempotency key of a member's step in a council; round and turn count from 1. */
export function councilStepKey(runId: string, round: number, turn: number, member: string): string {
  return `room-${runId}-c${round}-${turn}-${member}`;
}

export function isRunning(run: StoredRun | null): boolean {
  return run?.state === 'running';
}

/** Queued, running or waiting for the user. */
export function isActive(state: MemberRunState): boolean {
  return state === 'queued' || state === 'running' || state === 'needs_user';
}

/** Members now working, in member order; in a council only the one whose turn it is. */
export function activeMembers(run: StoredRun | null, memberOrder: readonly string[]): string[] {
  if (run === null || !isRunning(run)) return [];
  return memberOrder.filter((name) => {
    const state = runMember(run, name)?.state;
    if (state === undefined || !isActive(state)) return false;
    return state !== 'queued' || stepKeyOf(run, name) !== null;
  });
}

/** Key of the step a member was given last; null for one whose turn in a council has not come. */
export function stepKeyOf(run: StoredRun, member: string): string | null {
  const entry = runMember(run, member);
  if (entry === undefined) return null;
  return entry.gatewayRunId ?? (run.mode === 'panel' ? panelStepKey(run.id, member) : null);
}

/** The member that a terminal with this key belongs to; null if the run never gave such a step. */
export function memberOfStep(run: StoredRun, key: string): string | null {
  return Object.keys(run.members).find((name) => stepKeyOf(run, name) === key) ?? null;
}

/** What the member waits for, if it does. */
export function openRequestOf(run: StoredRun, member: string): Attention | undefined {
  const entry = runMember(run, member);
  return entry?.state === 'needs_user' ? entry.attention : undefined;
}

/** Whether a stop posts what the member had said so far (groups.md §6.2). */
export function speaksWhenStopped(state: MemberRunState, visibleText: string): boolean {
  return state === 'queued' ? visibleText !== '' : isActive(state);
}

/** The run as clients see it. */
export function publicRun(run: StoredRun): Run {
  return {
    ...run,
    members: nameMap(
      Object.entries(run.members).map(
        ([name, { boundary: _boundary, gatewayRunId: _gatewayRunId, ...shown }]) => [name, shown],
      ),
    ),
  };
}

/** A member of the run; undefined for one that takes no part in it. */
export function runMember(run: StoredRun, name: string): StoredRunMember | undefined {
  return Object.hasOwn(run.members, name) ? run.members[name] : undefined;
}
