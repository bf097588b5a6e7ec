#!lua flags=no-writes
-- Looks at some nodes.
--
-- KEYS[1]  nodes
-- ARGV     nonce, prefix, identities...
-- Returns  nonce, now in seconds, rows: type of the key, info, beat, busy, quiet, concurrency, dead ("" for what
--          is missing), ms until the hash expires (below 0: never)

local prefix = ARGV[2]
local time = redis.call('TIME')
local rows = {}
for i = 3, #ARGV do
  local key = prefix .. 'node:' .. ARGV[i]
  local row = { redis.call('TYPE', key).ok }
  local fields = row[1] == 'hash' and redis.call('HMGET', key, 'info', 'beat', 'busy', 'quiet', 'concurrency', 'dead') or {}
  for field = 1, 6 do row[field + 1] = fields[field] or '' end
  row[8] = redis.call('PTTL', key)
  rows[#rows + 1] = row
end
return { ARGV[1], string.format('%d.%06d', time[1], time[2]), rows }
