#!lua flags=no-writes
-- Looks at some channels: how long each is, what waits longest, whether it is paused.
--
-- KEYS     channels, paused_channels
-- ARGV     nonce, prefix, bytes at most (but always one channel), names...
-- Returns  nonce, now in ms, rows: type of the key, size, is paused (1/0), is known (1/0), beginning of the
--          next envelope to run (whole when it is small and not in our own layout)
--
-- There may be fewer rows than names, when the bytes are used up: call again with the others.

local prefix, bytes_left = ARGV[2], tonumber(ARGV[3])
local HEAD_BYTES, FOREIGN_BYTES = 1024, 65536

for i = 1, 2 do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= 'set' then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' must be a set, it is a ' .. found .. '; rename or delete that key')
  end
end

local time = redis.call('TIME')
local rows = {}
for i = 4, #ARGV do
  if bytes_left <= 0 then break end
  local key = prefix .. 'channel:' .. ARGV[i]
  local found = redis.call('TYPE', key).ok
  local size, text = 0, ''
  if found == 'list' then
    size = redis.call('LLEN', key)
    text = redis.call('LINDEX', key, -1)
    bytes_left = bytes_left - #text
    if #text > FOREIGN_BYTES or string.find(text, '^{"id":"[^"]*","channel":"[^"]*","_solid_jobs_publication":"') then
      text = string.sub(text, 1, HEAD_BYTES)
    end
  end
  rows[#rows + 1] = { found, size, redis.call('SISMEMBER', KEYS[2], ARGV[i]), redis.call('SISMEMBER', KEYS[1], ARGV[i]), text }
end
return { ARGV[1], string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)), rows }
