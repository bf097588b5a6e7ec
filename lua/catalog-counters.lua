#!lua flags=no-writes
-- Reads the counters and sizes at one moment.
--
-- KEYS     metrics:processed, metrics:failed, planned, retries, discarded, channels, nodes
-- ARGV     nonce
-- Returns  nonce, processed, failed (texts), planned, retries, discarded, channels, nodes

local kinds = { 'string', 'string', 'zset', 'zset', 'zset', 'set', 'set' }
local commands = { string = 'GET', zset = 'ZCARD', set = 'SCARD' }
local reply = { ARGV[1] }
for i, kind in ipairs(kinds) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
  end
  reply[i + 1] = redis.call(commands[kind], KEYS[i]) or '0'
end
return reply
