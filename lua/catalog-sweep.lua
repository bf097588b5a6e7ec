#!lua flags=allow-oom
-- Removes or requeues entries of a sorted set: one that a digest names, or a step of all of them.
--
-- KEYS     the sorted set, channels, attempts
-- ARGV     nonce, prefix, "remove" or "requeue", digest ("": every entry), score of the one meant ("": from
--          the lowest), entries to pass over (of that score, or of the set), entries at most, bytes at most
--          (but always one entry), channel of the one meant where this script cannot tell it ("")
-- Returns  nonce, state, done, kept, entries behind those looked at
--          state: "done", "more" (call again, passing over those kept or looked at), "gone" (the one meant is
--          not there), "unreadable" (its channel cannot be told), "blocked" (its channel is no list)
--
-- A requeued envelope in our own layout gets a new queued_ms in its place; nothing else of it is touched.

local prefix, action, wanted, score = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local skip, limit, max_bytes, told_channel = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]
local match, sub = string.match, string.sub
local CJSON_BYTES, CJSON_BUDGET, LARGEST_CHUNK = 65536, 131072, 8
local time = redis.call('TIME')
local now_ms = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))

for i, kind in ipairs({ 'zset', 'set', 'hash' }) do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kind then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
  end
end

local function digest(member)
  if #member <= 1024 then return redis.sha1hex(member) end
  return redis.sha1hex(#member .. ':' .. sub(member, 1, 768) .. sub(member, -256))
end

-- The id and channel of a member, and where its queued_ms stands. "later": this call has decoded enough.
local cjson_left = CJSON_BUDGET
local function identified(member)
  local id, channel, from, to = match(member, '^{"id":"([^"\\%c]+)","channel":"([^"\\%c]+)","_solid_jobs_publication":"[^"\\%c]*","queued_ms":()%d+()')
  if id then return id, channel, from, to end
  if #member > CJSON_BYTES then return nil end
  if #member > cjson_left then return 'later' end
  cjson_left = cjson_left - #member
  local is_json, envelope = pcall(cjson.decode, member)
  if is_json and type(envelope) == 'table' and type(envelope.id) == 'string' and envelope.id ~= ''
      and type(envelope.channel) == 'string' and envelope.channel ~= '' then
    return envelope.id, envelope.channel
  end
end

local takes_jobs = {}
local function can_take(channel)
  if takes_jobs[channel] == nil then
    local found = redis.call('TYPE', prefix .. 'channel:' .. channel).ok
    takes_jobs[channel] = found == 'none' or found == 'list'
    if takes_jobs[channel] then redis.call('SADD', KEYS[2], channel) end
  end
  return takes_jobs[channel]
end

local at = skip
if score ~= '' then at = at + redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. score) end

-- What the archive gives back starts afresh, and what is removed may come again.
local is_archive, acquitted, crashes = KEYS[1] == prefix .. 'discarded', {}, {}
local function acquit(id)
  acquitted[#acquitted + 1], crashes[#crashes + 1] = id, prefix .. 'crashes:' .. id
end

-- Acts on the member whose rank is `at`. Pushes before it removes: what may fail (a user without the right to
-- push) fails before anything is lost. Removing by rank spares another copy of a large member.
local function act(member)
  local id, channel, from, to = identified(member)
  if id == 'later' and channel == nil then return 'later' end
  if action == 'remove' then
    redis.call('ZREMRANGEBYRANK', KEYS[1], at, at)
    if id then
      redis.call('HDEL', KEYS[3], id)
      acquit(id)
    end
    return 'done'
  end
  if not channel and told_channel ~= '' then channel = told_channel end
  if not channel then return 'unreadable' end
  if not can_take(channel) then return 'blocked' end
  local payload = from and sub(member, 1, from - 1) .. now_ms .. sub(member, to) or member
  redis.call('LPUSH', prefix .. 'channel:' .. channel, payload)
  redis.call('ZREMRANGEBYRANK', KEYS[1], at, at)
  if id and is_archive then acquit(id) end
  return 'done'
end

local looked, done, kept, bytes, largest, chunk = 0, 0, 0, 0, 1, 1
local function reply(state)
  if #crashes > 0 then
    redis.call('DEL', unpack(crashes))
    redis.pcall('HDEL', prefix .. 'suspects', unpack(acquitted))
  end
  return { ARGV[1], state, done, kept, math.max(0, redis.call('ZCARD', KEYS[1]) - at) }
end

-- Small chunks, because nothing tells how large entries are before they are here. It ends early rather than
-- read one that it could not use.
while looked < limit and (looked == 0 or bytes + largest <= max_bytes) do
  local count = math.min(chunk, limit - looked, math.max(1, math.floor((max_bytes - bytes) / largest)))
  local part = redis.call('ZRANGE', KEYS[1], at, at + count - 1, 'WITHSCORES')
  if #part == 0 then return reply(wanted == '' and 'done' or 'gone') end
  for i = 1, #part, 2 do
    local member = part[i]
    if score ~= '' and part[i + 1] ~= score then return reply('gone') end
    if looked > 0 and bytes + #member > max_bytes then return reply('more') end
    looked = looked + 1
    bytes = bytes + #member
    largest = math.max(largest, #member)
    local is_meant = wanted == '' or digest(member) == wanted
    local state = is_meant and act(member) or 'passed'
    if wanted ~= '' and is_meant then
      if state == 'done' then done = 1 end
      return reply(state)
    end
    if state == 'later' then return reply('more') end
    if state == 'done' then
      done = done + 1
    else
      kept = kept + 1
      at = at + 1
    end
  end
  chunk = math.min(chunk * 2, LARGEST_CHUNK)
end
return reply('more')
