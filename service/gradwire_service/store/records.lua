-- The calls of the store in Redis. A script runs alone: no other client's command comes between.
--
-- Keys, after the prefix and the kind:
--   record:OWNER:ID   a hash: head, nbytes of head and body, and expires, a time
--   body:OWNER:ID     the body, also if it is empty
--   expiry:OWNER      a sorted set: the owner's ids by when they expire
--   owners            a sorted set: owners by a time before which none of their records expires
--   usage             a hash: records (rOWNER) and bytes (bOWNER) of each owner; r and b of all
--   counted           exists while usage need not be counted anew
--
-- Redis drops keys by itself: expired ones and, depending on its policy, any. So no key is relied
-- on: a record exists if both of its own do, and usage is counted anew once in a while.
--
-- A full Redis refuses commands that need memory, unless the script has written before. So a call
-- either begins with such a command, and fails before it has changed anything, or deletes first.
--
-- ARGV: the prefix, the time (empty: that of Redis), the call and its arguments.

-- Seconds for which usage may be wrong.
local RECOUNT_SECONDS = 60
-- Seconds that an expired record is left for the sweep, which needs its size.
local GRACE_SECONDS = 2 * RECOUNT_SECONDS

local prefix, now = ARGV[1], tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] + time[2] / 1000000
end

local function key(...)
  return table.concat({prefix, ...}, ':')
end

local function exact(number)
  return string.format('%.17g', number)
end

local function count(kind, owner, records, nbytes)
  local usage = key(kind, 'usage')
  for _, whose in ipairs({owner, ''}) do
    if nbytes ~= 0 then redis.call('HINCRBY', usage, 'b' .. whose, nbytes) end
    if records ~= 0 and redis.call('HINCRBY', usage, 'r' .. whose, records) <= 0 then
      redis.call('HDEL', usage, 'r' .. whose, 'b' .. whose)
    end
  end
end

-- The records (one or none) and bytes that an id adds to its owner's usage.
local function size(kind, owner, id)
  if not redis.call('ZSCORE', key(kind, 'expiry', owner), id) then return 0, 0 end
  return 1, tonumber(redis.call('HGET', key(kind, 'record', owner, id), 'nbytes') or 0)
end

-- Deletes a record, if there is one. With 'to', that key becomes the body's.
local function drop(kind, owner, id, to)
  local record, body = key(kind, 'record', owner, id), key(kind, 'body', owner, id)
  local records, nbytes = size(kind, owner, id)
  if to then redis.call('RENAME', body, to) end
  redis.call('UNLINK', record, body)
  redis.call('ZREM', key(kind, 'expiry', owner), id)
  if records > 0 then count(kind, owner, -1, 0 - nbytes) end  -- -0 would be no integer
  return records, nbytes
end

-- Sets when a record expires, and counts it unless it is counted.
local function index(kind, owner, id, nbytes, expires)
  local record, body = key(kind, 'record', owner, id), key(kind, 'body', owner, id)
  local never = expires == math.huge
  for _, name in ipairs({record, body}) do
    if never then
      redis.call('PERSIST', name)
    else
      redis.call('PEXPIRE', name, math.ceil((expires - now + GRACE_SECONDS) * 1000))
    end
  end
  -- To look at a record that never expires changes nothing, so it need not wait for the disk.
  redis.call(never and 'HSETNX' or 'HSET', record, 'expires', expires)
  redis.call('ZADD', key(kind, 'owners'), 'NX', expires, owner)
  if redis.call('ZADD', key(kind, 'expiry', owner), expires, id) == 1 then
    count(kind, owner, 1, nbytes)
  end
end

-- The head, nbytes and expiry of a record that has not expired, or nil.
local function lookup(kind, owner, id)
  local record = key(kind, 'record', owner, id)
  local fields = redis.call('HMGET', record, 'head', 'nbytes', 'expires')
  local expires = tonumber(fields[3] or 0)
  if expires > now and redis.call('EXISTS', key(kind, 'body', owner, id)) == 1 then
    return fields[1], tonumber(fields[2]), expires
  end
end

local function sweep(kind)
  local owners = key(kind, 'owners')
  for _, owner in ipairs(redis.call('ZRANGEBYSCORE', owners, '-inf', now)) do
    local expiry = key(kind, 'expiry', owner)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', now)) do
      drop(kind, owner, id)
    end
    local first = redis.call('ZRANGE', expiry, 0, 0, 'WITHSCORES')
    if first[1] then
      redis.call('ZADD', owners, first[2], owner)
    else
      redis.call('ZREM', owners, owner)
    end
  end
end

