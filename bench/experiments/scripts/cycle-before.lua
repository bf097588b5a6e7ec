#!lua flags=allow-oom
-- Settles finished claims, then reserves jobs for free slots: the one round trip of a working worker.
--
-- KEYS[1]  the node's hash; the other keys are built from it and the prefix
-- ARGV     nonce, prefix, node, executor, generation, "1" for at-most-once,
--          archive limit, archive retention in seconds, bytes to reserve at most,
--          n, then n times: slot, token, outcome, job id, delay in seconds, payload
--          n, then n free slots
--          n, then n times: channel, quota
-- Returns  nonce, now in ms, is the generation current (1/0), has strays (1/0), archived as garbage,
--          refused: indexes, blocked: (index, reason)..., held: channel indexes,
--          broken: (channel index, reason)..., reserved: (slot, channel index, earlier attempts, payload)...
--
-- A settlement takes effect only under its token and only when the slot's payload is there. The token of a
-- new claim is "<nonce>.<slot>". Everything that can fail is looked at before the first write.

local nonce, prefix, node, executor = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local generation, at_most_once = ARGV[5], ARGV[6] == '1'
local archive_limit, archive_retention, max_bytes = ARGV[7], ARGV[8], tonumber(ARGV[9])
local claims_key = KEYS[1] .. ':claims'
local list_base = KEYS[1] .. ':claimed:' .. executor .. '.'
local retries_key, discarded_key, attempts_key = prefix .. 'retries', prefix .. 'discarded', prefix .. 'attempts'
local find, sub, match, fmt = string.find, string.sub, string.match, string.format
local call, pcall_redis = redis.call, redis.pcall

-- Limits of one call (protocol, section 1): what keeps it short whatever the channels hold.
local MAX_BARRED, MAX_PUT_BACK, MAX_PUT_BACK_BYTES, MAX_GARBAGE, MAX_GARBAGE_BYTES = 128, 512, 1048576, 16, 24576
local CJSON_BYTES, CJSON_BUDGET, ESCAPE_BYTES = 65536, 131072, 16384

local time = call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now = time[1] .. '.' .. sub('00000' .. time[2], -6)

local function kind(key) return call('TYPE', key).ok end
local function failed(reply) return type(reply) == 'table' and reply.err or nil end
-- Removes the payload of a slot. Returns whether there was one.
local function removed(list) return type(pcall_redis('RPOP', list)) == 'string' end
local function score_after(seconds)
  return fmt('%.6f', tonumber(time[1]) + tonumber(time[2]) / 1e6 + tonumber(seconds))
end
local function is_finite(text)
  local number = tonumber(text)
  return number ~= nil and number > -1e15 and number < 1e15
end

local at = 10
local function next_arg()
  local value = ARGV[at]
  at = at + 1
  return value
end

-- ---------------------------------------------------------------- settling

local refused, blocked = {}, {}
local count = tonumber(next_arg())
local settlements, fields, list_of = {}, {}, {}
for i = 1, count do
  settlements[i] = { slot = ARGV[at], token = ARGV[at + 1], outcome = ARGV[at + 2], id = ARGV[at + 3],
    delay = ARGV[at + 4], payload = ARGV[at + 5] }
  fields[i] = executor .. '.' .. ARGV[at]
  list_of[ARGV[at]] = list_base .. ARGV[at]
  at = at + 6
end

local records
if count > 0 then records = pcall_redis('HMGET', claims_key, unpack(fields)) else records = pcall_redis('HLEN', claims_key) end
if failed(records) then
  return redis.error_reply('WRONGTYPE ' .. claims_key .. ' must be a hash, it is a ' .. kind(claims_key))
end
-- Only the Ruby member writes it: where there is none, nothing is asked of it.
local has_attempts = call('EXISTS', attempts_key) == 1

local archived = 0
local function archive(payload)
  call('ZADD', discarded_key, now, payload)
  archived = archived + 1
end

-- Trims the archive by age and by number, a few more than were added, so that no call is long.
local function trim_archive()
  if archived == 0 then return end
  local old = call('ZCOUNT', discarded_key, '-inf', '(' .. (tonumber(time[1]) - tonumber(archive_retention)))
  local surplus = math.min(math.max(old, call('ZCARD', discarded_key) - tonumber(archive_limit)), archived + 20)
  if surplus > 0 then call('ZREMRANGEBYRANK', discarded_key, 0, surplus - 1) end
  archived = 0
end

local kinds = {}
local function target_problem(settlement)
  local key = settlement.outcome == 'retry' and retries_key or settlement.outcome == 'archive' and discarded_key
  if not key then return nil end
  local found = kinds[key] or kind(key)
  kinds[key] = found
  if found ~= 'none' and found ~= 'zset' then return key .. ' must be a sorted set, it is a ' .. found end
  if settlement.outcome == 'retry' and not is_finite(settlement.delay) then
    return 'the delay must be a finite number of seconds, it is ' .. settlement.delay
  end
