#!lua flags=allow-oom
-- Settles finished claims, then reserves jobs for free slots: the one round trip of a working worker.
--
-- KEYS[1]  the node's hash; the other keys are built from it and the prefix
-- ARGV     nonce, prefix, executor, generation, base of new tokens, "1" for at-most-once,
--          ahead: a growing number, if the worker has work in hand: claims made now may not begin at once,
--          those made under smaller ones may have; else ""
--          the archive's limits, "<entries> <seconds>"
--          a acknowledgements and o settlements of all kinds, as two numbers of which one is 0, then
--            a times: slot, token
--            o times: slot, token, outcome, job id, delay in seconds, payload
--          n, then n free slots
--          n, then n times: channel, quota
-- Returns  nonce, now as seconds and microseconds, is the generation current (1/0),
--          reserved: (channel index, how many)... in the order of the payloads, payloads in the order of the
--          free slots, and 0 or, when there is more to tell:
--          { has strays (1/0), archived as garbage, refused: indexes, blocked: (index, reason)...,
--            held: channel indexes, broken: (channel index, reason)..., slots that were filled,
--            earlier attempts of each payload, suspicions: (payload index, what is stored)... }
--          Settlements and payloads are counted from 0.
--
-- A settlement takes effect only under its token and only when the slot's payload is there. The token of a
-- new claim is "<base>.<slot>". Everything that can fail is looked at before the first write.
--
-- The usual call acknowledges claims and takes envelopes of ours: it runs straight through. Whatever else
-- may be found is in two blocks that are entered, and whose functions are made, only then.

local call, pcall_redis, find, sub, byte = redis.call, redis.pcall, string.find, string.sub, string.byte
local nonce, prefix, executor, generation, token_base = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local at_most_once, ahead = ARGV[6] == '1', ARGV[7]
local claims_key, field_base = KEYS[1] .. ':claims', executor .. '.'
local list_base = KEYS[1] .. ':claimed:' .. field_base
local retries_key, discarded_key, attempts_key = prefix .. 'retries', prefix .. 'discarded', prefix .. 'attempts'
local time = call('TIME')

-- Only the Ruby member writes attempts, and few stores have a paused channel or suspects: what is not there is
-- not asked.
local paused_key, suspects_key = prefix .. 'paused_channels', prefix .. 'suspects'
local has_attempts, has_paused, has_suspects = false, false, false
if call('EXISTS', attempts_key, paused_key, suspects_key) > 0 then
  has_attempts, has_paused = call('EXISTS', attempts_key) == 1, call('EXISTS', paused_key) == 1
  has_suspects = call('TYPE', suspects_key).ok == 'hash'
end

-- What only the rarer blocks fill.
local refused, blocked, held, broken, suspicions, strays, garbage_count = {}, {}, {}, {}, {}, 0, 0
local archived = 0
local function kind(key) return call('TYPE', key).ok end
local function failed(reply) return type(reply) == 'table' and reply.err or nil end

-- Trims the archive by age and by number, a few more than were added, so that no call is long.
local function trim_archive()
  local limit, retention = string.match(ARGV[8], '(%d+) (%d+)')
  local old = call('ZCOUNT', discarded_key, '-inf', '(' .. (tonumber(time[1]) - tonumber(retention)))
  local surplus = math.min(math.max(old, call('ZCARD', discarded_key) - tonumber(limit)), archived + 20)
  if surplus > 0 then call('ZREMRANGEBYRANK', discarded_key, 0, surplus - 1) end
  archived = 0
end

-- ---------------------------------------------------------------- settling