-- Counts a kind anew, unless that was done lately, and drops what has expired.
local function tidy(kind)
  if redis.call('SET', key(kind, 'counted'), 1, 'NX', 'EX', RECOUNT_SECONDS) then
    redis.call('UNLINK', key(kind, 'usage'))
    for _, owner in ipairs(redis.call('ZRANGE', key(kind, 'owners'), 0, -1)) do
      local expiry, records, nbytes = key(kind, 'expiry', owner), 0, 0
      for _, id in ipairs(redis.call('ZRANGE', expiry, 0, -1)) do
        local record, body = key(kind, 'record', owner, id), key(kind, 'body', owner, id)
        if redis.call('EXISTS', record, body) == 2 then
          records, nbytes = records + 1, nbytes + redis.call('HGET', record, 'nbytes')
        else
          redis.call('ZREM', expiry, id)
          redis.call('UNLINK', record, body)
        end
      end
      count(kind, owner, records, nbytes)
    end
  end
  sweep(kind)
end

-- Whether something added, records and bytes, is within the limits: two of the owner, two of all, and
-- two of both added up. 'used' is the usage of both.
local function fits(used, added, limits)
  for i = 1, 2 do
    local own, total = used[i] + added[i], used[i + 2] + added[i]
    if own > tonumber(limits[i]) or total > tonumber(limits[i + 2]) then return false end
    if own + total > tonumber(limits[i + 4]) then return false end
  end
  return true
end

-- Drops the old record of an id, and as many of the owner's oldest records and bytes as the caller
-- says. If that is not enough for the limits, drops nothing and returns what the owner and all use
-- beside the old record, and nbytes.
local function make_room(kind, owner, id, nbytes, records, bytes, limits)
  local old = {size(kind, owner, id)}
  local used = redis.call('HMGET', key(kind, 'usage'), 'r' .. owner, 'b' .. owner, 'r', 'b')
  for i = 1, 4 do used[i] = (used[i] or 0) - old[2 - i % 2] end
  if not fits(used, {1 - records, nbytes - bytes}, limits) or records > used[1] or bytes > used[2] then
    return {{used[1], used[2]}, {used[3], used[4]}, nbytes}
  end
  drop(kind, owner, id)
  while records > 0 or bytes > 0 do
    local oldest = redis.call('ZRANGE', key(kind, 'expiry', owner), 0, 0)[1]
    if not oldest then  -- Redis has dropped what was counted
      redis.call('UNLINK', key(kind, 'counted'))
      return
    end
    local _, freed = drop(kind, owner, oldest)
    records, bytes = records - 1, bytes - freed
  end
end

local function save(kind, owner, id, head, nbytes, expires)
  redis.call('HSET', key(kind, 'record', owner, id), 'head', head, 'nbytes', nbytes)
  index(kind, owner, id, nbytes, expires)
end

local calls = {}

-- The key 'upload' has the body, and becomes the record's. Then come the records and bytes to drop,
-- and the limits: see 'fits'.
function calls.put(kind, owner, id, head, nbytes, upload, ttl, records, bytes, ...)
  tidy(kind)
  if redis.call('EXISTS', upload) == 0 then return 'lost' end
  nbytes, records, bytes = tonumber(nbytes), tonumber(records), tonumber(bytes)
  local over = make_room(kind, owner, id, nbytes, records, bytes, {...})
  if over then return over end
  redis.call('RENAME', upload, key(kind, 'body', owner, id))
  save(kind, owner, id, head, nbytes, now + ttl)
  return exact(now + ttl)
end

-- The records of a commit as they would be: each change has a kind, owner and id; whether the head
-- expected is 'any', that of 'none', or the 'head' that follows; what is done: only 'check', 'drop',
-- 'keep' or 'append' to the body, 'put' one, or that of the 'upload' that is named; head, body, ttl.
local CHANGE = 9

-- Of each kind, what changes add; nil if a record is not as expected.
local function added(given, first, limits)
  local more = {}
  for i = first, #given, CHANGE do
    local kind, owner, id, expected, seen, how, head, body = unpack(given, i, i + 7)
    local there, records, nbytes = lookup(kind, owner, id), size(kind, owner, id)
    if expected == 'none' and there or expected == 'head' and there ~= seen then return nil, 'changed' end
    if how == 'upload' and redis.call('EXISTS', body) == 0 then return nil, 'lost' end
    local sum = more[kind] or {owner, 0, 0}
    more[kind] = sum
    if how == 'check' then
      records, nbytes = 0, 0
    elseif how ~= 'drop' then
      local length = how == 'upload' and redis.call('STRLEN', body) or #body
      if there and how ~= 'put' and how ~= 'upload' then
        length = length + redis.call('STRLEN', key(kind, 'body', owner, id))
      end
      sum[2], sum[3] = sum[2] + 1, sum[3] + #head + length
    end
    sum[2], sum[3] = sum[2] - records, sum[3] - nbytes
  end
  return more
end

-- What is used where a kind would be over its limits: kind, own and total usage, what is added.
local function over(more, limits)
  for kind, sum in pairs(more) do
    local owner, records, nbytes = unpack(sum)
    local used = redis.call('HMGET', key(kind, 'usage'), 'r' .. owner, 'b' .. owner, 'r', 'b')
    for i = 1, 4 do used[i] = tonumber(used[i] or 0) end
    if (records > 0 or nbytes > 0) and not fits(used, {records, nbytes}, limits[kind]) then
      return {kind, {used[1], used[2]}, {used[3], used[4]}, {records, nbytes}}
    end
  end
