/** Both scripts: the waiting jobs of a class, in BullMQ's sorted set (KEYS[1]), and its clock (KEYS[2]). */
const BAND = `
local UNIT = 0x100000000
local first, lastTag = tonumber(ARGV[1]), tonumber(ARGV[2])
local from, to = first * UNIT, (first + lastTag + 1) * UNIT - 1
local function tagOf(score) return math.floor(tonumber(score) / UNIT) - first end
local function lowest() return redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, 1) end
local now = tonumber(redis.call('HGET', KEYS[2], 'now')) or 0
local latest = tonumber(redis.call('HGET', KEYS[2], 'latest'))
`

/**
 * Gives out a tag. KEYS: BullMQ's prioritized set, clock (now: the virtual time, latest: the highest
 * tag given out), last tags by repository. ARGV: first priority of the class, last tag, repository,
 * prefix of job keys. Returns the tag.
 */
export const ASSIGN = `${BAND}
local function place(jobId, tag, score)
  redis.call('ZADD', KEYS[1], (first + tag) * UNIT + tonumber(score) % UNIT, jobId)
  redis.call('HSET', ARGV[4] .. jobId, 'priority', first + tag)
end

-- Begins the band anew: everything that waits moves forward by the virtual time, in its order.
local function rebase(by)
  local start = redis.call('ZCOUNT', KEYS[1], '-inf', from - 1)
  local count = redis.call('ZCOUNT', KEYS[1], from, to)
  for rank = start, start + count - 1, 1000 do
    local stop = math.min(rank + 999, start + count - 1)
    local jobs = redis.call('ZRANGE', KEYS[1], rank, stop, 'WITHSCORES')
    for i = 1, #jobs, 2 do place(jobs[i], math.max(0, tagOf(jobs[i + 1]) - by), jobs[i + 1]) end
  end
  local last = redis.call('HGETALL', KEYS[3])
  for i = 1, #last, 2 do
    local tag = tonumber(last[i + 1]) - by
    if tag > 0 then redis.call('HSET', KEYS[3], last[i], tag) else redis.call('HDEL', KEYS[3], last[i]) end
  end
end

local function highest()
  return redis.call('ZREVRANGEBYSCORE', KEYS[1], to, from, 'WITHSCORES', 'LIMIT', 0, 1)
end

local top = highest()
if #top == 0 then
  -- Nothing waits, and every tag given out was taken: none is still on its way to the queue.
  if now >= (latest or 0) then
    redis.call('DEL', KEYS[2], KEYS[3])
    now, latest = 0, 0
  end
else
  latest = latest or tagOf(top[2])
  -- A tag from before the band began anew, whose job was added after: it has waited long enough.
  while tagOf(top[2]) > latest do
    place(top[1], 0, top[2])
    top = highest()
  end
  now = math.max(now, tagOf(lowest()[2]) - 1)
end

local tag = math.max(now, tonumber(redis.call('HGET', KEYS[3], ARGV[3])) or 0) + 1
if tag > lastTag and now > lastTag / 2 then
  rebase(now)
  tag, latest, now = tag - now, latest - now, 0
end
tag = math.min(tag, lastTag)
redis.call('HSET', KEYS[3], ARGV[3], tag)
redis.call('HSET', KEYS[2], 'now', now, 'latest', math.max(latest or 0, tag))
return tag
`

/**
 * Notes that a job was taken. KEYS: BullMQ's prioritized set, clock, the job. ARGV: first priority of
 * the class, last tag, the job's priority. No time is later than what still waits: a tag that was
 * read before the band began anew says too much.
 */
export const TAKE = `${BAND}
local waiting = lowest()
local bound = #waiting > 0 and tagOf(waiting[2]) or latest or 0
local tag = math.min(tonumber(ARGV[3]) - first, bound)
if tag > now then redis.call('HSET', KEYS[2], 'now', tag) end
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HSET', KEYS[3], 'priority', first) end
return now
`
