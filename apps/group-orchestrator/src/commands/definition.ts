import { ContractError } from '@flowly/contract';
import {
  groupMembers,
  groupMode,
  groupPolicies,
  groupTitle,
  type Redefinition,
} from '@flowly/groups';
import type { Orchestrator } from '../orchestrator';

/** What defines a group, as a client gave it. */
export interface GivenDefinition {
  title?: unknown;
  members?: unknown;
  mode?: unknown;
  memberPolicies?: unknown;
}

/**
 * Examines a definition in the order of groups.md §2.
 * @param requireBot throws for a name that no bot has
 * @throws ContractError with the code of the first rule that is broken
 */
export function readDefinition(
  given: GivenDefinition,
  requireBot: (name: string) => void,
): Redefinition {
  const title = groupTitle(given.title);
  const members = groupMembers(given.members);
  members.forEach(requireBot);
  const mode = groupMode(given.mode);
  return { title, members, mode, policies: groupPolicies(given.memberPolicies, members) };
}

/** @throws ContractError PROFILE_NOT_FOUND */
export function botsOf({ bot }: Pick<Orchestrator, 'bot'>): (name: string) => void {
  return (name) => {
    if (bot(name) === null) {
      throw new ContractError('PROFILE_NOT_FOUND', `The bot ${name} no longer exists.`);
    }
  };
}
