#!lua flags=allow-oom
-- Takes a worker's generation away, so that it reserves nothing more, and tells what it holds.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor ("" for all of the node), max_crashes, for which claims to count a crash:
--          "none", "only" and their slots..., or all "but" those with these tokens...
-- Returns  nonce, then for each claim: its field, its record
--
-- A claim's crash is counted once, whoever reports it and however often: its record says so. A suspect's counts
-- only when it had begun.

local MAX_SLOTS = 1512 -- that a worker can have, with those ahead; a node may hold many times as many claims
local generations, claims = KEYS[1] .. ':generations', KEYS[1] .. ':claims'
local max_crashes, counted = tonumber(ARGV[4]), ARGV[5]
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
for i = 6, #ARGV do named[counted == 'only' and ARGV[3] .. '.' .. ARGV[i] or ARGV[i]] = true end
redis.call('HDEL', generations, ARGV[3])

-- From max_crashes - 1 on a job is a suspect; one that died alone is poison, and stays so.
local function suspect(id, crashes, is_alone)
  if not is_alone and crashes < max_crashes - 1 then return '' end
  local key = ARGV[2] .. 'suspects'
  local before = redis.pcall('HGET', key, id)
  is_alone = is_alone or type(before) == 'string' and string.find(before, '"alone":true', 1, true)
  redis.pcall('HSET', key, id, string.format('{"crashes":%d,"at":%d,"waits":0%s}',
    crashes, redis.call('TIME')[1], is_alone and ',"alone":true' or ''))
  return ',"standing":"suspect"'
end

local function count_crash(field, text)
  local is_json, record = pcall(cjson.decode, text)
  if not is_json or type(record) ~= 'table' or type(record.task_id) ~= 'string' or record.task_id == '' then return end
  if record.crash_counted or counted == 'but' and named[record.claim_token] then return end
  if record.standing and record.alone ~= true then return end
  local key = ARGV[2] .. 'crashes:' .. record.task_id
  local crashes = redis.pcall('INCR', key)
  redis.pcall('EXPIRE', key, 604800)
  local mark = ''
  if type(crashes) == 'number' then mark = suspect(record.task_id, crashes, record.alone == true) end
  if record.standing then mark = '' end
  redis.call('HSET', claims, field, (string.gsub(text, '}%s*$', ',"crash_counted":true' .. mark .. '}')))
end

local fields = {}
for slot = 0, MAX_SLOTS - 1 do fields[#fields + 1] = ARGV[3] .. '.' .. slot end
for i, record in ipairs(redis.call('HMGET', claims, unpack(fields))) do
  if record then
    reply[#reply + 1] = fields[i]
    reply[#reply + 1] = record
    if counted == 'but' or counted == 'only' and named[fields[i]] then count_crash(fields[i], record) end
  end
end
return reply