end

-- Puts the stored payload back. Returns why it could not.
local function requeue(settlement, record)
  local channel = match(record, '"channel":"([^"\\]*)"')
  if not channel then
    local is_json, claim = pcall(cjson.decode, record)
    channel = is_json and type(claim) == 'table' and type(claim.channel) == 'string' and claim.channel
    if not channel then return 'its claim record names no channel' end
  end
  return failed(pcall_redis('LMOVE', list_of[settlement.slot], prefix .. 'channel:' .. channel, 'RIGHT', 'RIGHT'))
end

-- Slots that this call empties; their claims go at its end, unless new ones take their place.
local settled, emptied = {}, {}
if count > 0 then
  local done_ids = {}
  local processed, failures = 0, 0
  local function finish(settlement)
    settled[settlement.slot] = true
    if settlement.outcome == 'requeue' then return end
    emptied[settlement.slot] = true
    done_ids[#done_ids + 1] = settlement.id
    if settlement.outcome == 'ack' then processed = processed + 1 else failures = failures + 1 end
    if settlement.outcome == 'retry' then call('ZADD', retries_key, score_after(settlement.delay), settlement.payload)
    elseif settlement.outcome == 'archive' then archive(settlement.payload) end
  end
  for i, settlement in ipairs(settlements) do
    local record = records[i]
    local is_unclaimed, is_requeue = settlement.token == '', settlement.outcome == 'requeue'
    local is_held
    if is_unclaimed then is_held = not is_requeue -- at most once: the store has nothing to put back
    else is_held = record and not settled[settlement.slot] and find(record, '"claim_token":"' .. settlement.token .. '"', 1, true) end
    if is_held and is_requeue then is_held = kind(list_of[settlement.slot]) == 'list' end
    local problem = is_held and (is_requeue and requeue(settlement, record) or target_problem(settlement)) or nil
    if is_held and not problem and not is_unclaimed and not is_requeue then is_held = removed(list_of[settlement.slot]) end
    if not is_held then
      refused[#refused + 1] = i - 1
    elseif problem then
      blocked[#blocked + 1] = i - 1
      blocked[#blocked + 1] = problem
    elseif is_unclaimed then
      -- Counted as processed when it was reserved; only where it goes is left.
      if settlement.outcome == 'retry' then call('ZADD', retries_key, score_after(settlement.delay), settlement.payload)
      elseif settlement.outcome == 'archive' then archive(settlement.payload) end
      if settlement.outcome ~= 'ack' then failures = failures + 1 end
    else
      finish(settlement)
    end
  end
  if has_attempts and #done_ids > 0 then pcall_redis('HDEL', attempts_key, unpack(done_ids)) end
  trim_archive()
  if processed > 0 then pcall_redis('INCRBY', prefix .. 'metrics:processed', processed) end
  if failures > 0 then pcall_redis('INCRBY', prefix .. 'metrics:failed', failures) end
end

-- ---------------------------------------------------------------- reserving

local held, broken, reserved, garbage_count, strays = {}, {}, {}, 0, 0
local is_current = pcall_redis('HGET', KEYS[1] .. ':generations', executor) == generation

local free, occupied_check = {}, {}
for i = 1, tonumber(next_arg()) do free[i] = next_arg() end
local function reply()
  local done_fields = {}
  for slot in pairs(settled) do done_fields[#done_fields + 1] = executor .. '.' .. slot end
  if #done_fields > 0 then call('HDEL', claims_key, unpack(done_fields)) end
  return { nonce, now_ms, is_current and 1 or 0, strays, garbage_count, refused, blocked, held, broken, reserved }
end
if #free == 0 or not is_current then return reply() end

-- A slot holds one payload at most. One that is called free but is not belongs to a claim its worker lost.
if not at_most_once then
  for _, slot in ipairs(free) do
    if not emptied[slot] then
      list_of[slot] = list_of[slot] or list_base .. slot
      occupied_check[#occupied_check + 1] = list_of[slot]
    end
  end
  if #occupied_check > 0 and call('EXISTS', unpack(occupied_check)) > 0 then
    strays = 1
    local empty = {}
    for _, slot in ipairs(free) do
      if call('EXISTS', list_of[slot]) == 0 then empty[#empty + 1] = slot end
    end
    free = empty
  end
end

local channels, names = {}, {}
for i = 1, tonumber(next_arg()) do
  channels[i] = { name = next_arg(), quota = tonumber(next_arg()), barred = 0, taken = 0 }
  names[i] = channels[i].name
end
if #names == 0 then return reply() end

local function stop_broken(index, reason)
  channels[index].is_over = true
  broken[#broken + 1] = index - 1
  broken[#broken + 1] = reason
end

-- Where it cannot be told which channels are paused, none is served.
local paused = pcall_redis('SMISMEMBER', prefix .. 'paused_channels', unpack(names))
for i, channel in ipairs(channels) do
  if failed(paused) then stop_broken(i, prefix .. 'paused_channels: ' .. paused.err)
  elseif paused[i] == 1 then
    channel.is_over = true
    held[#held + 1] = i - 1
  end
end

local taken_bytes, put_back, put_back_bytes, garbage_bytes, cjson_left, used = 0, 0, 0, 0, CJSON_BUDGET, 0
local claim_channels, failure_counts, ids, barriers = {}, {}, {}, {}
local is_full = false

local function is_barred(barrier)
  if barrier == '-' or barrier == '' then return false end
  if barriers[barrier] == nil then barriers[barrier] = call('EXISTS', prefix .. 'publication:' .. barrier) == 1 end
  return barriers[barrier]
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

-- The text of the first field where that is the id, escapes and all; none that is endless.
local function leading_id(payload)
  payload = sub(payload, 1, 2048)
  local _, opening = find(payload, '^%s*{%s*"id"%s*:%s*"')
  local closing = opening
  while closing do
    closing = find(payload, '"', closing + 1, true)
    if closing and #match(sub(payload, opening + 1, closing - 1), '\\*$') % 2 == 0 then
      local is_json, list = pcall(cjson.decode, '[' .. sub(payload, opening, closing) .. ']')
      return is_json and list[1] or ''
    end
  end
  return ''
end

-- What reserving needs of a payload: its id, its barrier and its failures.
-- Our own envelopes tell it in their first fields; small foreign ones are decoded; of a large foreign one
-- the first field and the barrier are looked for as text.
-- Returns nil and "garbage", or nil and "later" when this call has decoded enough.
local function examine(payload)
  local id, barrier = match(payload, '^{"id":"([^"\\%c]+)","channel":"[^"\\%c]+","_solid_jobs_publication":"([^"\\%c]*)"')
  if id then
    local head = sub(payload, 1, find(payload, '"arguments":', 1, true) or 2048)
    local from = find(head, '"failure_count":', 1, true)
    return id, barrier, from and tonumber(match(head, '^%d+', from + 16)) or 0
  end
  if #payload > CJSON_BYTES then
    if not (find(payload, '^%s*{') and find(sub(payload, -64), '}%s*$')) then return nil, 'garbage' end
    id = leading_id(payload)
    local from = find(payload, '"_solid_jobs_publication":"', 1, true)
    return id, from and match(sub(payload, from, from + 100), ':"([^"\\]*)"') or '-', 0
  end
  if #payload > cjson_left then return nil, 'later' end
  cjson_left = cjson_left - #payload
  local envelope = decoded(payload)
  if not envelope or type(envelope.id) ~= 'string' or envelope.id == ''
      or type(envelope.task) ~= 'string' or type(envelope.channel) ~= 'string' or envelope.arguments == nil then
    return nil, 'garbage'
  end
  barrier = envelope._solid_jobs_publication
  return envelope.id, type(barrier) == 'string' and barrier or '-',
    tonumber(envelope.failure_count) or 0
end

-- A valid envelope around bytes that are none. High bytes of short ones are written as code points, so
-- that the record is valid UTF-8; longer ones stand as they are.
local code_points = setmetatable({}, { __index = function(known, byte)
  known[byte] = fmt('\\u%04x', string.byte(byte))
  return known[byte]
end })
local function wrapped(payload, channel)
  garbage_count = garbage_count + 1
  garbage_bytes = garbage_bytes + #payload
  local raw, encoding = cjson.encode(payload), 'text'
  if find(payload, '[\128-\255]') then
    encoding = 'bytes'
    if #payload <= ESCAPE_BYTES then
      encoding = 'latin1'
      raw = string.gsub(raw, '[\128-\255]', code_points)
    end
  end
  return '{"id":"undecodable-' .. nonce .. '-' .. garbage_count .. '","channel":' .. cjson.encode(channel)
    .. ',"_solid_jobs_publication":"-","queued_ms":' .. fmt('%d', now_ms) .. ',"task":"undecodable","max_failures":0,"created_ms":'
    .. fmt('%d', now_ms) .. ',"failure_count":1,"exception_type":"UndecodableEnvelope","exception_message":'
    .. '"found in the channel: not an envelope (a JSON object with id, task, channel and arguments)","first_failed_ms":'
    .. fmt('%d', now_ms) .. ',"last_failed_ms":' .. fmt('%d', now_ms) .. ',"raw":' .. raw .. ',"raw_encoding":"' .. encoding
    .. '","arguments":[]}'
end

local discarded_kind
local function can_archive()
  discarded_kind = discarded_kind or kind(discarded_key)
  return discarded_kind == 'none' or discarded_kind == 'zset'
end

-- Takes one popped payload. Returns false when it must go back into the channel.
local function take(payload, channel, index)
  if used + garbage_count > 0 and taken_bytes + #payload > max_bytes then
    is_full = true
    return false
  end
  local id, barrier, failure_count = examine(payload)
  if not id then
    local is_enough = barrier == 'later' or garbage_count >= MAX_GARBAGE
      or garbage_count > 0 and garbage_bytes + #payload > MAX_GARBAGE_BYTES
    if is_enough then
      is_full = true
      return false
    end
    if not can_archive() then
      stop_broken(index, 'it holds what is no envelope, and ' .. discarded_key .. ' must be a sorted set, it is a ' .. discarded_kind)
      return false
    end
    archive(wrapped(payload, channel.name))
    taken_bytes = taken_bytes + #payload
    return true
  end
  if is_barred(barrier) then
    channel.barred = channel.barred + 1
    return false
  end
  used = used + 1
  channel.taken = channel.taken + 1
  local slot = free[used]
  taken_bytes = taken_bytes + #payload
  ids[used] = id
  if not at_most_once then
    call('RPUSH', list_of[slot], payload)
    claim_channels[used], failure_counts[used] = channel, failure_count
  end
  local last = used * 4
  reserved[last - 3], reserved[last - 2], reserved[last - 1], reserved[last] = tonumber(slot), index - 1, 0, payload
  return true
end

-- Payloads are popped a few at a time and the surplus put back: one at first, then up to four, as
-- many as fit by the largest seen. Large ones may stand behind small ones, and each one put back costs its bytes.
local largest, most = 1024, 1
local function draw(index, limit)
  local channel = channels[index]
  local key = prefix .. 'channel:' .. channel.name
  local before, back = used, {}
  while not channel.is_over and not is_full and used < #free and used - before < limit do
    local chunk = most
    if chunk > 1 then
      chunk = math.min(#free - used, limit - (used - before), most, math.max(1, math.floor((max_bytes - taken_bytes) / largest)))
    end
    local popped = pcall_redis('RPOP', key, chunk)
    if failed(popped) then
      stop_broken(index, popped.err)
    elseif not popped then
      channel.is_over = true
    else
      most = math.min(most * 2, 4)
      for _, payload in ipairs(popped) do
        if #payload > largest then largest = #payload end
        if is_full or channel.is_over or not take(payload, channel, index) then
          back[#back + 1] = payload
          put_back, put_back_bytes = put_back + 1, put_back_bytes + #payload
        end
        if #back >= MAX_BARRED then channel.is_over = true end
        if put_back >= MAX_PUT_BACK or put_back_bytes > MAX_PUT_BACK_BYTES then is_full = true end
      end
    end
  end
  if #back > 0 then
    local ordered = {}
    for i = #back, 1, -1 do ordered[#ordered + 1] = back[i] end
    call('RPUSH', key, unpack(ordered))
  end
end

for index, channel in ipairs(channels) do draw(index, channel.quota) end
for index in ipairs(channels) do
  if used < #free then draw(index, #free) end
end
trim_archive()
for index, channel in ipairs(channels) do
  if channel.barred > 0 and channel.taken == 0 then held[#held + 1] = index - 1 end
end

if used > 0 then
  local earlier = has_attempts and pcall_redis('HMGET', attempts_key, unpack(ids)) or {}
  if failed(earlier) then earlier = {} end
  local claim_fields = {}
  local holder = '","node_id":"' .. node .. '","executor_id":"' .. executor .. '","channel":'
  for i = 1, used do
    local attempts = tonumber(earlier[i] or 0) or 0
    reserved[i * 4 - 1] = attempts
    local channel = claim_channels[i]
    if channel then
      channel.claim = channel.claim or holder .. cjson.encode(channel.name) .. ',"claimed_at":' .. now .. ',"attempt":'
      local attempt = math.max(failure_counts[i], attempts) + 1
      settled[free[i]] = nil
      claim_fields[i * 2 - 1] = executor .. '.' .. free[i]
      claim_fields[i * 2] = '{"task_id":' .. cjson.encode(ids[i]) .. ',"claim_token":"' .. nonce .. '.' .. free[i] .. channel.claim
        .. (attempt == 1 and '1' or fmt('%d', attempt)) .. '}'
    end
  end
  if at_most_once then
    pcall_redis('INCRBY', prefix .. 'metrics:processed', used)
    if has_attempts then pcall_redis('HDEL', attempts_key, unpack(ids)) end
  else
    call('HSET', claims_key, unpack(claim_fields))
  end
end
return reply()
