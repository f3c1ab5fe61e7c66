/**
 * What both scripts begin with. KEYS[1] is BullMQ's sorted set of waiting jobs; KEYS[2] is the clock
 * of the class: `now`, the virtual time; `latest`, the highest tag given out; `moved`, by how much
 * tags moved when the band last began anew. ARGV: first priority and last tag of the class, prefix of
 * job keys.
 */
const BAND = `
local UNIT = 0x100000000
local first, lastTag, jobs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local from, to = first * UNIT, (first + lastTag + 1) * UNIT - 1
local clock = redis.call('HMGET', KEYS[2], 'now', 'latest', 'moved')
local now, latest, moved = tonumber(clock[1]) or 0, tonumber(clock[2]), tonumber(clock[3]) or 0

local function tagOf(score) return math.floor(tonumber(score) / UNIT) - first end

local function place(jobId, tag, score)
  redis.call('ZADD', KEYS[1], (first + tag) * UNIT + tonumber(score) % UNIT, jobId)
  redis.call('HSET', jobs .. jobId, 'priority', first + tag)
end

local function lowest()
  return redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, 1)
end

local function highest()
  return redis.call('ZREVRANGEBYSCORE', KEYS[1], to, from, 'WITHSCORES', 'LIMIT', 0, 1)
end

-- A tag above the latest was given out before the band began anew, and its job added after that.
local top = highest()
if #top > 0 then latest = latest or tagOf(top[2]) end
while #top > 0 and tagOf(top[2]) > latest do
  place(top[1], math.min(math.max(0, tagOf(top[2]) - moved), latest), top[2])
  top = highest()
end
latest = latest or 0
local waiting = lowest()
`

/** Gives out a tag. KEYS[3]: last tags by repository. ARGV[4]: the repository. Returns the tag. */
export const ASSIGN = `${BAND}
-- All that waits moves forward by the virtual time, in its order.
local function beginAnew()
  local start = redis.call('ZCOUNT', KEYS[1], '-inf', from - 1)
  local stop = start + redis.call('ZCOUNT', KEYS[1], from, to) - 1
  for rank = start, stop, 1000 do
    local found = redis.call('ZRANGE', KEYS[1], rank, math.min(rank + 999, stop), 'WITHSCORES')
    for i = 1, #found, 2 do place(found[i], math.max(0, tagOf(found[i + 1]) - now), found[i + 1]) end
  end
  local last = redis.call('HGETALL', KEYS[3])
  for i = 1, #last, 2 do
    local tag = tonumber(last[i + 1]) - now
    if tag > 0 then redis.call('HSET', KEYS[3], last[i], tag) else redis.call('HDEL', KEYS[3], last[i]) end
  end
  now, latest, moved = 0, math.max(0, latest - now), now
end

if #waiting > 0 then
  now = math.max(now, tagOf(waiting[2]) - 1)
elseif now >= latest then
  -- Nothing waits, and every tag given out was taken: none is on its way to the queue.
  beginAnew()
end
local last = tonumber(redis.call('HGET', KEYS[3], ARGV[4])) or 0
if math.max(now, last) >= lastTag and now > lastTag / 2 then
  beginAnew()
  last = tonumber(redis.call('HGET', KEYS[3], ARGV[4])) or 0
end
local tag = math.min(math.max(now, last) + 1, lastTag)
redis.call('HSET', KEYS[3], ARGV[4], tag)
redis.call('HSET', KEYS[2], 'now', now, 'latest', math.max(latest, tag), 'moved', moved)
return tag
`

/**
 * Notes that a job was taken: the virtual time is its tag, but never later than what still waits (a
 * tag that was read before the band began anew says too much). Tried again, the job goes to the front
 * of its class. ARGV[4]: the job's id. ARGV[5]: its priority.
 */
export const TAKE = `${BAND}
local bound = #waiting > 0 and tagOf(waiting[2]) or latest
local tag = math.min(tonumber(ARGV[5]) - first, bound)
if tag > now then redis.call('HSET', KEYS[2], 'now', tag) end
if redis.call('EXISTS', jobs .. ARGV[4]) == 1 then redis.call('HSET', jobs .. ARGV[4], 'priority', first) end
return now
`
