-- The calls of the store in Redis, each one step that no other client comes between.
--
-- Kept under the prefix, for each kind:
--   owners   a sorted set of owners, by a time before which none of their records ends
--   amounts  a hash: how many records (r<owner>) and bytes (b<owner>); of all, the owner is empty
--   counted  there while amounts need not be counted anew
-- for each owner of a kind:
--   ends     a sorted set of ids, by when they end
-- and for each record:
--   meta     a hash: head, nbytes of head and body, length of the body, and by whom it was used up
--   body     its body, where there is any
--
-- Redis may drop any of these by itself: what ended long ago, or, where its policy is to evict,
-- what was not used lately. So no key is relied on: a record is there if its meta and body are;
-- what is found missing is no longer counted, and all of a kind is counted anew once in a while.
--
-- ARGV: the prefix, the time (empty: that of Redis), the call, and what it is given.

-- Seconds that amounts may be wrong for.
local RECOUNT_SECONDS = 60
-- Seconds after its end that a record may still be counted, and so is left to be swept here.
local SWEPT_WITHIN_SECONDS = 2 * RECOUNT_SECONDS

local prefix, now = ARGV[1], tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] + time[2] / 1000000
end

local function key(...)
  return table.concat({prefix, ...}, ':')
end

local function written(number)
  return string.format('%.17g', number)
end

-- Amounts are pairs: records, bytes.

local function plus(one, other)
  return {one[1] + other[1], one[2] + other[2]}
end

local function minus(one, other)
  return {one[1] - other[1], one[2] - other[2]}
end

local function within(amount, most)
  return amount[1] <= most[1] and amount[2] <= most[2]
end

local function policy(at)
  local n = {}
  for i = 0, 5 do n[i + 1] = tonumber(ARGV[at + i]) end
  return {owned = {n[1], n[2]}, all = {n[3], n[4]}, ttl = n[5], yields = n[6] == 1}
end

-- How much an owner has of a kind, as it is counted; without an owner, how much all have.
local function amount(kind, owner)
  local got = redis.call('HMGET', key(kind, 'amounts'), 'r' .. owner, 'b' .. owner)
  return {tonumber(got[1] or 0), tonumber(got[2] or 0)}
end

-- Where Redis takes nothing more for lack of memory, dropping works but counting does not: what is
-- not counted then is when all is counted anew.
local function count(kind, owner, by)
  local amounts = key(kind, 'amounts')
  for _, whose in ipairs({owner, ''}) do
    local records = redis.pcall('HINCRBY', amounts, 'r' .. whose, by[1])
    redis.pcall('HINCRBY', amounts, 'b' .. whose, by[2])
    if type(records) == 'number' and records <= 0 then
      redis.pcall('HDEL', amounts, 'r' .. whose, 'b' .. whose)
    end
  end
end

-- Drops a record, if there is one; gives how much that was.
local function drop(kind, owner, id)
  local meta = key(kind, 'meta', owner, id)
  local nbytes = tonumber(redis.call('HGET', meta, 'nbytes') or 0)
  redis.pcall('UNLINK', meta, key(kind, 'body', owner, id))
  if redis.pcall('ZREM', key(kind, 'ends', owner), id) ~= 1 then return {0, 0} end
  count(kind, owner, {-1, -nbytes})
  return {1, nbytes}
end

-- Has a record counted, and swept when it has ended.
local function enlist(kind, owner, id, nbytes, ends)
  if redis.call('ZADD', key(kind, 'ends', owner), 'NX', ends, id) == 1 then
    count(kind, owner, {1, nbytes})
  end
  redis.call('ZADD', key(kind, 'owners'), 'NX', ends, owner)
end

local function let_end(kind, owner, id, ends)
  for _, what in ipairs({'meta', 'body'}) do
    local name = key(kind, what, owner, id)
    if ends == math.huge then
      redis.pcall('PERSIST', name)
    else
      local ms = math.ceil((ends - now + SWEPT_WITHIN_SECONDS) * 1000)
      redis.pcall('PEXPIRE', name, ms)
    end
  end
end

local function is_whole(kind, owner, id, length)
  return length == 0 or redis.call('EXISTS', key(kind, 'body', owner, id)) == 1
end

-- A record that is there and has not ended.
local function found(kind, owner, id)
  local name = key(kind, 'meta', owner, id)
  local meta = redis.call('HMGET', name, 'head', 'nbytes', 'length', 'by')
  local ends = redis.call('ZSCORE', key(kind, 'ends', owner), id)
  local length = tonumber(meta[3] or 0)
  if not meta[1] or not is_whole(kind, owner, id, length) then
    if meta[1] or ends then drop(kind, owner, id) end
    return nil
  end
  local nbytes = tonumber(meta[2])
  if ends then
    ends = tonumber(ends)
  else
    local ms = redis.call('PTTL', name)
    ends = ms < 0 and math.huge or now + ms / 1000 - SWEPT_WITHIN_SECONDS
  end
  pcall(enlist, kind, owner, id, nbytes, ends)  -- if Redis lost that, and can be written to
  if ends <= now then return nil end
  return {head = meta[1], nbytes = nbytes, length = length, by = meta[4] or '', ends = ends}
