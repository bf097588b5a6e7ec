#!lua flags=allow-oom
-- Takes the claims of a dead or leaving node back into their channels, in bounded steps: call it until it
-- says "done".
--
-- KEYS     nodes, the node's hash
-- ARGV     nonce, prefix, identity, mode, judge, steady ms that a judge needs, claims at most, bytes at most,
--          max_crashes, then executors with lists that no claim record may tell of
--          mode: "age" (judge by the beat), "proven" (the process is gone), "leave" (the node's own wish)
-- Returns  nonce, "alive" | "more" | "done" | "stuck", requeued, then for each claim of a dead node with a job:
--          job id, channel, crashes
--
-- Death is checked and marked here, in the same call that begins to move: a marked node's beats are
-- refused, and without generations its workers reserve nothing.

local prefix, identity, mode, judge = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local claims_left, bytes_left, max_crashes = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local claims_key = KEYS[2] .. ':claims'
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local FAMILY_TTL = 60 -- seconds; for a node that declares none and whose hash does not expire

local function judge_is_steady()
  local stored = redis.call('HMGET', prefix .. 'node:' .. judge, 'beat', 'beating_since', 'dead')
  local beat, since = tonumber(stored[1] or ''), tonumber(stored[2] or '')
  return beat and since and not stored[3] and now - beat < 10 and (now - since) * 1000 >= tonumber(ARGV[6])
end

local function is_dead()
  if mode ~= 'age' then return true end
  if redis.call('TYPE', KEYS[2]).ok ~= 'hash' then return judge_is_steady() end -- gone, or spoilt: it cannot beat
  local stored = redis.call('HMGET', KEYS[2], 'dead', 'beat', 'info')
  if stored[1] then return true end
  local is_json, info = pcall(cjson.decode, stored[3] or '')
  local ttl = is_json and type(info) == 'table' and tonumber(info.ttl)
  if not ttl then
    if redis.call('PTTL', KEYS[2]) >= 0 then return false end
    ttl = FAMILY_TTL
  end
  local beat = tonumber(stored[2] or '')
  if not beat then -- counts from the first time somebody looks
    redis.call('HSET', KEYS[2], 'beat', string.format('%.6f', now))
    return false
  end
  return now - math.min(beat, now) > ttl and judge_is_steady()
end

local nodes_kind = redis.call('TYPE', KEYS[1]).ok
if nodes_kind ~= 'none' and nodes_kind ~= 'set' then
  return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' must be a set, it is a ' .. nodes_kind)
end
if not is_dead() then return { ARGV[1], 'alive', 0 } end
if redis.call('TYPE', KEYS[2]).ok == 'hash' then redis.call('HSET', KEYS[2], 'dead', string.format('%.6f', now)) end
redis.call('DEL', KEYS[2] .. ':generations')

-- A claim of its worker's last call with work in hand was not begun when the store last heard of it. A suspect
-- tells when it begins.
local last_ahead = {}
local function is_unbegun(executor, record)
  if record.standing or record.alone then return record.alone ~= true end
  if not tonumber(record.ahead) then return false end
  local name = string.match(executor, '^(.*)%.%d+$') or executor
  last_ahead[name] = last_ahead[name] or tonumber(redis.pcall('HGET', KEYS[2], 'ahead:' .. name) or 0) or 0
  return tonumber(record.ahead) >= last_ahead[name]
end

-- From max_crashes - 1 on a job is a suspect; one that died alone is poison, and stays so.
local function suspect(id, crashes, is_alone)
  if not is_alone and crashes < max_crashes - 1 then return end
  local key = prefix .. 'suspects'
  local before = redis.pcall('HGET', key, id)
  is_alone = is_alone or type(before) == 'string' and string.find(before, '"alone":true', 1, true)
  redis.pcall('HSET', key, id, string.format('{"crashes":%d,"at":%d,"waits":0%s}', crashes, now, is_alone and ',"alone":true' or ''))
end

