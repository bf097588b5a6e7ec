#!lua flags=allow-oom
-- Replaces what a worker shows as running.
--
-- KEYS[1]  the node's `work` hash
-- ARGV     nonce, prefix, the worker's name, then pairs: field, JSON
-- Returns  nonce

for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, #ARGV[3] + 1) == ARGV[3] .. '.' then redis.call('HDEL', KEYS[1], field) end
end
if #ARGV > 3 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 4))
  redis.call('EXPIRE', KEYS[1], 60)
end
return { ARGV[1] }
