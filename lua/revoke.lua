#!lua flags=allow-oom
-- Takes a worker's generation away, so that it reserves nothing more, and tells what it holds.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor ("" for all of the node), for which claims to count a crash: "none",
--          "only" and their slots..., or all "but" those with these tokens...
-- Returns  nonce, then for each claim: its field, its record
--
-- A claim's crash is counted once, whoever reports it and however often: its record says so.

local MAX_SLOTS = 1512 -- that a worker can have, with those ahead; a node may hold many times as many claims
local generations, claims = KEYS[1] .. ':generations', KEYS[1] .. ':claims'
local reply = { ARGV[1] }
if ARGV[3] == '' then
  redis.call('DEL', generations)
  return reply
end
local claims_kind = redis.call('TYPE', claims).ok
if claims_kind ~= 'none' and claims_kind ~= 'hash' then
  return redis.error_reply('WRONGTYPE ' .. claims .. ' must be a hash, it is a ' .. claims_kind)
end
local named = {}
for i = 5, #ARGV do named[ARGV[4] == 'only' and ARGV[3] .. '.' .. ARGV[i] or ARGV[i]] = true end
redis.call('HDEL', generations, ARGV[3])

local function count_crash(field, text)
  local is_json, record = pcall(cjson.decode, text)
  if not is_json or type(record) ~= 'table' or type(record.task_id) ~= 'string' or record.task_id == '' then return end
  if record.crash_counted or ARGV[4] == 'but' and named[record.claim_token] then return end
  local key = ARGV[2] .. 'crashes:' .. record.task_id
  redis.pcall('INCR', key)
  redis.pcall('EXPIRE', key, 604800)
  redis.call('HSET', claims, field, (string.gsub(text, '}%s*$', ',"crash_counted":true}')))
end

local fields = {}
for slot = 0, MAX_SLOTS - 1 do fields[#fields + 1] = ARGV[3] .. '.' .. slot end
for i, record in ipairs(redis.call('HMGET', claims, unpack(fields))) do
  if record then
    reply[#reply + 1] = fields[i]
    reply[#reply + 1] = record
    if ARGV[4] == 'but' or ARGV[4] == 'only' and named[fields[i]] then count_crash(fields[i], record) end
  end
end
return reply
