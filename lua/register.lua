#!lua flags=allow-oom
-- Stores a new node with its first beat.
--
-- KEYS     nodes, the node's hash
-- ARGV     nonce, prefix, identity, info (JSON), concurrency
-- Returns  nonce

local time = redis.call('TIME')
local now = string.format('%d.%06d', time[1], time[2])
redis.call('SADD', KEYS[1], ARGV[3])
redis.call('HSET', KEYS[2], 'info', ARGV[4], 'beat', now, 'busy', 0, 'quiet', 'false',
  'concurrency', ARGV[5], 'beating_since', now)
return { ARGV[1] }
