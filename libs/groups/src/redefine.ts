import type { GroupMode, MemberPolicy } from '@flowly/contract';
import { nameMap } from './name-map';
import { resolvePolicies } from './responders';
import type { StoredRun } from './run';
import { readWatermarks, type Watermarks } from './watermarks';

/** What an update may change, and what hangs on it. */
export interface Definition {
  readonly title: string;
  readonly mode: GroupMode;
  readonly members: readonly string[];
  readonly policies: Readonly<Record<string, MemberPolicy>>;
  readonly watermarks: Readonly<Watermarks>;
  readonly run: StoredRun | null;
}

/** A new definition; what is undefined stays as it is. */
export interface Redefinition {
  title: string;
  members: readonly string[];
  mode: GroupMode | undefined;
  /** The full map over the new members. */
  policies: Readonly<Record<string, MemberPolicy>> | undefined;
}

/**
 * The group as an update leaves it (groups.md §2). Whoever stays keeps everything; of one who goes nothing is left, so
 * that it starts clean when it comes back; a new one has been given nothing and answers always.
 */
export function redefined<G extends Definition>(group: G, wanted: Redefinition): G {
  const { title, members, mode = group.mode } = wanted;
  return {
    ...group,
    title,
    members,
    mode,
    policies: wanted.policies ?? resolvePolicies(members, group.policies),
    watermarks: readWatermarks(members, group.watermarks),
    run: group.run && runOf(group.run, members),
  };
}

/** Who is no member any more. */
export function removedMembers(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((name) => !after.includes(name));
}

function runOf(run: StoredRun, members: readonly string[]): StoredRun {
  const left = Object.entries(run.members).filter(([name]) => members.includes(name));
  return { ...run, members: nameMap(left) };
}
