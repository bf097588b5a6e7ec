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

local names, by_channel, planned = {}, {}, {}
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
    local due = tonumber(seconds) + (mode == 'after' and now or 0)
    planned[#planned + 1] = string.format('%.6f', due)
    planned[#planned + 1] = payload
  end
end

local problem = wrong(KEYS[1], 'set') or (#planned > 0 and wrong(planned_key, 'zset')) or nil
for _, name in ipairs(names) do
  problem = problem or (#by_channel[name] > 0 and wrong(prefix .. 'channel:' .. name, 'list')) or nil
end
if problem then return problem end

redis.call('SADD', KEYS[1], unpack(names))
if barrier ~= '' then redis.call('SET', prefix .. 'publication:' .. barrier, '1', 'PX', 30000) end
if #planned > 0 then redis.call('ZADD', planned_key, unpack(planned)) end
for _, name in ipairs(names) do
  local ready = by_channel[name]
  if #ready > 0 then redis.call('LPUSH', prefix .. 'channel:' .. name, unpack(ready)) end
end
return { ARGV[1] }