end

-- Drops what has ended.
local function sweep(kind)
  local owners = key(kind, 'owners')
  for _, owner in ipairs(redis.call('ZRANGEBYSCORE', owners, '-inf', now)) do
    local ends = key(kind, 'ends', owner)
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do
      drop(kind, owner, id)
    end
    local first = redis.call('ZRANGE', ends, 0, 0, 'WITHSCORES')
    if first[1] then
      redis.call('ZADD', owners, first[2], owner)
    else
      redis.call('ZREM', owners, owner)
    end
  end
end

-- Counts a kind anew, unless that was done lately. As its first command is one that needs memory,
-- a call that begins with this fails before it has changed anything, if it must fail.
local function recount(kind)
  if not redis.call('SET', key(kind, 'counted'), 1, 'NX', 'EX', RECOUNT_SECONDS) then return end
  redis.call('UNLINK', key(kind, 'amounts'))
  for _, owner in ipairs(redis.call('ZRANGE', key(kind, 'owners'), 0, -1)) do
    local ends, held = key(kind, 'ends', owner), {0, 0}
    for _, id in ipairs(redis.call('ZRANGE', ends, 0, -1)) do
      local meta = redis.call('HMGET', key(kind, 'meta', owner, id), 'nbytes', 'length')
      if meta[1] and is_whole(kind, owner, id, tonumber(meta[2])) then
        held = plus(held, {1, tonumber(meta[1])})
      else
        redis.call('UNLINK', key(kind, 'meta', owner, id), key(kind, 'body', owner, id))
        redis.call('ZREM', ends, id)
      end
    end
    if held[1] > 0 then count(kind, owner, held) end
  end
end

local function drop_oldest(kind, owner)
  local oldest = redis.call('ZRANGE', key(kind, 'ends', owner), 0, 0)
  return oldest[1] and drop(kind, owner, oldest[1])
end

