#!lua flags=allow-oom
-- Empties a list or sorted set: at once, or in steps where the Ruby member counts attempts of its jobs, which
-- are to go with them.
--
-- KEYS     the list or sorted set, attempts
-- ARGV     nonce, prefix, "list" or "zset", entries at most, bytes at most (but always one entry)
-- Returns  nonce, removed, left
--
-- UNLINK frees memory in a thread of its own, so it is short whatever the size.

local kind, limit, max_bytes = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local is_list = kind == 'list'
local CJSON_BYTES, CJSON_BUDGET, LARGEST_CHUNK = 65536, 131072, 8

for i, expected in ipairs({ kind, 'hash' }) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= expected then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. expected .. ', it is a ' .. found .. '; rename or delete that key')
  end
end

local size = redis.call(is_list and 'LLEN' or 'ZCARD', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('UNLINK', KEYS[1])
  return { ARGV[1], size, 0 }
end

local cjson_left = CJSON_BUDGET
local function id_of(member)
  local id = string.match(member, '^{"id":"([^"\\%c]+)","channel":"[^"\\%c]+","_solid_jobs_publication":"')
  if id or #member > CJSON_BYTES then return id end
  cjson_left = cjson_left - #member
  local is_json, envelope = pcall(cjson.decode, member)
  return is_json and type(envelope) == 'table' and type(envelope.id) == 'string' and envelope.id or nil
end

-- Lists lose their oldest entries first, at the right; sets their lowest.
local function range(first, last)
  if is_list then return redis.call('LRANGE', KEYS[1], -1 - last, -1 - first) end
  return redis.call('ZRANGE', KEYS[1], first, last)
end

local ids, looked, bytes, largest, chunk, is_full = {}, 0, 0, 1, 1, false
-- Small chunks, because nothing tells how large entries are before they are here. It ends early rather than
-- read one that it could not use.
while not is_full and looked < limit and looked < size and (looked == 0 or bytes + largest <= max_bytes) do
  local count = math.min(chunk, limit - looked, size - looked, math.max(1, math.floor((max_bytes - bytes) / largest)))
  local part = range(looked, looked + count - 1)
  for i = 1, #part do
    local member = is_list and part[#part + 1 - i] or part[i]
    if looked > 0 and (bytes + #member > max_bytes or cjson_left <= 0) then
      is_full = true
      break
    end
    looked = looked + 1
    bytes = bytes + #member
    largest = math.max(largest, #member)
    ids[#ids + 1] = id_of(member)
  end
  chunk = math.min(chunk * 2, LARGEST_CHUNK)
end
if looked > 0 then
  if is_list then redis.call('LTRIM', KEYS[1], 0, -1 - looked) else redis.call('ZREMRANGEBYRANK', KEYS[1], 0, looked - 1) end
end
if #ids > 0 then redis.call('HDEL', KEYS[2], unpack(ids)) end
return { ARGV[1], looked, size - looked }
