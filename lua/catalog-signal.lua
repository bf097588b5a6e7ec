#!lua flags=allow-oom
-- Leaves a control request for a node. It expires, so that a node that comes back late does not obey it.
--
-- KEYS     nodes, the node's signals
-- ARGV     nonce, prefix, identity, request
-- Returns  nonce, is the node known (1/0)

local LIFETIME_SECONDS, MOST_WAITING = 60, 16
for i, kind in ipairs({ 'set', 'list' }) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
  end
end
if redis.call('SISMEMBER', KEYS[1], ARGV[3]) == 0 then return { ARGV[1], 0 } end
redis.call('LPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], 0, MOST_WAITING - 1)
redis.call('EXPIRE', KEYS[2], LIFETIME_SECONDS)
return { ARGV[1], 1 }
