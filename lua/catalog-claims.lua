#!lua flags=no-writes
-- Looks at some claims of a node, each with its payload, at one moment.
--
-- KEYS[1]  the node's hash; its claims and lists are built from it
-- ARGV     nonce, bytes at most (but always one claim), holders (fields of the claims hash)...
-- Returns  nonce, rows: has a record (1/0), record, type of the list, payloads, then of the first payload:
--          digest, bytes, text, is the text whole (1/0)
--
-- There may be fewer rows than holders, when the bytes are used up: call again with the others.

local bytes_left = tonumber(ARGV[2])
local claims = KEYS[1] .. ':claims'
local TEXT_BYTES, RECORD_BYTES, HEAD_BYTES = 1048576, 65536, 4096
local claims_kind = redis.call('TYPE', claims).ok
if claims_kind ~= 'none' and claims_kind ~= 'hash' then
  return redis.error_reply('WRONGTYPE ' .. claims .. ' must be a hash, it is a ' .. claims_kind .. '; rename or delete that key')
end

local rows = {}
for i = 3, #ARGV do
  if bytes_left <= 0 then break end
  local list = KEYS[1] .. ':claimed:' .. ARGV[i]
  local record = redis.call('HGET', claims, ARGV[i])
  local row = { record and 1 or 0, string.sub(record or '', 1, RECORD_BYTES), redis.call('TYPE', list).ok, 0, '', 0, '', 0 }
  if row[3] == 'list' then
    local payload = redis.call('LINDEX', list, 0)
    bytes_left = bytes_left - #payload
    row[4] = redis.call('LLEN', list)
    row[5] = redis.sha1hex(string.sub(payload, 1, HEAD_BYTES))
    row[6] = #payload
    row[7] = #payload <= TEXT_BYTES and payload or string.sub(payload, 1, HEAD_BYTES)
    row[8] = #payload <= TEXT_BYTES and 1 or 0
  end
  rows[#rows + 1] = row
end
return { ARGV[1], rows }
