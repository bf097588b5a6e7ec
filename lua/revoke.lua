#!lua flags=allow-oom
-- Takes a worker's generation away, so that it reserves nothing more, and tells what it holds.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor ("" for all of the node), count a crash for each claim (1/0)
-- Returns  nonce, then for each claim: its field, its record

local generations, claims = KEYS[1] .. ':generations', KEYS[1] .. ':claims'
local reply = { ARGV[1] }
if ARGV[3] == '' then
  redis.call('DEL', generations)
  return reply
end
redis.call('HDEL', generations, ARGV[3])
local stored = redis.call('HGETALL', claims)
for i = 1, #stored, 2 do
  if string.sub(stored[i], 1, #ARGV[3] + 1) == ARGV[3] .. '.' then
    reply[#reply + 1] = stored[i]
    reply[#reply + 1] = stored[i + 1]
    local is_json, record = pcall(cjson.decode, stored[i + 1])
    if ARGV[4] == '1' and is_json and type(record) == 'table' and type(record.task_id) == 'string' then
      local key = ARGV[2] .. 'crashes:' .. record.task_id
      redis.pcall('INCR', key)
      redis.pcall('EXPIRE', key, 604800)
    end
  end
end
return reply
