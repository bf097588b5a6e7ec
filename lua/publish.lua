#!lua
-- Stores new envelopes, all or none. The server refuses it at maxmemory, before it begins.
--
-- KEYS[1]  the set of channels
-- ARGV     nonce, prefix, barrier id or "", n, then n channels: name, m, then its m envelopes that are ready now,
--          then for each planned envelope: mode, seconds, envelope. Mode: "after" seconds from now, "at" epoch
--          seconds. The channel of a planned envelope is among the n, maybe with an m of 0
-- Returns  nonce

local prefix, barrier = ARGV[2], ARGV[3]

local function wrong(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    return redis.error_reply('WRONGTYPE ' .. key .. ' must be a ' .. wanted .. ', it is a ' .. found)
  end
end

-- The usual call, one ready envelope, asks for no types: either write tells by itself, the first before anything
-- is written, and the second is undone with it.
if ARGV[4] == '1' and ARGV[6] == '1' and barrier == '' and not ARGV[8] then
  local list = prefix .. 'channel:' .. ARGV[5]
  local added = redis.pcall('SADD', KEYS[1], ARGV[5])
  if type(added) ~= 'number' then return wrong(KEYS[1], 'set') or added end
  local length = redis.pcall('LPUSH', list, ARGV[7])
  if type(length) == 'number' then return { ARGV[1] } end
  if added == 1 then redis.call('SREM', KEYS[1], ARGV[5]) end
  return wrong(list, 'list') or length
end

local names, lists, first, last, at = {}, {}, {}, {}, 5
for i = 1, tonumber(ARGV[4]) do
  names[i], lists[i], first[i], last[i] = ARGV[at], prefix .. 'channel:' .. ARGV[at], at + 2, at + 1 + tonumber(ARGV[at + 1])
  at = last[i] + 1
end

local planned_key, planned, problem = prefix .. 'planned', {}, nil
if ARGV[at] then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
  for i = at, #ARGV, 3 do
    local due = (tonumber(ARGV[i + 1]) or 0 / 0) + (ARGV[i] == 'after' and now or 0)
    if not (due > -1e15 and due < 1e15) then
      problem = redis.error_reply('ERR a due time must be a finite number of seconds, it is ' .. ARGV[i + 1])
    end
    planned[#planned + 1] = string.format('%.6f', due)
    planned[#planned + 1] = ARGV[i + 2]
  end
end

problem = problem or wrong(KEYS[1], 'set') or (#planned > 0 and wrong(planned_key, 'zset')) or nil
for i = 1, #names do
  problem = problem or (last[i] >= first[i] and wrong(lists[i], 'list')) or nil
end
if problem then return problem end

-- In parts: Lua passes no more than some thousand values at once, and would fail half-way.
local function in_parts(command, key, values, from, to)
  for start = from, to, 1000 do redis.call(command, key, unpack(values, start, math.min(start + 999, to))) end
end

in_parts('SADD', KEYS[1], names, 1, #names)
if barrier ~= '' then redis.call('SET', prefix .. 'publication:' .. barrier, '1', 'PX', 30000) end
in_parts('ZADD', planned_key, planned, 1, #planned)
for i = 1, #names do in_parts('LPUSH', lists[i], ARGV, first[i], last[i]) end
return { ARGV[1] }
