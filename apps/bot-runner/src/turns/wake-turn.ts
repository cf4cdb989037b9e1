import { z } from 'zod';
import { connectRedis, type RedisClient } from '@flowly/bus';
import type { Runner } from '../runner';

const wakeSchema = z.object({ botId: z.string(), runId: z.string() });

/**
 * Wakes the turn whose stop is a row already, in whichever runner drives it. Nobody waits for it and nothing fails by
 * it: a lost wake costs a second (design rule 5).
 */
export function wakeTurn({ turns, bus, log }: Runner, botId: string, runId: string): void {
  turns.wake(botId, runId);
  bus.redis
    .publish(bus.keys.aborts, JSON.stringify({ botId, runId }))
    .catch((error: unknown) => log.warn({ err: error }, 'wake'));
}

/** Lets the turn look at its request, whose decision is a row already, in whichever runner drives it. */
export function noticeDecision({ turns, bus, log }: Runner, botId: string, runId: string): void {
  turns.notice(botId, runId);
  bus.redis
    .publish(bus.keys.decisions, JSON.stringify({ botId, runId }))
    .catch((error: unknown) => log.warn({ err: error }, 'notice'));
}

/** Listens for the wakes of other runners. Returns the connection, to be closed at the end. */
export async function listenForWakes(runner: Runner, redisUrl: string): Promise<RedisClient> {
  const redis = connectRedis(redisUrl, 'bot-runner-wakes');
  redis.on('error', (error) => runner.log.warn({ err: error }, 'redis'));
  const { aborts, decisions } = runner.bus.keys;
  redis.on('message', (channel, message) => {
    const { botId, runId } = wakeSchema.parse(JSON.parse(message));
    if (channel === aborts) runner.turns.wake(botId, runId);
    else runner.turns.notice(botId, runId);
  });
  await redis.subscribe(aborts, decisions);
  return redis;
}
