import { makeTitle, makeTitleByRule, needsTitle } from '@flowly/agent';
import { eachByItself } from '@flowly/delivery';
import type { OpenBot } from '@flowly/directory';
import { overdueTitles, type Run } from '@flowly/store';

/** Models asked for titles at the same time by one runner; beyond it a title is made by rule, later. */
const MOST_AT_ONCE = 8;
const MOST_OVERDUE = 100;

/**
 * The titles of conversations, made beside the turns: they hold no slot, and nothing waits for them. That one is due is
 * seen in the session's row, so what a dead runner left is made later, by rule.
 */
export class Titles {
  private readonly making = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly titleMs: number,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Begins with the title of the run's session, if it is due. Never throws. */
  begin(bot: OpenBot, run: Run): void {
    const session = JSON.stringify([bot.botId, run.sessionKey]);
    if (this.closing.signal.aborted || this.making.has(session)) return;
    // Its bot was deleted as soon as the turn was over.
    if (!bot.database.isOpen) return;
    try {
      if (this.making.size >= MOST_AT_ONCE || !needsTitle(bot, run)) return;
    } catch (error) {
      return this.onError(error);
    }
    const { titleMs } = this;
    const made = makeTitle(bot, run, { titleMs, signal: this.closing.signal })
      .catch(this.onError)
      .finally(() => this.making.delete(session));
    this.making.set(session, made);
  }

  /** Makes those by rule that are due for longer than a model may take. */
  async makeOverdue(bots: readonly OpenBot[]): Promise<void> {
    const before = Date.now() - 2 * this.titleMs;
    await eachByItself(bots, async (bot) => {
      for (const sessionKey of overdueTitles(bot.database, before, MOST_OVERDUE))
        await makeTitleByRule(bot, sessionKey);
    });
  }

  /** Asks no model any more; what was begun is made by rule. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.making.values());
  }
}
