import { type Attention, type GroupMessage, type Run } from '@flowly/contract';

/** What decides whether a group waits for its user. */
export interface Waiting {
  /** The newest run. */
  run: Pick<Run, 'state'> | null;
  /** Open requests. */
  attentions: readonly Attention[];
  /** The messages after the newest user message. */
  sinceUser: readonly Pick<GroupMessage, 'content' | 'aborted'>[];
}

/**
 * Whether there is an open request, or a member wrote `@user` in a committed answer since the user spoke
 * (groups.md §1). After a stop no answer asks for anything.
 */
export function needsUser({ run, attentions, sinceUser }: Waiting): boolean {
  if (attentions.length > 0) return true;
  const wasStopped = run?.state === 'aborted' || sinceUser.some((message) => message.aborted);
  return !wasStopped && sinceUser.some((message) => /@user/i.test(message.content));
}
