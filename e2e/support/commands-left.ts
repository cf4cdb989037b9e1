import type { System, TestRedis } from '@flowly/testing';
import { Redis } from 'ioredis';
import { ask } from './http';

/**
 * Calls that may still take effect: those a gateway waits for, which it gives again when Redis has lost them, and those
 * of groups that wait for a worker or that one has, be it alive or dead.
 */
export async function commandsLeft(system: System): Promise<number> {
  const gateways = system.instances.filter(({ name, running }) => name === 'gateway' && running);
  const waiting = await Promise.all(gateways.map(({ url }) => waitingCalls(url)));
  return waiting.reduce((sum, count) => sum + count, await jobsLeft(system.redis));
}

async function waitingCalls(gateway: string): Promise<number> {
  const { body } = await ask(`${gateway}/metrics`);
  return Number(/^flowly_gateway_waiting_calls (\d+)$/m.exec(body)?.[1] ?? NaN);
}

async function jobsLeft({ url }: Pick<TestRedis, 'url'>): Promise<number> {
  const redis = new Redis(url);
  try {
    const lists = [
      ...(await redis.keys('*:group-commands:wait')),
      ...(await redis.keys('*:group-commands:active')),
    ];
    const lengths = await Promise.all(lists.map((list) => redis.llen(list)));
    return lengths.reduce((sum, length) => sum + length, 0);
  } finally {
    redis.disconnect();
  }
}
