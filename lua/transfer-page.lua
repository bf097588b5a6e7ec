#!lua flags=no-writes
-- Reads one page of envelopes with every byte: of a list from the right, of a sorted set in its order.
--
-- KEYS[1]  the list or sorted set
-- ARGV     nonce, "list" or "zset", score of the entry read last ("": from the start), list: entries at the
--          right to pass over; zset: entries of that score read already, entries at most, bytes at most (but
--          always one entry), "recoded" or ""
-- Returns  nonce, size, entries read, score of the last one, entries of that score read, rows: score ("" in a
--          list), bytes, text
--
-- Clients read replies as UTF-8. For one that finds by it that an envelope is none, each byte becomes the
-- character of its number; it takes about 100 ms for each MB of bytes that are not ASCII.

local kind, score, offset = ARGV[2], ARGV[3], tonumber(ARGV[4])
local limit, max_bytes, is_recoded = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == 'recoded'
local LARGEST_CHUNK = 32

local found = redis.call('TYPE', KEYS[1]).ok
if found ~= 'none' and found ~= kind then
  return redis.error_reply('WRONGTYPE ' .. KEYS[1] .. ' must be a ' .. kind .. ', it is a ' .. found .. '; rename or delete that key')
end

local utf8 = {}
for byte = 128, 255 do
  utf8[string.char(byte)] = string.char(192 + math.floor(byte / 64), 128 + byte % 64)
end

local is_list = kind == 'list'
local size = redis.call(is_list and 'LLEN' or 'ZCARD', KEYS[1])
local start, placed = offset, offset
if is_list then
  placed = 0
elseif score ~= '' then
  start = start + redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. score)
end

-- Members in the order in which they are read, each followed by its score.
local function part_of(first, last)
  if not is_list then return redis.call('ZRANGE', KEYS[1], first, last, 'WITHSCORES') end
  local members, part = redis.call('LRANGE', KEYS[1], -1 - last, -1 - first), {}
  for i = #members, 1, -1 do
    part[#part + 1] = members[i]
    part[#part + 1] = ''
  end
  return part
end

local rows, looked, bytes, largest, chunk, is_full = {}, 0, 0, 1, 1, false
-- Small chunks, because nothing tells how large entries are before they are here.
while not is_full and looked < limit and start + looked < size and (looked == 0 or bytes + largest <= max_bytes) do
  local count = math.min(chunk, limit - looked, size - start - looked, math.max(1, math.floor((max_bytes - bytes) / largest)))
  local part = part_of(start + looked, start + looked + count - 1)
  for i = 1, #part, 2 do
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
    rows[#rows + 1] = { part[i + 1], #member, is_recoded and (string.gsub(member, '[\128-\255]', utf8)) or member }
  end
  chunk = math.min(chunk * 2, LARGEST_CHUNK)
end
return { ARGV[1], size, looked, score, placed, rows }
