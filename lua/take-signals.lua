#!lua flags=allow-oom
-- Takes the remote control requests left for a node, at most ten a call, the oldest first.
--
-- KEYS[1]  the node's `signals` list
-- ARGV     nonce, prefix
-- Returns  nonce, requests...

if redis.call('TYPE', KEYS[1]).ok ~= 'list' then return { ARGV[1] } end
return { ARGV[1], unpack(redis.call('RPOP', KEYS[1], 10) or {}) }
