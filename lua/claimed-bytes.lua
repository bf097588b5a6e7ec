#!lua flags=allow-oom
-- Copies a claimed payload into a string key for ten seconds, from which it can be read byte for byte.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor, slot, token
-- Returns  nonce, the key or ""

local field = ARGV[3] .. '.' .. ARGV[4]
local record = redis.call('HGET', KEYS[1] .. ':claims', field)
if not record or not string.find(record, '"claim_token":"' .. ARGV[5] .. '"', 1, true) then return { ARGV[1], '' } end
local payload = redis.call('LINDEX', KEYS[1] .. ':claimed:' .. field, 0)
if not payload then return { ARGV[1], '' } end
local key = ARGV[2] .. 'copy:' .. ARGV[1]
redis.call('SET', key, payload, 'PX', 10000)
return { ARGV[1], key }
