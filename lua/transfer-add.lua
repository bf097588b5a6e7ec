#!lua
-- Stores envelopes that came from another store, each once. The server refuses it at maxmemory, before it begins.
--
-- KEYS     the list or sorted set, channels, the journal
-- ARGV     nonce, prefix, "list" or "zset", channel to make known ("": none), then for each entry: digest,
--          occurrence, score, payload
-- Returns  nonce, how many were new
--
-- The journal counts the entries of each digest that have arrived. A sorted set holds the same bytes once: an
-- equal entry gets spaces at its end, which mean nothing in JSON.

local is_list, channel = ARGV[3] == 'list', ARGV[4]
for i, kind in ipairs({ ARGV[3], 'set', 'hash' }) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
  end
end

if channel ~= '' then redis.call('SADD', KEYS[2], channel) end
local added = 0
for i = 5, #ARGV, 4 do
  local digest, occurrence, score, payload = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
  if tonumber(redis.call('HGET', KEYS[3], digest) or 0) < occurrence then
    if is_list then
      redis.call('LPUSH', KEYS[1], payload)
    else
      while redis.call('ZSCORE', KEYS[1], payload) do payload = payload .. ' ' end
      redis.call('ZADD', KEYS[1], score, payload)
    end
    redis.call('HSET', KEYS[3], digest, occurrence)
    added = added + 1
  end
end
return { ARGV[1], added }
