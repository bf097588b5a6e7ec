#!lua flags=allow-oom
-- Replaces what a worker shows as running.
--
-- KEYS[1]  the node's `work` hash
-- ARGV     nonce, prefix, the worker's name, then pairs: field, JSON
-- Returns  nonce

local MAX_SLOTS = 1000 -- that a worker can have; the hash shows those of all workers
local fields = {}
for slot = 0, MAX_SLOTS - 1 do fields[#fields + 1] = ARGV[3] .. '.' .. slot end
redis.call('HDEL', KEYS[1], unpack(fields))
if #ARGV > 3 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 4))
  redis.call('EXPIRE', KEYS[1], 60)
end
return { ARGV[1] }