end

local function write(kind, owner, id, how, head, body, ttl)
  local record, at = key(kind, 'record', owner, id), key(kind, 'body', owner, id)
  local there, before, expires = lookup(kind, owner, id)
  local counted, nbytes = size(kind, owner, id)
  if not there then  -- what has expired is as good as none
    if how == 'append' or how == 'keep' then how = 'put' end
    drop(kind, owner, id)
    counted = 0
  end
  if how == 'append' then
    redis.call('APPEND', at, body)
  elseif how == 'put' then
    redis.call('SET', at, body, 'KEEPTTL')
  elseif how == 'upload' then
    redis.call('RENAME', body, at)
  end
  local length = #head + redis.call('STRLEN', at)
  if how == 'keep' and length <= nbytes then  -- another head of a few bytes less is not counted anew
    redis.call('HSET', record, 'head', head)
    length = nbytes
  else
    redis.call('HSET', record, 'head', head, 'nbytes', length)
  end
  if counted > 0 and length ~= nbytes then count(kind, owner, 0, length - nbytes) end
  ttl = tonumber(ttl)
  if counted == 0 or how == 'upload' or expires - now <= 0.9 * ttl then
    index(kind, owner, id, length, now + ttl)
  end
end

-- Makes all changes, or none: after the limits of so many kinds come the changes. Publishes the
-- message, and returns how many have received it; without the right to, none has.
function calls.commit(channel, message, kinds, ...)
  local given, limits, at = {...}, {}, 1
  for _ = 1, tonumber(kinds) do
    tidy(given[at])
    limits[given[at]] = {unpack(given, at + 1, at + 6)}
    at = at + 7
  end
  local more, why = added(given, at, limits)
  local refused = more and over(more, limits)
  if not more or refused then
    for i = at, #given, CHANGE do
      if given[i + 5] == 'upload' then redis.call('UNLINK', given[i + 7]) end
    end
    return refused or why
  end
  for i = at, #given, CHANGE do
    local kind, owner, id, _, _, how, head, body, ttl = unpack(given, i, i + 8)
    if how == 'drop' then
      drop(kind, owner, id)
    elseif how ~= 'check' then
      write(kind, owner, id, how, head, body, ttl)
    end
  end
  local received = channel ~= '' and redis.pcall('PUBLISH', channel, message)
  return type(received) == 'number' and received or 0
end

-- Moves the expiry on where it is less than 'least' away; if Redis cannot be written to, it stays.
function calls.find(kind, owner, id, ttl, least)
  local used, head, nbytes, expires = 0, lookup(kind, owner, id)
  if not head then
    used, head, nbytes, expires = 1, lookup('used', owner, kind .. ' ' .. id)
  elseif expires - now <= tonumber(least) and pcall(index, kind, owner, id, nbytes, now + ttl) then
    expires = now + ttl
  end
  return head and {head, exact(expires), used}
end

-- The head, expiry and nbytes of each record, and its body from 'start' on unless that is empty.
function calls.peek(start, ...)
  local given, found = {...}, {}
  for i = 1, #given, 3 do
    local kind, owner, id = unpack(given, i, i + 2)
    local head, nbytes, expires = lookup(kind, owner, id)
    local tail = ''
    if head and start ~= '' then
      tail = redis.call('GETRANGE', key(kind, 'body', owner, id), start, -1)
    end
    found[#found + 1] = head and {head, exact(expires), nbytes, tail} or false
  end
  return found
end

-- Keeps the 'whole' record, headed by who used it, or a 'mark' that it was used, or 'nothing'.
function calls.consume(kind, owner, id, by, kept, ttl, records, bytes, ...)
  tidy('used')
  sweep(kind)
  local used, head, nbytes = kind .. ' ' .. id, lookup(kind, owner, id)
  if not head then
    local before = by ~= '' and lookup('used', owner, used)
    return before and string.sub(before, 1, #by + 1) == by .. ' ' and 1 or 0
  end
  if kept == 'nothing' then
    drop(kind, owner, id)
    return 1
  end
  head, nbytes = by .. ' ' .. head, nbytes + #by + 1
  if kept == 'mark' then head, nbytes = '', 0 end
  local over = make_room('used', owner, used, nbytes, tonumber(records), tonumber(bytes), {...})
  if over then return over end
  local body = key('used', 'body', owner, used)
  drop(kind, owner, id, kept == 'whole' and body)
  if kept == 'mark' then redis.call('SET', body, '') end
  save('used', owner, used, head, nbytes, now + ttl)
  return 1
end

function calls.remove(kind, owner, id)
  local used = kind .. ' ' .. id
  local there = lookup(kind, owner, id) or lookup('used', owner, used)
  drop(kind, owner, id)
  drop('used', owner, used)
  return there and 1 or 0
end

function calls.usage(kind, owner)
  tidy(kind)
  return redis.call('HMGET', key(kind, 'usage'), 'r' .. owner, 'b' .. owner)
end

return calls[ARGV[3]](unpack(ARGV, 4))
