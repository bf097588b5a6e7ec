#!lua flags=allow-oom
-- Stores a new node with its first beat. An identity that is there already is refused, unless it is this same
-- record, sent again.
--
-- KEYS     nodes, the node's hash
-- ARGV     nonce, prefix, identity, info (JSON), concurrency
-- Returns  nonce

local time = redis.call('TIME')
local now = string.format('%d.%06d', time[1], time[2])
local nodes_kind = redis.call('TYPE', KEYS[1]).ok
if nodes_kind ~= 'none' and nodes_kind ~= 'set' then
  return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' must be a set, it is a ' .. nodes_kind)
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  local stored = redis.call('HMGET', KEYS[2], 'info', 'dead')
  if stored[1] ~= ARGV[4] or stored[2] then
    return redis.error_reply('ERR a node of the identity ' .. ARGV[3] .. ' is stored already: a new start needs a new identity')
  end
end
redis.call('SADD', KEYS[1], ARGV[3])
redis.call('HSET', KEYS[2], 'info', ARGV[4], 'beat', now, 'busy', 0, 'quiet', 'false',
  'concurrency', ARGV[5], 'beating_since', now)
return { ARGV[1] }
