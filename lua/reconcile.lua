#!lua flags=allow-oom
-- Compares what is stored for a worker with what it knows, under a new generation. Called by the worker
-- itself, with no cycle in flight, after a reconnect, after a refused token and at intervals.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor, old generation, new generation, number of slots,
--          n, then n times: slot, token
-- Returns  nonce, is current (1/0), requeued, more (1/0), problems..., then slots of known claims that are gone
--          (the reply's last element is the table of those slots)
--
-- Repeats itself safely: the new generation counts as the old one.

local prefix, executor = ARGV[2], ARGV[3]
local generations, claims = KEYS[1] .. ':generations', KEYS[1] .. ':claims'
local present = redis.call('HGET', generations, executor)
if present ~= ARGV[4] and present ~= ARGV[5] then return { ARGV[1], 0, 0, 0, {} } end
redis.call('HSET', generations, executor, ARGV[5])

local known = {}
for i = 1, tonumber(ARGV[7]) do known[ARGV[6 + i * 2]] = ARGV[7 + i * 2] end

local function channel_of(record, list)
  local channel = record and string.match(record, '"channel":"([^"\\]*)"')
  if channel then return channel end
  local is_json, value = pcall(cjson.decode, record or redis.call('LINDEX', list, 0))
  return is_json and type(value) == 'table' and type(value.channel) == 'string' and value.channel or 'default'
end

local requeued, bytes, more, missing = 0, 0, 0, {}
for slot = 0, tonumber(ARGV[6]) - 1 do
  local field = executor .. '.' .. slot
  local list = KEYS[1] .. ':claimed:' .. field
  local record = redis.call('HGET', claims, field)
  local has_payload = redis.call('TYPE', list).ok == 'list'
  local token = known[tostring(slot)]
  local is_mine = token and record and has_payload and string.find(record, '"claim_token":"' .. token .. '"', 1, true)
  if not is_mine then
    if token then missing[#missing + 1] = slot end
    if has_payload then
      if bytes > 1048576 then
        more = 1
      else
        local moved = redis.pcall('LMOVE', list, prefix .. 'channel:' .. channel_of(record, list), 'RIGHT', 'RIGHT')
        if type(moved) == 'string' then
          bytes = bytes + #moved
          requeued = requeued + 1
          redis.call('HDEL', claims, field)
        end
      end
    elseif record then
      redis.call('HDEL', claims, field)
    end
  end
end
return { ARGV[1], 1, requeued, more, missing }
