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

/**
 * Whether everything a client needs is there (wire.md §1). A worker that lives and says what it suffers from is no reason
 * to keep clients away from all that works: the answer stays 200 and says so.
 */
export function readyBody(heartbeats: Heartbeat[] | null) {
  const beats = heartbeats ?? [];
  const missing: Part[] = heartbeats === null ? ['redis'] : [];
  missing.push(...WORKERS.filter((worker) => !beats.some(({ service }) => service === worker)));
  const faults = new Map(
    beats.flatMap(({ service, fault }) => (fault ? [[service, fault] as const] : [])),
  );
  const state = (part: Part) =>
    missing.includes(part) ? 'missing' : (faults.get(part)?.code ?? 'ok');
  const checks = Object.fromEntries(
    (['redis', ...WORKERS] as const).map((part) => [part, state(part)]),
  );
  const wrong = [...faults].map(([service, { message }]) => `${service}: ${message}`);
  const said = { checks, ...(wrong.length > 0 && { wrong }) };
  if (missing.length > 0) return { status: 'unavailable', ...said, missing } as const;
  return { status: wrong.length > 0 ? 'degraded' : 'ok', ...said } as const;
}