-- Slots whose claims have ended. Their records go at the end, unless new ones take their place.
local settled = {}
local acks, others, at = tonumber(ARGV[9]), tonumber(ARGV[10]), 11
if acks + others > 0 then
  local slots, tokens, fields, lists = {}, {}, {}, {}
  for i = 1, acks do
    local slot = ARGV[at]
    slots[i], tokens[i], fields[i], lists[i] = slot, ARGV[at + 1], field_base .. slot, list_base .. slot
    at = at + 2
  end
  local is_plain, records = others == 0 and not has_attempts, nil
  if is_plain then
    records = pcall_redis('HMGET', claims_key, unpack(fields))
    is_plain = not records.err
    for i = 1, is_plain and acks or 0 do
      local record, token, slot, from, to = records[i], tokens[i], slots[i], nil, nil
      if record and token ~= '' then from, to = find(record, token, 1, true) end
      if not from or byte(record, from - 1) ~= 34 or byte(record, to + 1) ~= 34 or settled[slot]
          or has_suspects and find(record, '"standing":', 1, true) then
        is_plain = false
        break
      end
      settled[slot] = true
    end
  end
  if is_plain and call('EXISTS', unpack(lists)) == acks then
    call('DEL', unpack(lists))
    pcall_redis('INCRBY', prefix .. 'metrics:processed', acks)
  else
    settled = {}
    local match, fmt = string.match, string.format
    local outcomes, ids, delays, contents = {}, {}, {}, {}
    for i = 1, acks do outcomes[i] = 'ack' end
    for i = acks + 1, acks + others do
      local slot = ARGV[at]
      slots[i], tokens[i], fields[i], lists[i] = slot, ARGV[at + 1], field_base .. slot, list_base .. slot
      outcomes[i], ids[i], delays[i], contents[i] = ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
      at = at + 6
    end
    records = pcall_redis('HMGET', claims_key, unpack(fields))
    if failed(records) then
      return redis.error_reply('WRONGTYPE ' .. claims_key .. ' must be a hash, it is a ' .. kind(claims_key))
    end

    local function score_after(seconds)
      return fmt('%.6f', tonumber(time[1]) + tonumber(time[2]) / 1e6 + tonumber(seconds))
    end
    local function is_finite(text)
      local number = tonumber(text)
      return number ~= nil and number > -1e15 and number < 1e15
    end
    local kinds = {}
    local function target_problem(i)
      local key = (outcomes[i] == 'retry' or outcomes[i] == 'postpone') and retries_key
        or outcomes[i] == 'archive' and discarded_key
      if not key then return nil end
      local found = kinds[key] or kind(key)
      kinds[key] = found
      if found ~= 'none' and found ~= 'zset' then return key .. ' must be a sorted set, it is a ' .. found end
      if key == retries_key and not is_finite(delays[i]) then
        return 'the delay must be a finite number of seconds, it is ' .. delays[i]
      end
    end
    -- Puts the stored payload back. Returns why it could not.
    local function requeue(i)
      local channel = match(records[i], '"channel":"([^"\\]*)"')
      if not channel then
        local is_json, claim = pcall(cjson.decode, records[i])
        channel = is_json and type(claim) == 'table' and type(claim.channel) == 'string' and claim.channel
        if not channel then return 'its claim record names no channel' end
      end
      return failed(pcall_redis('LMOVE', lists[i], prefix .. 'channel:' .. channel, 'RIGHT', 'RIGHT'))
    end
    -- The id as the claim tells it, where the settlement does not.
    local function id_of(i)
      local is_json, claim = pcall(cjson.decode, records[i])
      return ids[i] or is_json and type(claim) == 'table' and type(claim.task_id) == 'string' and claim.task_id or ''
    end

    -- A suspicion ends with its job; one that was postponed has waited once more.
    local function judge(i)
      if outcomes[i] == 'retry' then return end
      local is_json, claim = pcall(cjson.decode, records[i])
      if not is_json or type(claim.task_id) ~= 'string' then return end
      if outcomes[i] ~= 'postpone' then
        call('HDEL', suspects_key, claim.task_id)
        call('DEL', prefix .. 'crashes:' .. claim.task_id)
        return
      end
      local known = call('HGET', suspects_key, claim.task_id)
      local before, waits, after = match(known or '', '^(.*"waits":)(%d+)(.*)$')
      if before then call('HSET', suspects_key, claim.task_id, before .. fmt('%d', waits + 1) .. after) end
    end

    local processed, failures, done_ids = 0, 0, {}
    local function place(i)
      if outcomes[i] == 'retry' or outcomes[i] == 'postpone' then call('ZADD', retries_key, score_after(delays[i]), contents[i])
      elseif outcomes[i] == 'archive' then
        call('ZADD', discarded_key, time[1] .. '.' .. sub('00000' .. time[2], -6), contents[i])
        archived = archived + 1
      end
    end
    for i = 1, acks + others do
      local slot, token, is_requeue = slots[i], tokens[i], outcomes[i] == 'requeue'
      local is_postponed = outcomes[i] == 'postpone'
      local is_unclaimed, is_held = token == '', nil
      if is_unclaimed then is_held = not is_requeue and not is_postponed -- at most once: the store has nothing to put back
      else is_held = records[i] and not settled[slot] and find(records[i], '"claim_token":"' .. token .. '"', 1, true) end
      if is_held and is_requeue then is_held = kind(lists[i]) == 'list' end
      local problem = is_held and (is_requeue and requeue(i) or target_problem(i)) or nil
      if is_held and not problem and not is_unclaimed and not is_requeue then
        local popped = pcall_redis('RPOP', lists[i])
        is_held = type(popped) == 'string'
        if is_postponed then contents[i] = popped end
      end
      if not is_held then
        refused[#refused + 1] = i - 1
      elseif problem then
        blocked[#blocked + 1] = i - 1
        blocked[#blocked + 1] = problem
      elseif is_unclaimed then
        -- Counted as processed when it was reserved; only where it goes is left.
        place(i)
        if outcomes[i] ~= 'ack' then failures = failures + 1 end
      else
        settled[slot] = true
        if has_suspects and not is_requeue and find(records[i], '"standing":', 1, true) then judge(i) end
        if is_postponed then
          place(i)
        elseif not is_requeue then
          if has_attempts then done_ids[#done_ids + 1] = id_of(i) end
          if outcomes[i] == 'ack' then processed = processed + 1 else failures = failures + 1 end
          place(i)
        end
      end
    end
    if #done_ids > 0 then pcall_redis('HDEL', attempts_key, unpack(done_ids)) end
    if processed > 0 then pcall_redis('INCRBY', prefix .. 'metrics:processed', processed) end
    if failures > 0 then pcall_redis('INCRBY', prefix .. 'metrics:failed', failures) end
    if archived > 0 then trim_archive() end
  end
end

-- ---------------------------------------------------------------- reserving

local is_current = pcall_redis('HGET', KEYS[1] .. ':generations', executor) == generation
if is_current and ahead ~= '' then pcall_redis('HSET', KEYS[1], 'ahead:' .. executor, ahead) end

local free, used, payloads, runs, earlier = {}, 0, {}, {}, {}
local free_count = tonumber(ARGV[at])
local channel_count = tonumber(ARGV[at + 1 + free_count])
if is_current and free_count > 0 and channel_count > 0 then
  -- A slot holds one payload at most. One that is called free but is not belongs to a claim its worker lost.
  local unsure = {}
  for i = 1, free_count do
    local slot = ARGV[at + i]
    free[i] = slot
    if not settled[slot] then unsure[#unsure + 1] = list_base .. slot end
  end
  if #unsure > 0 and not at_most_once and call('EXISTS', unpack(unsure)) > 0 then
    strays = 1
    local empty = {}
    for _, slot in ipairs(free) do
      if settled[slot] or call('EXISTS', list_base .. slot) == 0 then empty[#empty + 1] = slot end
    end
    free = empty
  end
  at = at + 2 + free_count
  free_count = #free

  local names, is_over, barred, taken = {}, {}, {}, {}
  for c = 1, channel_count do names[c], barred[c], taken[c] = ARGV[at + c * 2 - 2], 0, 0 end
  local function stop_broken(c, reason)
    is_over[c] = true
    broken[#broken + 1] = c - 1
    broken[#broken + 1] = reason
  end
  if has_paused then
    -- Where it cannot be told which channels are paused, none is served.
    local paused = pcall_redis('SMISMEMBER', paused_key, unpack(names))
    for c = 1, channel_count do
      if failed(paused) then stop_broken(c, paused_key .. ': ' .. paused.err)
      elseif paused[c] == 1 then
        is_over[c] = true
        held[#held + 1] = c - 1
      end
    end
  end

  -- Limits of one call (protocol, section 1): what keeps it short whatever the channels hold.
  local MAX_BYTES = 1048576
  if acks + others == 0 and kind(claims_key) ~= 'none' and kind(claims_key) ~= 'hash' then
    return redis.error_reply('WRONGTYPE ' .. claims_key .. ' must be a hash, it is a ' .. kind(claims_key))
  end
  local now = time[1] .. '.' .. sub('00000' .. time[2], -6)
  local holder = '","node_id":"' .. sub(KEYS[1], #prefix + 6) .. '","executor_id":"' .. executor .. '","channel":'
  local ids, id_texts, tails, failure_counts = {}, {}, {}, {}
  local taken_bytes, is_full = 0, false
  local ahead_mark = ahead == '' and '}' or ',"ahead":' .. ahead .. '}'
  local mark_token = '","claim_token":"' .. token_base .. '.'

  local function count_run(c, count)
    taken[c] = taken[c] + count
    local last = #runs
    if last > 0 and runs[last - 1] == c - 1 then runs[last] = runs[last] + count
    else runs[last + 1], runs[last + 2] = c - 1, count end
  end

  -- The rarer block: anything but an envelope of ours that may be taken. Made at its first use.
  local draw
  local function make_draw()
    local match, fmt = string.match, string.format
    local MAX_BARRED, MAX_PUT_BACK, MAX_PUT_BACK_BYTES, MAX_GARBAGE, MAX_GARBAGE_BYTES = 128, 512, 1048576, 16, 24576
    local CJSON_BYTES, CJSON_BUDGET, ESCAPE_BYTES = 65536, 131072, 16384
    local put_back, put_back_bytes, garbage_bytes, cjson_left, barriers = 0, 0, 0, CJSON_BUDGET, {}
    local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

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
    local function take(payload, c)
      if used + garbage_count > 0 and taken_bytes + #payload > MAX_BYTES then
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
          stop_broken(c, 'it holds what is no envelope, and ' .. discarded_key .. ' must be a sorted set, it is a ' .. discarded_kind)
          return false
        end
        call('ZADD', discarded_key, now, wrapped(payload, names[c]))
        archived = archived + 1
        taken_bytes = taken_bytes + #payload
        return true
      end
      if is_barred(barrier) then
        barred[c] = barred[c] + 1
        return false
      end
      if not at_most_once then call('RPUSH', list_base .. free[used + 1], payload) end
      used = used + 1
      taken_bytes = taken_bytes + #payload
      payloads[used], ids[used], failure_counts[used] = payload, id, failure_count
      id_texts[used] = sub(cjson.encode(id), 2, -2)
      count_run(c, 1)
      return true
    end

    -- Payloads are popped a few at a time and the surplus put back: one at first, then up to four, as
    -- many as fit by the largest seen. Large ones may stand behind small ones, and each one put back costs
    -- its bytes.
    local largest, most = 1024, 1
    return function(c, limit)
      local key, before, back = prefix .. 'channel:' .. names[c], used, {}
      while not is_over[c] and not is_full and used < free_count and used - before < limit do
        local chunk = most
        if chunk > 1 then
          chunk = math.min(free_count - used, limit - (used - before), most,
            math.max(1, math.floor((MAX_BYTES - taken_bytes) / largest)))
        end
        local popped = pcall_redis('RPOP', key, chunk)
        if failed(popped) then
          stop_broken(c, popped.err)
        elseif not popped then
          is_over[c] = true
        else
          most = math.min(most * 2, 4)
          for _, payload in ipairs(popped) do
            if #payload > largest then largest = #payload end
            if is_full or is_over[c] or not take(payload, c) then
              back[#back + 1] = payload
              put_back, put_back_bytes = put_back + 1, put_back_bytes + #payload
            end
            if #back >= MAX_BARRED then is_over[c] = true end
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
  end

  -- Takes envelopes of ours one after the other. At the first of another kind the rarer block goes on.
  local function take_plain(c, limit)
    local name = names[c]
    local key = prefix .. 'channel:' .. name
    local expected = '","channel":"' .. name .. '","_solid_jobs_publication":"-","queued_ms":'
    local length = #expected - 1
    local first, stop = used, used + limit
    while used < stop do
      local slot = free[used + 1]
      local list = list_base .. slot
      local payload = pcall_redis('LMOVE', key, list, 'RIGHT', 'LEFT')
      if not payload then
        is_over[c] = true
        break
      end
      if failed(payload) then break end
      local id_end = sub(payload, 1, 7) == '{"id":"' and find(payload, '"', 8, true)
      local is_plain = id_end and sub(payload, id_end, id_end + length) == expected
      local id = is_plain and sub(payload, 8, id_end - 1)
      if not is_plain or id == '' or find(id, '\\', 1, true) or used > 0 and taken_bytes + #payload > MAX_BYTES then
        call('LMOVE', list, key, 'RIGHT', 'RIGHT')
        break
      end
      local head = #payload > 2048 and sub(payload, 1, find(payload, '"arguments":', id_end, true) or 2048) or payload
      local failures, from = 0, find(head, '"failure_count":', id_end, true)
      if from and from < (find(head, '"arguments":', id_end, true) or from + 1) then
        failures = tonumber(string.match(head, '^%d+', from + 16)) or 0
      end
      used = used + 1
      taken_bytes = taken_bytes + #payload
      payloads[used], ids[used], id_texts[used], failure_counts[used] = payload, id, id, failures
    end
    if used > first then count_run(c, used - first) end
    if used < stop and not is_over[c] then
      draw = draw or make_draw()
      draw(c, stop - used)
    end
  end

  local take_from = take_plain
  if at_most_once then take_from = make_draw() end
  for pass = 1, 2 do
    for c = 1, channel_count do
      if used < free_count and not is_over[c] and not is_full then
        local left = free_count - used
        take_from(c, pass == 1 and math.min(tonumber(ARGV[at + c * 2 - 1]), left) or left)
      end
    end
  end
  for c = 1, channel_count do
    if barred[c] > 0 and taken[c] == 0 then held[#held + 1] = c - 1 end
  end
  if archived > 0 then trim_archive() end

  if used > 0 and at_most_once then
    pcall_redis('INCRBY', prefix .. 'metrics:processed', used)
    if has_attempts then pcall_redis('HDEL', attempts_key, unpack(ids)) end
  elseif used > 0 then
    if has_attempts then earlier = pcall_redis('HMGET', attempts_key, unpack(ids)) end
    if failed(earlier) then earlier = {} end
    local claims, at_run, left, tail = {}, 1, 0, nil
    for i = 1, used do
      if left == 0 then
        tail, left, at_run = holder .. cjson.encode(names[runs[at_run] + 1]) .. ',"claimed_at":' .. now .. ',"attempt":', runs[at_run + 1], at_run + 2
      end
      left = left - 1
      local slot, attempt = free[i], failure_counts[i] + 1
      if has_attempts then
        earlier[i] = tonumber(earlier[i] or 0) or 0
        attempt = math.max(failure_counts[i], earlier[i]) + 1
      end
      settled[slot] = nil
      claims[i * 2 - 1] = field_base .. slot
      claims[i * 2] = '{"task_id":"' .. id_texts[i] .. mark_token .. slot .. tail
        .. (attempt == 1 and '1' or string.format('%d', attempt)) .. ahead_mark
    end
    if has_suspects then
      local known = call('HMGET', suspects_key, unpack(ids))
      for i = 1, used do
        if known[i] then
          local standing = find(known[i], '"alone":true', 1, true) and 'poison' or 'suspect'
          claims[i * 2] = sub(claims[i * 2], 1, -2) .. ',"standing":"' .. standing .. '"}'
          suspicions[#suspicions + 1] = i - 1
          suspicions[#suspicions + 1] = known[i]
        end
      end
    end
    call('HSET', claims_key, unpack(claims))
  end
end

local gone = {}
for slot in pairs(settled) do gone[#gone + 1] = field_base .. slot end
if #gone > 0 then call('HDEL', claims_key, unpack(gone)) end

local more = 0
if strays == 1 or garbage_count > 0 or #refused > 0 or #blocked > 0 or #held > 0 or #broken > 0 or #earlier > 0
    or #suspicions > 0 then
  local filled = {}
  for i = 1, used do filled[i] = tonumber(free[i]) end
  more = { strays, garbage_count, refused, blocked, held, broken, filled, earlier, suspicions }
end
return { nonce, time[1], time[2], is_current and 1 or 0, runs, payloads, more }
