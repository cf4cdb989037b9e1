import { type GroupMember } from './member';
import { findMentions, mentionResolver } from './mentions';

/**
 * How a council goes on (groups.md §5): rounds in member order, one turn after the other. Everything here is a function
 * of what is stored, so that whoever takes a council over comes to the same next turn.
 */

export const COUNCIL_ROUNDS = 3;
/** Turns of all members in all rounds. */
export const COUNCIL_TURNS = 10;

/** What a council remembers between its turns, stored with its run. */
export interface CouncilPlan {
  /** The user named certain members: only who is mentioned speaks again. */
  directed: boolean;
  /** Who has still to speak in this round, in order. */
  queue: string[];
  /** Who was called for the next round. */
  next: string[];
}

/** A turn that is over. */
export interface SpokenTurn {
  member: string;
  /** The answer; null for a pass or a failure. */
  answer: string | null;
}

export type CouncilStep = {
  /** Had nothing new to read and were left out; they have had their say. */
  skipped: string[];
} & (
  | { kind: 'turn'; member: string; round: number; turn: number; plan: CouncilPlan }
  | { kind: 'over' }
);

/**
 * Calls for the next round whom the turn calls: the one that answered, unless the user had named certain members, and
 * everyone the answer mentions. `@everyone` in an answer calls nobody.
 */
export function afterTurn(
  plan: CouncilPlan,
  { member, answer }: SpokenTurn,
  members: readonly GroupMember[],
): CouncilPlan {
  if (answer === null) return plan;
  const named = findMentions(answer).map(mentionResolver(members));
  const called = new Set([...plan.next, ...(plan.directed ? [] : [member]), ...named]);
  return { ...plan, next: members.map(({ name }) => name).filter((name) => called.has(name)) };
}

/**
 * The next turn, or that the council is over.
 * @param at the round of the last turn and the number of turns so far, 0 and 0 before the first
 * @param hasNews whether a member has something to read that it did not write itself
 */
export function nextTurn(
  plan: CouncilPlan,
  at: { round: number; turnCount: number },
  hasNews: (member: string) => boolean,
): CouncilStep {
  const skipped: string[] = [];
  let { queue, next } = plan;
  for (let round = Math.max(1, at.round); ; round++) {
    for (const [place, member] of queue.entries()) {
      if (at.turnCount >= COUNCIL_TURNS) return { kind: 'over', skipped };
      if (hasNews(member)) {
        const left = { ...plan, queue: queue.slice(place + 1), next };
        return { kind: 'turn', member, round, turn: at.turnCount + 1, plan: left, skipped };
      }
      skipped.push(member);
    }
    if (next.length === 0 || round >= COUNCIL_ROUNDS) return { kind: 'over', skipped };
    [queue, next] = [next, []];
  }
}
