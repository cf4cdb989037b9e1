import { Script } from './script';

/**
 * The scripts that change live records together with the event stream (design rule 4).
 *
 * A record is a hash (`epoch`, `len` in UTF-16 units, `steps` told, `last` event id, `ended`, `left`), a string with the text
 * since the last tool step, the JSON list of the newest tool calls, and a hash of what a conversation was told of each. A
 * writer says how many steps it has told: a record that has fewer was lost. Values that a script does not look into are passed through as they came: Lua's JSON would
 * turn an empty list into an object.
 */

/** How long the record of an ended run refuses late writes, in seconds. */
const ENDED_SECONDS = 900;

/**
 * Adds the next piece of text. KEYS stream, record, text, freeze key, calls, progress. ARGV epoch, offset, length, text,
 * entry, steps told.
 * Returns the entry's id, or `stale`, `ended`, `frozen`, `old` (something else is there) or `gap` (the record was lost).
 * The newest piece again, whose answer was lost with its connection, is answered again and told once.
 */
export const addPiece = new Script(`
if redis.call('EXISTS', KEYS[4]) == 1 then return 'frozen' end
local have = redis.call('HMGET', KEYS[2], 'epoch', 'len', 'ended', 'steps')
if have[3] then return 'ended' end
local epoch, offset, length = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if have[1] and tonumber(have[1]) > epoch then return 'stale' end
local known, steps = 0, 0
if have[1] and tonumber(have[1]) == epoch then known, steps = tonumber(have[2]), tonumber(have[4])
else redis.call('DEL', KEYS[3], KEYS[5], KEYS[6]) end
if steps < tonumber(ARGV[6]) then return 'gap' end
if offset > known then return 'gap' end
if offset < known then
  local text = redis.call('GET', KEYS[3]) or ''
  local isAgain = offset + length == known and string.sub(text, -string.len(ARGV[4])) == ARGV[4]
  return isAgain and redis.call('HGET', KEYS[2], 'last') or 'old'
end
local id = redis.call('XADD', KEYS[1], '*', 'e', ARGV[5])
redis.call('APPEND', KEYS[3], ARGV[4])
redis.call('HSET', KEYS[2], 'epoch', epoch, 'len', offset + length, 'steps', steps, 'last', id)
redis.call('EXPIRE', KEYS[2], ${ENDED_SECONDS * 4})
redis.call('EXPIRE', KEYS[3], ${ENDED_SECONDS * 4})
return id
`);

/**
 * Gives the record to an attempt and empties it; with `whole` it is written anew after Redis lost it. What an older
 * attempt had said stays as `left` until its watchers were told that it is over.
 * KEYS stream, record, text, freeze key, calls, progress. ARGV epoch, length, text, entry and calls ('' for none), steps
 * told, call id, its progress… Returns like addPiece, or `ok`.
 */
export const takeRecord = new Script(`
if redis.call('EXISTS', KEYS[4]) == 1 then return 'frozen' end
local have = redis.call('HMGET', KEYS[2], 'epoch', 'ended')
if have[2] then return 'ended' end
local epoch = tonumber(ARGV[1])
if have[1] and tonumber(have[1]) > epoch then return 'stale' end
local left = have[1] and tonumber(have[1]) < epoch and redis.call('GET', KEYS[3]) or ''
if left ~= '' then redis.call('HSET', KEYS[2], 'left', left) end
local id = 'ok'
if ARGV[4] ~= '' then id = redis.call('XADD', KEYS[1], '*', 'e', ARGV[4]) end
redis.call('SET', KEYS[3], ARGV[3], 'EX', ${ENDED_SECONDS * 4})
if ARGV[5] == '' then redis.call('DEL', KEYS[5])
else redis.call('SET', KEYS[5], ARGV[5], 'EX', ${ENDED_SECONDS * 4}) end
redis.call('DEL', KEYS[6])
for index = 7, #ARGV, 2 do redis.call('HSET', KEYS[6], ARGV[index], ARGV[index + 1]) end
redis.call('EXPIRE', KEYS[6], ${ENDED_SECONDS * 4})
redis.call('HSET', KEYS[2], 'epoch', epoch, 'len', tonumber(ARGV[2]), 'steps', tonumber(ARGV[6]))
if id ~= 'ok' then redis.call('HSET', KEYS[2], 'last', id) end
redis.call('EXPIRE', KEYS[2], ${ENDED_SECONDS * 4})
return id
`);

/**
 * Notes what a run's tools do. KEYS stream, record, text, freeze key, calls, progress. ARGV epoch, calls ('' leaves them),
 * 1 when the text so far is over, steps told before and with this, call id and its progress ('' for none), a call id
 * to forget ('' for none), entries… Returns like takeRecord.
 */
