import { TITLE_QUESTION, titleFromAnswer, titleFromQuestion } from '@flowly/contract';
import { ModelAborted, ModelFailure, streamModel } from '@flowly/models';
import { findUntitled, isStopped, saveTitle, type Run, type Untitled } from '@flowly/store';
import type { Bot } from './bot';
import { modelTarget } from './model-call';

/** What a model is shown of each side, in characters, and what is heard of its answer. */
const MOST_SHOWN = 1_000;
const MOST_HEARD = 4_000;

/** Whether the run's session is due for a title. */
export function needsTitle(bot: Bot, run: Run): boolean {
  return run.origin === 'user' && findUntitled(bot.database, run.sessionKey) !== null;
}

/**
 * Gives a session its title after the first exchange: the run's model makes it, or the user's first words are it when
 * the model fails, is the built-in one, or takes longer than `titleMs`. Its tokens count nowhere.
 */
export async function makeTitle(
  bot: Bot,
  run: Run,
  options: { titleMs: number; signal: AbortSignal },
): Promise<void> {
  const untitled = findUntitled(bot.database, run.sessionKey);
  if (untitled === null) return;
  const said = await askModel(bot, run, untitled, options);
  await save(bot, untitled, said === null ? null : titleFromAnswer(said));
}

/** Gives a session its title by rule, if it still has none. */
export async function makeTitleByRule(bot: Bot, sessionKey: string): Promise<void> {
  const untitled = bot.database.isOpen ? findUntitled(bot.database, sessionKey) : null;
  if (untitled !== null) await save(bot, untitled, null);
}

async function save(bot: Bot, untitled: Untitled, title: string | null): Promise<void> {
  const { database } = bot;
  // Its bot was deleted meanwhile.
  if (!database.isOpen) return;
  await database.tidy(() =>
    saveTitle(database, untitled, title ?? titleFromQuestion(untitled.question)),
  );
}

/** What the model says; null when it says nothing in time. */
async function askModel(
  bot: Bot,
  run: Run,
  { question, answer }: Untitled,
  { titleMs, signal }: { titleMs: number; signal: AbortSignal },
): Promise<string | null> {
  // Its turn was ended by the owner's stop: nothing of it asks a model any more.
  if (isStopped(bot.database)) return null;
  try {
    const target = modelTarget(bot, run);
    if (target.slot === 'demo') return null;
    const content = [TITLE_QUESTION, `User: ${shown(question)}`, `Answer: ${shown(answer)}`];
    const stream = streamModel({
      target,
      messages: [{ role: 'user', content: content.join('\n\n') }],
      signal: AbortSignal.any([signal, AbortSignal.timeout(titleMs)]),
      limits: { firstByteMs: titleMs, betweenBytesMs: titleMs, maxRetries: 0, retryDelayMs: 1 },
    });
    let said = '';
    for await (const event of stream) {
      if (event.type === 'text') said += event.text;
      if (said.length > MOST_HEARD) break;
    }
    return said;
  } catch (error) {
    // Then the title is made by rule; the turn has told what is wrong with the model, if it is.
    if (error instanceof ModelFailure || error instanceof ModelAborted) return null;
    throw error;
  }
}

function shown(text: string): string {
  return text.slice(0, MOST_SHOWN).toWellFormed();
}
