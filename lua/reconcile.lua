#!lua flags=allow-oom
-- Compares what is stored for a worker with what it knows, under a new generation. Called by the worker
-- itself, with no cycle in flight, after a reconnect, after a refused token and at intervals.
--
-- KEYS[1]  the node's hash
-- ARGV     nonce, prefix, executor, old generation, new generation, number of slots,
--          n, then n times: slot, token
-- Returns  nonce, is current (1/0), requeued, more (1/0), the slots of known claims that are gone
--
-- Repeats itself safely: the new generation counts as the old one. A payload whose channel cannot take it
-- stays where it is.

local prefix, executor = ARGV[2], ARGV[3]
local generations, claims = KEYS[1] .. ':generations', KEYS[1] .. ':claims'
local present = redis.call('HGET', generations, executor)
if present ~= ARGV[4] and present ~= ARGV[5] then return { ARGV[1], 0, 0, 0, {} } end

local function wrong(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    return redis.error_reply('WRONGTYPE ' .. key .. ' must be a ' .. wanted .. ', it is a ' .. found)
  end
end
local slot_count = tonumber(ARGV[6])
local problem = wrong(claims, 'hash')
local fields, has_payload = {}, {}
for slot = 0, slot_count - 1 do
  fields[#fields + 1] = executor .. '.' .. slot
  local key = KEYS[1] .. ':claimed:' .. executor .. '.' .. slot
  has_payload[slot] = redis.call('EXISTS', key) == 1
  if has_payload[slot] then problem = problem or wrong(key, 'list') end
end
if problem then return problem end
redis.call('HSET', generations, executor, ARGV[5])
local records = #fields > 0 and redis.call('HMGET', claims, unpack(fields)) or {}

local known = {}
for i = 1, tonumber(ARGV[7]) do known[ARGV[6 + i * 2]] = ARGV[7 + i * 2] end

-- As an envelope's reader sees it. A lone surrogate's escape is JSON, but not to cjson: it is read as "?".
local function decoded(text)
  local is_json, value = pcall(cjson.decode, text)
  if not is_json and string.find(text, '\\u[dD]') then
    text = string.gsub(text, '\\(u[dD][89abAB]%x%x)\\(u[dD][c-fC-F]%x%x)', '\1%1\1%2')
    text = string.gsub(text, '\\u[dD][89a-fA-F]%x%x', '\\u003f')
    is_json, value = pcall(cjson.decode, (string.gsub(text, '\1', '\\')))
  end
  return is_json and type(value) == 'table' and value or nil
end

local function channel_of(record, list)
  local channel = record and string.match(record, '"channel":"([^"\\]+)"')
  if channel then return channel end
  local function named(value) return value and type(value.channel) == 'string' and value.channel ~= '' and value.channel end
  channel = record and named(decoded(record))
  if channel then return channel end
  local payload = redis.call('LINDEX', list, -1)
  return string.match(payload, '^{"id":"[^"\\%c]+","channel":"([^"\\%c]+)"')
    or named(decoded(payload)) or 'default'
end

local requeued, bytes, more, missing = 0, 0, 0, {}
for slot = 0, slot_count - 1 do
  local field, record = fields[slot + 1], records[slot + 1]
  local list = KEYS[1] .. ':claimed:' .. field
  local token = known[tostring(slot)]
  local is_mine = token and record and has_payload[slot] and string.find(record, '"claim_token":"' .. token .. '"', 1, true)
  if not is_mine then
    if token then missing[#missing + 1] = slot end
    if not has_payload[slot] then
      if record then redis.call('HDEL', claims, field) end
    elseif requeued >= 200 or bytes >= 524288 then
      more = 1
    else
      local moved = redis.pcall('LMOVE', list, prefix .. 'channel:' .. channel_of(record, list), 'RIGHT', 'RIGHT')
      if type(moved) == 'string' then
        bytes = bytes + #moved
        requeued = requeued + 1
        redis.call('HDEL', claims, field)
      end
    end
  end
end
return { ARGV[1], 1, requeued, more, missing }