local requeued, recovered = 0, {}
local function count_crash(record)
  if mode == 'leave' or type(record.task_id) ~= 'string' or record.task_id == '' then return end
  local key = prefix .. 'crashes:' .. record.task_id
  local crashes
  if record.crash_counted or record.is_unbegun then
    crashes = tonumber(redis.pcall('GET', key) or 0)
  else
    crashes = redis.pcall('INCR', key)
    redis.pcall('EXPIRE', key, 604800)
    if type(crashes) == 'number' then suspect(record.task_id, crashes, record.alone == true) end
  end
  recovered[#recovered + 1] = record.task_id
  recovered[#recovered + 1] = record.channel
  recovered[#recovered + 1] = type(crashes) == 'number' and crashes or 0
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

-- Whose payload it is: as the claim record tells, where there is one for one payload, else as the payload does.
local function claim_of(record, list, is_only)
  if is_only and type(record.channel) == 'string' and record.channel ~= '' then return record end
  local payload = redis.call('LINDEX', list, -1)
  local id, channel = string.match(payload, '^{"id":"([^"\\%c]+)","channel":"([^"\\%c]+)"')
  if not id then
    local envelope = decoded(payload) or {}
    id, channel = envelope.id, envelope.channel
  end
  local is_same = is_only or record.task_id == id
  return {
    task_id = type(id) == 'string' and id or is_only and record.task_id,
    channel = type(channel) == 'string' and channel ~= '' and channel or 'default',
    crash_counted = is_same and record.crash_counted,
    is_unbegun = is_same and record.is_unbegun,
    alone = is_same and record.alone,
  }
end

-- Moves the payloads of one executor back. Returns true when none is left, nil when one cannot be put back.
local function empty_executor(executor, record)
  local list = KEYS[2] .. ':claimed:' .. executor
  if redis.call('TYPE', list).ok ~= 'list' then return true end
  local is_only = redis.call('LLEN', list) == 1
  while claims_left > 0 and bytes_left > 0 do
    local claim = claim_of(record, list, is_only)
    local moved = redis.pcall('LMOVE', list, prefix .. 'channel:' .. claim.channel, 'RIGHT', 'RIGHT')
    if type(moved) ~= 'string' then return nil end -- its channel is a key of the wrong type: nothing is lost, it stays
    redis.pcall('SADD', prefix .. 'channels', claim.channel)
    count_crash(claim)
    requeued = requeued + 1
    claims_left = claims_left - 1
    bytes_left = bytes_left - #moved
    if redis.call('EXISTS', list) == 0 then return true end
  end
  return false
end

local stuck = false
local function recover_claims()
  local cursor, rounds, removed = '0', 0, 0
  repeat
    local page = redis.call('HSCAN', claims_key, cursor, 'COUNT', 100)
    cursor = page[1]
    for i = 1, #page[2], 2 do
      local executor = page[2][i]
      local record = decoded(page[2][i + 1]) or {}
      record.is_unbegun = is_unbegun(executor, record)
      local is_empty = empty_executor(executor, record)
      if is_empty then
        redis.call('HDEL', claims_key, executor)
        removed = removed + 1
      elseif is_empty == nil then stuck = true end
      if claims_left <= 0 or bytes_left <= 0 or removed >= 400 then return false end
    end
    rounds = rounds + 1
  until cursor == '0' or rounds > 20
  return cursor == '0'
end

local claims_kind = redis.call('TYPE', claims_key).ok
local is_done = claims_kind ~= 'hash' or recover_claims()
for i = 10, #ARGV do
  local is_empty = empty_executor(ARGV[i], {})
  if is_empty == nil then stuck = true
  elseif not is_empty then is_done = false end
end
local state = is_done and not stuck and 'done' or 'more'
if stuck and requeued == 0 then state = 'stuck' end
if state == 'done' then
  redis.call('DEL', KEYS[2], claims_key, KEYS[2] .. ':work', KEYS[2] .. ':signals')
  redis.call('SREM', KEYS[1], identity)
end
return { ARGV[1], state, requeued, unpack(recovered) }
