#!lua flags=allow-oom
-- Moves due envelopes of `planned` and `retries` into their channels.
--
-- KEYS     planned, retries
-- ARGV     nonce, prefix, how many of each at most, bytes of each at most
-- Returns  nonce, moved from planned, moved from retries, ms until the next is due (-1: none), problems...
--
-- A member that is no envelope is archived. One whose channel cannot take it is put off by a minute, so
-- that it does not stand in the way of the others.

local prefix, limit, max_bytes = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local fmt, find, match, sub = string.format, string.find, string.match, string.sub
local time = redis.call('TIME')
local seconds = tonumber(time[1]) + tonumber(time[2]) / 1e6
local now_ms = fmt('%d', seconds * 1000)

-- When the sets hold nothing that is due, which is asked often: ms until the next, -1 for none. nil: look closely.
local function idle_ms()
  local soonest = -1
  for _, key in ipairs(KEYS) do
    local first = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first.err then return nil end
    local score = tonumber(first[2] or '')
    if score and score <= seconds then return nil end
    local ms = score and math.ceil((score - seconds) * 1000)
    if ms and (soonest < 0 or ms < soonest) then soonest = ms end
  end
  return soonest
end
local idle = idle_ms()
if idle then return { ARGV[1], 0, 0, idle } end

local problems, garbage, garbage_bytes, cjson_left = {}, 0, 0, 131072
local channels_kind = redis.call('TYPE', prefix .. 'channels').ok
local discarded_kind = redis.call('TYPE', prefix .. 'discarded').ok

local code_points = setmetatable({}, { __index = function(known, byte)
  known[byte] = fmt('\\u%04x', string.byte(byte))
  return known[byte]
end })
local function wrapped(member)
  garbage, garbage_bytes = garbage + 1, garbage_bytes + #member
  local raw, encoding = cjson.encode(member), 'text'
  if find(member, '[\128-\255]') then
    encoding = 'bytes'
    if #member <= 16384 then
      encoding = 'latin1'
      raw = string.gsub(raw, '[\128-\255]', code_points)
    end
  end
  return '{"id":"undecodable-' .. ARGV[1] .. '-' .. garbage .. '","channel":"default","_solid_jobs_publication":"-","queued_ms":'
    .. now_ms .. ',"task":"undecodable","max_failures":0,"created_ms":' .. now_ms
    .. ',"failure_count":1,"exception_type":"UndecodableEnvelope","exception_message":"found when due: not an envelope","first_failed_ms":'
    .. now_ms .. ',"last_failed_ms":' .. now_ms .. ',"raw":' .. raw .. ',"raw_encoding":"' .. encoding .. '","arguments":[]}'
end

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

-- The channel of a member and the member as it is queued: our own envelopes get a new queued_ms in place.
-- nil: garbage. false: this call has decoded enough.
local function prepared(member)
  local channel, from, to = match(member, '^{"id":"[^"\\%c]+","channel":"([^"\\%c]+)","_solid_jobs_publication":"[^"\\%c]*","queued_ms":()%d+()')
  if channel then return channel, sub(member, 1, from - 1) .. now_ms .. sub(member, to) end
  if #member > cjson_left and cjson_left < 131072 then return false end
  cjson_left = cjson_left - #member
  local envelope = decoded(member)
  if not envelope or type(envelope.channel) ~= 'string' or envelope.channel == '' or type(envelope.id) ~= 'string' then
    return nil
  end
  return envelope.channel, member
end

-- Brings one due member, taken out of its set, to where it belongs. Returns how many were moved, or false when
-- this call has decoded enough.
local function move(key, member)
  local channel, payload = prepared(member)
  if channel == false or channel == nil and garbage > 0 and garbage_bytes + #member > 24576 then return false end
  local function put_off(reason)
    redis.call('ZADD', key, fmt('%.6f', seconds + 60), member)
    problems[#problems + 1] = key .. ': put off by a minute: ' .. reason
  end
  if channel == nil then
    if discarded_kind ~= 'none' and discarded_kind ~= 'zset' then
      put_off('it is no envelope, and ' .. prefix .. 'discarded must be a sorted set, it is a ' .. discarded_kind)
      return 0
    end
    redis.call('ZADD', prefix .. 'discarded', fmt('%.6f', seconds), wrapped(member))
    problems[#problems + 1] = key .. ': a member that is no envelope was archived'
    return 0
  end
  local pushed = redis.pcall('LPUSH', prefix .. 'channel:' .. channel, payload)
  if type(pushed) == 'table' and pushed.err then
    put_off('channel "' .. channel .. '" cannot take it: ' .. pushed.err)
    return 0
  end
  if channels_kind == 'none' or channels_kind == 'set' then redis.call('SADD', prefix .. 'channels', channel) end
  return 1
end

-- A few at a time, so that no more is taken out than may be moved; what must wait goes back to its time.
local function promote(key)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= 'zset' then
    problems[#problems + 1] = key .. ' must be a sorted set, it is a ' .. found
    return 0
  end
  local left = math.min(limit, redis.call('ZCOUNT', key, '-inf', fmt('%.6f', seconds)))
  local moved, bytes, largest, most, is_over = 0, 0, 1024, 1, false
  while left > 0 and not is_over and not (bytes > 0 and bytes + largest > max_bytes) do
    local chunk = math.min(left, most, math.max(1, math.floor((max_bytes - bytes) / largest)))
    local due = redis.call('ZPOPMIN', key, chunk)
    for i = 1, #due, 2 do
      local member = due[i]
      local count = false
      if not is_over and not (bytes > 0 and bytes + #member > max_bytes) then count = move(key, member) end
      if count then
        moved, bytes, largest = moved + count, bytes + #member, math.max(largest, #member)
      else
        is_over = true
        redis.call('ZADD', key, due[i + 1], member)
      end
    end
    left, most = left - chunk, math.min(most * 2, 4)
  end
  return moved
end

-- Counting is cheap; only where nothing is due any more the first member itself is read.
local function next_in_ms()
  local soonest = -1
  for _, key in ipairs(KEYS) do
    local due = redis.pcall('ZCOUNT', key, '-inf', fmt('%.6f', seconds))
    if due == 0 then
      local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
      local ms = first[2] and math.max(0, math.ceil((tonumber(first[2]) - seconds) * 1000))
      if ms and (soonest < 0 or ms < soonest) then soonest = ms end
    elseif type(due) == 'number' then
      soonest = 0
    end
  end
  return soonest
end

local planned = promote(KEYS[1])
local retries = promote(KEYS[2])
return { ARGV[1], planned, retries, next_in_ms(), unpack(problems) }
