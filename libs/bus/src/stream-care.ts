import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from './connection';
import type { BusKeys } from './keys';
import { Script } from './script';
import { compareIds } from './tail';

/**
 * Trims the stream and keeps the id up to which entries went: Redis itself remembers only what XDEL
 * removed. The second trim has no id of its own, so the mark is the one just before the first entry left.
 * KEYS stream, mark. ARGV oldest ms to keep, most bytes.
 */
const trim = new Script(`
local oldest = ARGV[1] .. '-0'
local last = redis.call('XREVRANGE', KEYS[1], '(' .. oldest, '-', 'COUNT', 1)
if last[1] then
  redis.call('SET', KEYS[2], last[1][1])
  redis.call('XTRIM', KEYS[1], 'MINID', oldest)
end
local bytes = redis.call('MEMORY', 'USAGE', KEYS[1])
if not bytes or bytes <= tonumber(ARGV[2]) then return end
redis.call('XTRIM', KEYS[1], 'MAXLEN', math.ceil(redis.call('XLEN', KEYS[1]) / 2))
local ms, sequence = string.match(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][1], '(%d+)-(%d+)')
if sequence == '0' then
  redis.call('SET', KEYS[2], string.format('%.0f-18446744073709551615', tonumber(ms) - 1))
else
  redis.call('SET', KEYS[2], string.format('%s-%.0f', ms, tonumber(sequence) - 1))
end
`);

/**
 * Takes everything off the stream and notes it as trimmed, up to an entry that no reader has seen; the era is another for
 * readers that have gone past it before they looked. Only where another outbox of that name was there before. KEYS
 * stream, relayed, mark, era. ARGV database, new era.
 */
export const beginAnew = new Script(`
if redis.call('HSETNX', KEYS[2], ARGV[1], 0) == 0 then return end
local name, others = string.match(ARGV[1], '^[^@]*'), 0
for _, known in ipairs(redis.call('HKEYS', KEYS[2])) do
  if known ~= ARGV[1] and string.match(known, '^[^@]*') == name then others = others + 1 end
end
if others == 0 then return end
local id = redis.call('XADD', KEYS[1], '*', 'e', '')
redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)
redis.call('SET', KEYS[3], id)
redis.call('SET', KEYS[4], ARGV[2])
`);

/** Keeps the event stream within its bounds (design rule 9). Any gateway may do it, any number of times. */
export async function trimEvents(
  redis: RedisClient,
  keys: BusKeys,
  limits: { eventStreamMs: number; streamBytes: number },
): Promise<void> {
  await trim.run(
    redis,
    [keys.events, keys.trimmed],
    [Date.now() - limits.eventStreamMs, limits.streamBytes],
  );
}

/** Names this lifetime of the data in Redis; another name than before means that it was lost, or much of it undone. */
export async function readEra(redis: RedisClient, keys: BusKeys): Promise<string> {
  await redis.set(keys.era, randomUUID(), 'NX');
  return (await redis.get(keys.era)) ?? '';
}

/** Whether entries after `position` were trimmed before they could be read from there. */
export async function isPositionGone(
  redis: RedisClient,
  keys: BusKeys,
  position: string,
): Promise<boolean> {
  const trimmed = z
    .string()
    .nullable()
    .parse(await redis.get(keys.trimmed));
  return trimmed !== null && compareIds(trimmed, position) > 0;
}
