#!lua flags=allow-oom
-- Allows a worker to reserve under a generation, if its node lives.
--
-- KEYS     nodes, the node's hash
-- ARGV     nonce, prefix, identity, executor, generation
-- Returns  nonce, granted (1/0)

local stored = redis.call('HMGET', KEYS[2], 'info', 'dead')
if not stored[1] or stored[2] or redis.call('SISMEMBER', KEYS[1], ARGV[3]) == 0 then return { ARGV[1], 0 } end
redis.call('HSET', KEYS[2] .. ':generations', ARGV[4], ARGV[5])
return { ARGV[1], 1 }
