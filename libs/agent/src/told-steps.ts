import type { LiveSteps } from '@flowly/bus';
import type { BotStreamEvent, ChatToolProgress } from '@flowly/contract';

/** What a conversation is told of a tool call that has begun or ended; of an internal session nothing. */
export interface CallTold {
  events: readonly BotStreamEvent[];
  progress?: ChatToolProgress | undefined;
  /** Its result is among the events: a step of the run. */
  endsStep?: true;
}

/** Calls whose progress is kept for who joins the conversation; older ones are among its steps. */
const MOST_CALLS = 64;

/** What a run has told of its steps so far, so that its live record can be written anew. */
export class ToldSteps implements LiveSteps {
  count = 0;
  private readonly newest = new Map<string, ChatToolProgress>();

  get progress(): ChatToolProgress[] {
    return [...this.newest.values()];
  }

  /** The call to forget when this one is kept. */
  surplus({ progress }: CallTold): string | undefined {
    const isNew = progress !== undefined && !this.newest.has(progress.call.id);
    return isNew && this.newest.size >= MOST_CALLS ? this.newest.keys().next().value : undefined;
  }

  note(told: CallTold): void {
    const surplus = this.surplus(told);
    if (surplus !== undefined) this.newest.delete(surplus);
    if (told.progress) this.newest.set(told.progress.call.id, told.progress);
    if (told.endsStep) this.count++;
  }
}
