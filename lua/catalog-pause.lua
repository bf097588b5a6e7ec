#!lua flags=allow-oom
-- Pauses or resumes a channel.
--
-- KEYS[1]  paused_channels
-- ARGV     nonce, prefix, channel, "pause" or "resume"
-- Returns  nonce, has it changed (1/0)

local found = redis.call('TYPE', KEYS[1]).ok
if found ~= 'none' and found ~= 'set' then
  return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' must be a set, it is a ' .. found .. '; rename or delete that key')
end
return { ARGV[1], redis.call(ARGV[4] == 'pause' and 'SADD' or 'SREM', KEYS[1], ARGV[3]) }
