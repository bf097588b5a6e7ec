#!lua
-- Stores new envelopes, all or none. The server refuses it at maxmemory, before it begins.
--
-- KEYS[1]  the set of channels
-- ARGV     nonce, prefix, barrier id or "", n, then n times: channel, payload, mode, seconds
--          mode: "" ready now, "after" seconds from now, "at" epoch seconds
-- Returns  nonce

local prefix, barrier, count = ARGV[2], ARGV[3], tonumber(ARGV[4])
local planned_key = prefix .. 'planned'
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6

local function wrong(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    return redis.error_reply('WRONGTYPE ' .. key .. ' must be a ' .. wanted .. ', it is a ' .. found)
  end
end

local names, by_channel, planned, problem = {}, {}, {}, nil
for i = 0, count - 1 do
  local channel, payload, mode, seconds = ARGV[5 + i * 4], ARGV[6 + i * 4], ARGV[7 + i * 4], ARGV[8 + i * 4]
  if not by_channel[channel] then
    by_channel[channel] = {}
    names[#names + 1] = channel
  end
  if mode == '' then
    local ready = by_channel[channel]
    ready[#ready + 1] = payload
  else
    local due = (tonumber(seconds) or 0 / 0) + (mode == 'after' and now or 0)
    if not (due > -1e15 and due < 1e15) then
      problem = redis.error_reply('ERR a due time must be a finite number of seconds, it is ' .. seconds)
    end
    planned[#planned + 1] = string.format('%.6f', due)
    planned[#planned + 1] = payload
  end
end

problem = problem or wrong(KEYS[1], 'set') or (#planned > 0 and wrong(planned_key, 'zset')) or nil
for _, name in ipairs(names) do
  problem = problem or (#by_channel[name] > 0 and wrong(prefix .. 'channel:' .. name, 'list')) or nil
end
if problem then return problem end

-- In parts: Lua passes no more than some thousand values at once, and would fail half-way.
local function in_parts(command, key, values)
  for from = 1, #values, 1000 do redis.call(command, key, unpack(values, from, math.min(from + 999, #values))) end
end

in_parts('SADD', KEYS[1], names)
if barrier ~= '' then redis.call('SET', prefix .. 'publication:' .. barrier, '1', 'PX', 30000) end
in_parts('ZADD', planned_key, planned)
for _, name in ipairs(names) do in_parts('LPUSH', prefix .. 'channel:' .. name, by_channel[name]) end
return { ARGV[1] }
