#!lua flags=no-writes
-- Reads one page of stored envelopes: of a list by index from the left, of a sorted set in its order.
--
-- KEYS[1]  the list or sorted set
-- ARGV     nonce, "list" or "zset", score of the entry read last ("": from the start),
--          list: index to begin at; zset: entries of that score read already,
--          entries at most, bytes at most (but always one entry), bytes of text to show of an envelope in our
--          own layout, id to look for as it stands in JSON ("": every entry)
-- Returns  nonce, size, entries looked at, score of the last one, entries of that score read, rows: digest,
--          bytes, id ("": not in our layout), channel, text, is the text whole (1/0), score, place in its score
--
-- Envelopes in our own layout are told by their first fields. All others come with their text, for the
-- caller to decode: cjson would be too slow for large ones.

local kind, score, offset = ARGV[2], ARGV[3], tonumber(ARGV[4])
local limit, max_bytes, shown, wanted = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local find, match, sub = string.find, string.match, string.sub
local FOREIGN_BYTES, HEAD_BYTES, LARGEST_CHUNK = 1048576, 4096, 8

local found = redis.call('TYPE', KEYS[1]).ok
if found ~= 'none' and found ~= kind then
  return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
end

-- Tells entries of one score apart without their bytes travelling: the ends of long ones are enough.
local function digest(member)
  if #member <= 1024 then return redis.sha1hex(member) end
  return redis.sha1hex(#member .. ':' .. sub(member, 1, 768) .. sub(member, -256))
end

local function own(member)
  local id, channel = match(sub(member, 1, 1024), '^{"id":"([^"\\%c]+)","channel":"([^"\\%c]+)","_solid_jobs_publication":"[^"\\%c]*","queued_ms":%d+,"task":"[^"\\%c]+"')
  if not id or sub(member, -1) ~= '}' then return nil end
  local head = #member <= 65536 and member or sub(member, 1, 8192)
  if find(head, ',"arguments":[', 1, true) then return id, channel end
end

local rows = {}
local function look(member, member_score, place)
  local id, channel = own(member)
  if wanted ~= '' then
    if id and id ~= wanted then return end
    if not id and not find(member, wanted, 1, true) then return end
  end
  local text, is_whole = member, 1
  if id and shown == 0 then text, is_whole = '', 0
  elseif #member > (id and shown or FOREIGN_BYTES) then text, is_whole = sub(member, 1, HEAD_BYTES), 0 end
  rows[#rows + 1] = { digest(member), #member, id or '', channel or '', text, is_whole, member_score, place }
end

local is_list = kind == 'list'
local size = redis.call(is_list and 'LLEN' or 'ZCARD', KEYS[1])
local start, placed = offset, offset
if is_list then
  placed = 0
elseif score ~= '' then
  start = start + redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. score)
end

local looked, bytes, largest, chunk, is_full = 0, 0, 1, 1, false
-- Small chunks, because nothing tells how large entries are before they are here. It ends early rather than
-- read one that it could not use.
while not is_full and looked < limit and start + looked < size and (looked == 0 or bytes + largest <= max_bytes) do
  local count = math.min(chunk, limit - looked, math.max(1, math.floor((max_bytes - bytes) / largest)))
  local first = start + looked
  local part = is_list and redis.call('LRANGE', KEYS[1], first, first + count - 1)
    or redis.call('ZRANGE', KEYS[1], first, first + count - 1, 'WITHSCORES')
  for i = 1, #part, is_list and 1 or 2 do
    local member = part[i]
    if looked > 0 and bytes + #member > max_bytes then
      is_full = true
      break
    end
    largest = math.max(largest, #member)
    bytes = bytes + #member
    looked = looked + 1
    if not is_list then
      if part[i + 1] ~= score then score, placed = part[i + 1], 0 end
      placed = placed + 1
    end
    look(member, score, placed - 1)
  end
  chunk = math.min(chunk * 2, LARGEST_CHUNK)
end
return { ARGV[1], size, looked, score, placed, rows }
