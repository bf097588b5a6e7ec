#!lua flags=allow-oom
-- Takes away envelopes that have arrived in another store, as long as they stand where they were read.
--
-- KEYS     the list or sorted set, attempts
-- ARGV     nonce, prefix, "list" or "zset", then for each entry: score, payload, id ("": unknown)
-- Returns  nonce, how many are gone
--
-- Of a list the entries at the right, in their order: it ends at the first one that is another.

local is_list = ARGV[3] == 'list'
for i, kind in ipairs({ ARGV[3], 'hash' }) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
  end
end

local removed = 0
for i = 4, #ARGV, 3 do
  local score, payload, id = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if is_list then
    if redis.call('LINDEX', KEYS[1], -1) ~= payload then break end
    redis.call('RPOP', KEYS[1])
    removed = removed + 1
  else
    local present = redis.call('ZSCORE', KEYS[1], payload)
    if present and tonumber(present) == tonumber(score) then removed = removed + redis.call('ZREM', KEYS[1], payload) end
  end
  if id ~= '' then redis.call('HDEL', KEYS[2], id) end
end
return { ARGV[1], removed }
