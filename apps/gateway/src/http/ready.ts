import { readHeartbeats, type BusKeys, type Heartbeat, type RedisClient } from '@flowly/bus';

const WORKERS = ['group-orchestrator', 'bot-runner'] as const;
type Part = 'redis' | (typeof WORKERS)[number];

/** The heartbeats that are fresh; null when Redis does not answer. */
export async function freshHeartbeats(
  redis: RedisClient,
  keys: BusKeys,
): Promise<Heartbeat[] | null> {
  try {
    return await readHeartbeats(redis, keys);
  } catch {
    return null; // that is the answer
  }
}

/** Whether everything a client needs is there (wire.md §1). */
export function readyBody(heartbeats: Heartbeat[] | null) {
  const services = new Set(heartbeats?.map(({ service }) => service));
  const missing: Part[] = heartbeats === null ? ['redis'] : [];
  missing.push(...WORKERS.filter((worker) => !services.has(worker)));
  const state = (part: Part) => (missing.includes(part) ? 'missing' : 'ok');
  const checks = Object.fromEntries(
    (['redis', ...WORKERS] as const).map((part) => [part, state(part)]),
  );
  return missing.length === 0
    ? ({ status: 'ok', checks } as const)
    : ({ status: 'unavailable', checks, missing } as const);
}