export const noteTools = new Script(`
if redis.call('EXISTS', KEYS[4]) == 1 then return 'frozen' end
local have = redis.call('HMGET', KEYS[2], 'epoch', 'ended', 'steps')
if have[2] then return 'ended' end
local epoch, before, after = tonumber(ARGV[1]), tonumber(ARGV[4]), tonumber(ARGV[5])
if have[1] and tonumber(have[1]) > epoch then return 'stale' end
local isNew = not have[1] or tonumber(have[1]) < epoch
local known = 0
if isNew then redis.call('DEL', KEYS[5], KEYS[6]) else known = tonumber(have[3]) end
if known < before then return 'gap' end
if after > before and known >= after then return 'old' end
if isNew or ARGV[3] == '1' then
  redis.call('DEL', KEYS[3])
  redis.call('HSET', KEYS[2], 'epoch', epoch, 'len', 0)
end
redis.call('HSET', KEYS[2], 'steps', math.max(known, after))
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[6], ARGV[6], ARGV[7])
  redis.call('EXPIRE', KEYS[6], ${ENDED_SECONDS * 4})
end
if ARGV[8] ~= '' then redis.call('HDEL', KEYS[6], ARGV[8]) end
if ARGV[2] ~= '' then redis.call('SET', KEYS[5], ARGV[2], 'EX', ${ENDED_SECONDS * 4}) end
local id = 'ok'
for index = 9, #ARGV do id = redis.call('XADD', KEYS[1], '*', 'e', ARGV[index]) end
if id ~= 'ok' then redis.call('HSET', KEYS[2], 'last', id) end
redis.call('EXPIRE', KEYS[2], ${ENDED_SECONDS * 4})
return id
`);

/**
 * What a run shows, and the newest event there is, in one step. KEYS stream, record, text, progress. Returns the
 * event's id ('' for none), epoch ('' when there is no record), steps told, 1 or '' for ended, text, progress of each call.
 */
export const snapshot = new Script(`
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local have = redis.call('HMGET', KEYS[2], 'epoch', 'steps', 'ended')
local text = redis.call('GET', KEYS[3]) or ''
local progress = redis.call('HVALS', KEYS[4])
return {newest[1] and newest[1][1] or '', have[1] or '', tonumber(have[2] or '0'), have[3] or '', text, progress}
`);

/**
 * Puts a committed event onto the stream, once: an outbox sequence that is not newer is dropped.
 * KEYS stream, relayed, readiness (or a name that is not there).
 * ARGV database, sequence, entry, now, 1 for a group that is gone, count of starting members, them…, count of readiness pairs,
 *   member, value…, count of closed records, record, text, calls and progress key…, count of shown members, member, text
 *   and calls key…
 * The entry gets the readiness hash (`r`), the shown texts (`t`) and calls (`c`) as flat lists. Returns the entry's id.
 */
export const publish = new Script(`
local at = 0
local function next() at = at + 1 return ARGV[at] end
local database, sequence, entry, now, gone = next(), tonumber(next()), next(), next(), next()
local last = redis.call('HGET', KEYS[2], database)
if last and tonumber(last) >= sequence then return redis.call('HGET', KEYS[2], database .. ':id') or '0-0' end
if gone == '1' then redis.call('DEL', KEYS[3]) end
for _ = 1, tonumber(next()) do
  local member = next()
  local state = redis.call('HGET', KEYS[3], member)
  if not (state and string.find(state, '"state":"ready"', 1, true)) then
    redis.call('HSET', KEYS[3], member, '{"state":"starting","updatedAt":"' .. now .. '","error":""}')
  end
end
for _ = 1, tonumber(next()) do local member = next() redis.call('HSET', KEYS[3], member, next()) end
for _ = 1, tonumber(next()) do
  local record = next()
  redis.call('HSET', record, 'ended', 1)
  redis.call('EXPIRE', record, ${ENDED_SECONDS})
  redis.call('DEL', next(), next(), next())
end
local fields = {'e', entry}
local readiness = redis.call('HGETALL', KEYS[3])
if #readiness > 0 then fields[#fields + 1] = 'r' fields[#fields + 1] = cjson.encode(readiness) end
local texts, calls = {}, {}
local function add(list, member, value)
  if value then list[#list + 1] = member list[#list + 1] = value end
end
for _ = 1, tonumber(next()) do
  local member = next()
  add(texts, member, redis.call('GET', next()))
  add(calls, member, redis.call('GET', next()))
end
if #calls > 0 then fields[#fields + 1] = 'c' fields[#fields + 1] = cjson.encode(calls) end
if #texts > 0 then fields[#fields + 1] = 't' fields[#fields + 1] = cjson.encode(texts) end
local id = redis.call('XADD', KEYS[1], '*', unpack(fields))
redis.call('HSET', KEYS[2], database, sequence, database .. ':id', id)
return id
`);

/**
 * Stops every later write of a group's run and reads what its members have written, in one step.
 * KEYS freeze key, text and calls keys… ARGV ms. Returns the values, '' for one that is not there.
 */
export const freeze = new Script(`
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
local values = {}
for index = 2, #KEYS do values[index - 1] = redis.call('GET', KEYS[index]) or '' end
return values
`);

/**
 * Adds a reply to a gateway's own stream. KEYS replies, relayed, events. ARGV body, database ('' = newest), after
 * ('' = by database), oldest id kept, ms until the stream goes, id of the command.
 */
export const addReply = new Script(`
local after = ARGV[3]
if after == '' and ARGV[2] ~= '' then after = redis.call('HGET', KEYS[2], ARGV[2] .. ':id') or '' end
if after == '' then
  local newest = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
  if newest[1] then after = newest[1][1] end
end
redis.call('XADD', KEYS[1], 'MINID', '~', ARGV[4], '*', 'a', after, 'c', ARGV[6], 'r', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return after
`);
