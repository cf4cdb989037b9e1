import { setTimeout as delay } from 'node:timers/promises';
import { findRequest, type BotRequest, type RequestKind } from '@flowly/store';
import { askFor, expireRequest } from './requests';
import { TurnOver, type Turn } from './turn-context';

/**
 * Asks a person and waits until the request is closed: decided, or expired. The turn's slot is others' meanwhile. The
 * row alone says what was decided: it is read at every wake and every second (design rule 5).
 * @throws TurnOver when the turn is stopped or lost; what it had open is then closed by whoever ends it
 */
export async function askPerson(
  turn: Turn,
  wanted: { kind: RequestKind; body: Record<string, unknown>; forMs: number },
): Promise<BotRequest> {
  const { bot, run, hooks } = turn;
  const request = await bot.database.write(() => askFor(bot, run, { ...wanted, at: Date.now() }));
  if (request === null) throw new TurnOver();
  const back = hooks.lend();
  try {
    return await closed(turn, request);
  } finally {
    back();
  }
}

async function closed(turn: Turn, request: BotRequest): Promise<BotRequest> {
  const { bot, run, signals, settings } = turn;
  for (;;) {
    const woken = new AbortController();
    // Listened for before the row is read, so that no decision falls in between.
    const wake = () => woken.abort();
    const unlisten = signals.onDecision(wake);
    signals.abort.addEventListener('abort', wake, { once: true });
    try {
      if (signals.abort.aborted) throw new TurnOver();
      const now = Date.now();
      const row =
        request.expiresAt <= now
          ? await bot.database.write(() => expire(turn, request, now))
          : findRequest(bot.database, request.id);
      if (row === null || row.runId !== run.runId) throw new TurnOver();
      if (row.reason === 'cancelled') throw new TurnOver();
      if (row.reason !== null) return row;
      const look = Math.min(settings.limits.requestLookMs, request.expiresAt - now);
      await pause(look, woken.signal);
    } finally {
      unlisten();
      signals.abort.removeEventListener('abort', wake);
    }
  }
}

function expire({ bot }: Turn, { id }: BotRequest, at: number): BotRequest | null {
  expireRequest(bot, id, at);
  return findRequest(bot.database, id);
}

async function pause(ms: number, woken: AbortSignal): Promise<void> {
  if (woken.aborted) return;
  await delay(Math.max(1, ms), undefined, { signal: woken }).catch((error: unknown) => {
    if (!woken.aborted) throw error;
  });
}
