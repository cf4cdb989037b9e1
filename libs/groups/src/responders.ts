import { isObject, type MemberPolicy } from '@flowly/contract';
import { type GroupMember } from './member';
import { findMentions, handleForms, mentionResolver } from './mentions';
import { nameMap } from './name-map';

const EVERYONE = new Set(['everyone', 'all']);

/** The full map of policies; whatever is not a policy reads as `always` (store.md §3). */
export function resolvePolicies(
  members: readonly string[],
  stored: unknown,
): Record<string, MemberPolicy> {
  const given = isObject(stored) ? stored : {};
  return nameMap(
    members.map((name) => [
      name,
      Object.hasOwn(given, name) && given[name] === 'mentioned' ? 'mentioned' : 'always',
    ]),
  );
}

export interface Responders {
  /** In member order; nobody means that no run starts. */
  responders: string[];
  /** The user named certain members, not nobody and not everyone. */
  directed: boolean;
}

/** Who answers a user's message (groups.md §3.4–6). */
export function whoAnswers(message: {
  text: string;
  members: readonly GroupMember[];
  policies: Readonly<Record<string, MemberPolicy>>;
}): Responders {
  const { text, members, policies } = message;
  const names = members.map((member) => member.name);
  const handles = findMentions(text);
  if (handles.some(callsEveryone)) return { responders: names, directed: false };

  const named = new Set(handles.map(mentionResolver(members)));
  const directed = names.filter((name) => named.has(name));
  if (directed.length > 0) return { responders: directed, directed: true };
  return { responders: names.filter((name) => policies[name] !== 'mentioned'), directed: false };
}

function callsEveryone(handle: string): boolean {
  return handleForms(handle).some((form) => EVERYONE.has(form));
}
