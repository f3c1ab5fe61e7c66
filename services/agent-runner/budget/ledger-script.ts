/**
 * Every transition of money, in one script, so that no two processes can take the same last dollar:
 *
 *   hold --> sent --> settled          a settle also closes what was only held
 *     \--> released                    never from sent: that money may be spent
 *
 * KEYS  1 project totals  2 day totals  3 the run  4 open attempts  5 runs by last hold  6 outbox
 *       (shared/contracts/ledger.ts says what is in them)
 * ARGV  1 verb: hold, sent, settle or release   2 run id   3 attempt   4 time, ISO   5 time, ms
 *       6 amount in micro-dollars (hold, settle)   7 scope
 *       and for hold: 8 model   9, 10, 11 limits of project, day, run   12 oldest day to keep
 *
 * Replies
 *   made, seq, evidence line, hold   the transition was made now
 *   same                             it had been made before: nothing changed
 *   limit, its name, what is left    a hold would cross this limit: nothing changed
 *   no, state                        not from this state (unknown: no such attempt; closed: the run
 *                                    has ended): nothing changed
 *
 * Amounts are integers below 2^53, which Lua's doubles hold exactly; `text` writes all their digits.
 * The line goes into the outbox in the same step, so a transition without evidence cannot be lost.
 */
export const LEDGER_SCRIPT = `
local PROJECT, DAYS, RUN, OPEN, RUNS, OUTBOX = unpack(KEYS)
local verb, run, attempt, at, ms, amount, scope, model = unpack(ARGV)
amount = tonumber(amount)

local state, day, hold = nil, string.sub(at, 1, 10), 0
local record = redis.call('HGET', RUN, attempt)
if record then
  local _
  state, hold, _, day, model = string.match(record, '^(%a+) (%d+) (%d+) (%S+) (.*)$')
  hold = tonumber(hold)
end
local closed = redis.call('HEXISTS', RUN, 'closed') == 1

local LEVELS = {
  { name = 'project', key = PROJECT, prefix = '' },
  { name = 'day', key = DAYS, prefix = day .. ' ' },
  { name = 'run', key = RUN, prefix = '' },
}

local function text(n) return string.format('%.0f', n) end

local function amounts(level)
  local p = level.prefix
  local t = redis.call('HMGET', level.key, p .. 'held', p .. 'sent', p .. 'settled')
  return tonumber(t[1] or 0), tonumber(t[2] or 0), tonumber(t[3] or 0)
end

local function add(bucket, n)
  for _, level in ipairs(LEVELS) do
    redis.call('HINCRBY', level.key, level.prefix .. bucket, text(n))
  end
end

local function evidence(seq, nextState, newHold, newCost)
  local totals = {}
  for i, level in ipairs(LEVELS) do
    local held, sent, settled = amounts(level)
    totals[i] = '"' .. level.name .. '":{"held":' .. text(held) .. ',"sent":' .. text(sent) ..
      ',"settled":' .. text(settled) .. '}'
  end
  return '{"seq":' .. text(seq) .. ',"at":"' .. at .. '","scope":"' .. scope .. '","run":"' .. run ..
    '","attempt":"' .. attempt .. '","state":"' .. nextState .. '","hold_microusd":' .. text(newHold) ..
    ',"cost_microusd":' .. text(newCost) .. ',"day":"' .. day .. '","model":' .. cjson.encode(model) ..
    ',"totals":{' .. table.concat(totals, ',') .. '}}'
end

local function move(nextState, newHold, newCost)
  if state == 'held' or state == 'sent' then add(state, 0 - hold) end
  local isOpen = nextState == 'held' or nextState == 'sent'
  if isOpen then add(nextState, newHold) end
  if nextState == 'settled' then add('settled', newCost) end
  local words = { nextState, text(newHold), text(newCost), day, model }
  redis.call('HSET', RUN, attempt, table.concat(words, ' '))
  local member = run .. ' ' .. attempt
  if isOpen then redis.call('ZADD', OPEN, ms, member) else redis.call('ZREM', OPEN, member) end
  local seq = redis.call('HINCRBY', PROJECT, 'seq', 1)
  local line = evidence(seq, nextState, newHold, newCost)
  redis.call('HSET', OUTBOX, text(seq), line)
  return { 'made', seq, line, hold }
end

local function forgetDaysBefore(oldest)
  for _, field in ipairs(redis.call('HKEYS', DAYS)) do
    if field < oldest then redis.call('HDEL', DAYS, field) end
  end
end

if verb == 'hold' then
  if closed then return { 'no', 'closed' } end
  if state and state ~= 'held' then return { 'no', state } end
  -- A repeated hold asks only for what it needs beyond the first: prices may have changed meanwhile.
  local more = amount - hold
  if state and more <= 0 then return { 'same' } end
  for i, level in ipairs(LEVELS) do
    local held, sent, settled = amounts(level)
    local left = math.max(0, tonumber(ARGV[8 + i]) - held - sent - settled)
    if more > left then return { 'limit', level.name, left } end
  end
  if redis.call('HEXISTS', DAYS, day .. ' held') == 0 then forgetDaysBefore(ARGV[12]) end
  redis.call('HSET', RUN, 'limit', ARGV[11])
  redis.call('ZADD', RUNS, ms, run)
  return move('held', amount, 0)
end

if verb == 'sent' then
  if closed then return { 'no', 'closed' } end
  if state ~= 'held' then return { 'no', state or 'unknown' } end
  return move('sent', hold, 0)
end

if verb == 'settle' then
  if state == 'settled' then return { 'same' } end
  if state ~= 'held' and state ~= 'sent' then return { 'no', state or 'unknown' } end
  return move('settled', hold, amount)
end

if verb == 'release' then
  if state == 'released' then return { 'same' } end
  if state ~= 'held' then return { 'no', state or 'unknown' } end
  return move('released', hold, 0)
end

return redis.error_reply('ERR the ledger has no transition ' .. verb)
`
