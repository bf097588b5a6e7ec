#!lua flags=allow-oom
-- Renews a node's beat. A node that is gone or declared dead is refused for ever: only `register` makes one.
--
-- KEYS     nodes, the node's hash
-- ARGV     nonce, prefix, identity, busy, quiet ("true"/"false"), "1" when the server is another one,
--          seconds without a beat that count as a gap
-- Returns  nonce, accepted (1/0), steady for ms, silent for ms, now in ms

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local text = string.format('%d.%06d', time[1], time[2])
local stored = redis.call('HMGET', KEYS[2], 'info', 'dead', 'beat', 'beating_since')
local beat, since = tonumber(stored[3] or ''), tonumber(stored[4] or '')
local silent = beat and math.max(0, now - beat) or 0
local function ms(seconds) return math.floor(seconds * 1000) end
if not stored[1] or stored[2] or redis.call('SISMEMBER', KEYS[1], ARGV[3]) == 0 then
  return { ARGV[1], 0, 0, ms(silent), ms(now) }
end
-- A node that dies sooner than others must judge more carefully: half its ttl is a gap already.
local ttl = tonumber(string.match(stored[1], '"ttl":([%d.]+)') or '')
local gap = math.min(tonumber(ARGV[7]), ttl and ttl / 2 or 7)
if not since or since > now or silent > gap or ARGV[6] == '1' then since = now end
redis.call('HSET', KEYS[2], 'beat', text, 'busy', ARGV[4], 'quiet', ARGV[5], 'beating_since', string.format('%.6f', since))

-- Suspicions end a week after the last death. A few at a time, by chance: fields of a hash do not expire.
local suspects = ARGV[2] .. 'suspects'
if redis.call('TYPE', suspects).ok == 'hash' then
  local some = redis.call('HRANDFIELD', suspects, 10, 'WITHVALUES')
  for i = 1, #some, 2 do
    local at = tonumber(string.match(some[i + 1], '"at":(%d+)') or '')
    if not at or now - at > 604800 then redis.call('HDEL', suspects, some[i]) end
  end
end
return { ARGV[1], 1, ms(now - since), ms(silent), ms(now) }