-- Drops what was used longest ago by whoever has the largest share, until there is room.
local function drop_of_largest(kind, owner, wanted, all, most)
  local held, heap = {}, {}
  local fields = redis.call('HGETALL', key(kind, 'amounts'))
  for i = 1, #fields, 2 do
    local whose = string.sub(fields[i], 2)
    if whose ~= '' then
      if not held[whose] then
        held[whose] = {0, 0}
        heap[#heap + 1] = whose
      end
      held[whose][string.sub(fields[i], 1, 1) == 'r' and 1 or 2] = tonumber(fields[i + 1])
    end
  end
  local function share(whose)
    local taken = whose == owner and plus(held[whose], wanted) or held[whose]
    return math.max(taken[1] / math.max(most[1], 1), taken[2] / math.max(most[2], 1))
  end
  local shares = {}
  for _, whose in ipairs(heap) do shares[whose] = share(whose) end
  local function before(one, other)
    return shares[one] > shares[other] or shares[one] == shares[other] and one < other
  end
  local function sink(i)
    while true do
      local first = i
      for child = 2 * i, 2 * i + 1 do
        if heap[child] and before(heap[child], heap[first]) then first = child end
      end
      if first == i then return end
      heap[i], heap[first] = heap[first], heap[i]
      i = first
    end
  end
  for i = math.floor(#heap / 2), 1, -1 do sink(i) end
  while heap[1] and not within(plus(all, wanted), most) do
    local largest = heap[1]
    -- Who has nothing, against what was counted, is counted anew the next time.
    local dropped = drop_oldest(kind, largest)
    if not dropped then
      redis.call('UNLINK', key(kind, 'counted'))
      dropped = held[largest]
    end
    all, held[largest] = minus(all, dropped), minus(held[largest], dropped)
    if held[largest][1] > 0 then
      shares[largest] = share(largest)
    else
      heap[1] = heap[#heap]
      heap[#heap] = nil
    end
    sink(1)
  end
end

-- Drops what has to make room for a record, or gives whose quota has none, and what it would be.
local function make_room(kind, owner, id, nbytes, policy)
  local wanted, replaced = {1, nbytes}, {0, 0}
  local old = redis.call('HGET', key(kind, 'meta', owner, id), 'nbytes')
  if old and redis.call('ZSCORE', key(kind, 'ends', owner), id) then
    replaced = {1, tonumber(old)}
  end
  local mine, all = minus(amount(kind, owner), replaced), minus(amount(kind, ''), replaced)
  for _, bound in ipairs({{'owned', mine}, {'all', all}}) do
    local after, most = plus(bound[2], wanted), policy[bound[1]]
    if not within(after, most) and not (policy.yields and within(wanted, most)) then
      return {bound[1], after[1], after[2]}
    end
  end
  drop(kind, owner, id)
  while not within(plus(mine, wanted), policy.owned) do
    local dropped = drop_oldest(kind, owner)
    if not dropped then
      redis.call('UNLINK', key(kind, 'counted'))
      dropped = mine
    end
    mine, all = minus(mine, dropped), minus(all, dropped)
  end
  if not within(plus(all, wanted), policy.all) then
    drop_of_largest(kind, owner, wanted, all, policy.all)
  end
end

-- Holds a record whose body, where there is any, is in the key 'from'.
local function hold(kind, owner, id, record, from)
  if record.length > 0 then redis.call('RENAME', from, key(kind, 'body', owner, id)) end
  redis.call('HSET', key(kind, 'meta', owner, id),
    'head', record.head, 'nbytes', record.nbytes, 'length', record.length, 'by', record.by)
  enlist(kind, owner, id, record.nbytes, record.ends)
  let_end(kind, owner, id, record.ends)
end

local calls = {}

-- Given also: head, bytes of both, length of the body, the key that the body is in, the policy.
function calls.put(kind, owner, id, head, nbytes, length, from)
  recount(kind)
  sweep(kind)
  local kept = policy(11)
  local ends = now + kept.ttl
  nbytes, length = tonumber(nbytes), tonumber(length)
  if length > 0 and redis.call('EXISTS', from) == 0 then return {'lost'} end
  local refused = make_room(kind, owner, id, nbytes, kept)
  if refused then
    redis.call('UNLINK', from)
    return refused
  end
  local record = {head = head, nbytes = nbytes, length = length, by = '', ends = ends}
  hold(kind, owner, id, record, from)
  return {'held', written(ends)}
end

-- Given also: how many seconds it is kept from now on.
function calls.find(kind, owner, id, ttl)
  local record = found(kind, owner, id)
  if record then
    if record.ends ~= math.huge then
      local ends = now + tonumber(ttl)
      local moved = redis.pcall('ZADD', key(kind, 'ends', owner), ends, id)
      if type(moved) == 'number' then
        record.ends = ends
        let_end(kind, owner, id, ends)
      end
    end
    return {record.head, record.length, written(record.ends)}
  end
  record = found('used', owner, kind .. ' ' .. id)
  return record and {record.head, record.length, written(record.ends), record.by}
end

-- Gives ids and when they end, one after the other.
function calls.listed(kind, owner)
  return redis.call('ZRANGEBYSCORE', key(kind, 'ends', owner), '(' .. written(now), '+inf',
    'WITHSCORES')
end

-- Given also: the ids.
function calls.heads(kind, owner)
  local heads = {}
  for i = 6, #ARGV do
    local record = found(kind, owner, ARGV[i])
    heads[#heads + 1] = record and record.head or false
  end
  return heads
end

-- Given also: by whom, or nothing, and the policy of what is used up.
function calls.consume(kind, owner, id, by)
  recount('used')
  sweep(kind)
  sweep('used')
  local used, record = kind .. ' ' .. id, found(kind, owner, id)
  if not record then
    local before = found('used', owner, used)
    return (before and by ~= '' and before.by == by) and 1 or 0
  end
  local kept = policy(8)
  record.by, record.ends = by, now + kept.ttl
  -- What is told of by whom takes as much as in other stores: the word and a space.
  record.nbytes = record.nbytes + #by + 1
  if by == '' or make_room('used', owner, used, record.nbytes, kept) then
    record.head, record.by, record.nbytes, record.length = '', '', 0, 0
    if make_room('used', owner, used, 0, kept) then record = nil end
  end
  if record then hold('used', owner, used, record, key(kind, 'body', owner, id)) end
  drop(kind, owner, id)
  return 1
end

function calls.remove(kind, owner, id)
  redis.call('UNLINK', prefix .. ':')  -- nothing, but what fails where nothing can be written
  local used = kind .. ' ' .. id
  local there = found(kind, owner, id) or found('used', owner, used)
  drop(kind, owner, id)
  drop('used', owner, used)
  return there and 1 or 0
end

function calls.amounts(kind, owner)
  recount(kind)
  sweep(kind)
  return amount(kind, owner)
end

-- Ids and policies may be many: who is given these reads them from ARGV.
return calls[ARGV[3]](unpack(ARGV, 4, math.min(#ARGV, 10)))
