import { type GroupMessage } from '@flowly/contract';

/** The most messages a member is given with one step. */
export const CONTEXT_MESSAGES = 40;

/**
 * What a member has to read: the messages of the live window after its watermark, its own left out, the
 * newest 40 at most (groups.md §5). The window is oldest first.
 */
export function contextFor(given: {
  window: readonly GroupMessage[];
  watermark: number;
  member: string;
}): GroupMessage[] {
  return given.window
    .slice(Math.max(0, given.watermark))
    .filter((message) => message.profile !== given.member)
    .slice(-CONTEXT_MESSAGES);
}
