import { type Activity } from './group';
import { type LiveCall } from './internal/stream';
import { wellFormed } from './text';
import { keptToolCalls } from './tool-arguments';

/**
 * Tool calls of members at work as their group shows them: the 8 newest of each, with reduced arguments, by their
 * start and then their id (groups.md §1).
 * @param members each with its calls so far, oldest first
 */
export function activitiesOf(
  members: Iterable<readonly [member: string, calls: readonly LiveCall[]]>,
): Activity[] {
  return [...members]
    .flatMap(([member, calls]) => shownCalls(member, calls))
    .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
}

function shownCalls(profile: string, calls: readonly LiveCall[]): Activity[] {
  const newest = new Map(calls.map((call) => [wellFormed(call.id), call]));
  return keptToolCalls(calls).flatMap(({ id, name, argumentsJson }) => {
    const call = newest.get(id);
    if (call === undefined) return [];
    const { state, startedAt } = call;
    return [{ id, profile, toolName: name, argumentsJson, state, startedAt }];
  });
}
