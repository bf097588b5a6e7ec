#!lua flags=allow-oom
-- Notes on a suspect's claim that its job begins, alone on its node. May be sent again.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor, generation, slot, token
-- Returns  nonce, may it begin (1/0): not when the claim, its payload or the generation is gone

local claims, field = KEYS[1] .. ':claims', ARGV[3] .. '.' .. ARGV[5]
if redis.call('HGET', KEYS[1] .. ':generations', ARGV[3]) ~= ARGV[4] then return { ARGV[1], 0 } end
local record = redis.call('HGET', claims, field)
if not record or not string.find(record, '"claim_token":"' .. ARGV[6] .. '"', 1, true) then return { ARGV[1], 0 } end
if redis.call('EXISTS', KEYS[1] .. ':claimed:' .. field) == 0 then return { ARGV[1], 0 } end
if not string.find(record, ',"alone":true', 1, true) then
  redis.call('HSET', claims, field, (string.gsub(record, '}%s*$', ',"alone":true}')))
end
return { ARGV[1], 1 }
