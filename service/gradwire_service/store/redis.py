"""Records in Redis, shared by all processes that reach it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from gradwire_service.settings.storage import redacted_address
from gradwire_service.store.circuit import CircuitBreaker
from gradwire_service.store.interface import SharedStore, Subscription, Unavailable
from gradwire_service.store.quotas import NOTHING, Amount, OverQuota, Policy, Usage
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Change,
    Key,
    Kind,
    ListedRecord,
    Notice,
    Peeked,
    Record,
    StoredRecord,
)
from gradwire_service.wire.shared import SharedMemory, to_bytes

#: Time that an uploaded body waits for the call that moves it to its place.
_UPLOAD_SECONDS = 60
#: Of reads of 4 KiB to 1 MiB, the size that is fastest for bodies of megabytes.
_READ_BYTES = 1 << 18
#: Larger bodies bypass the script.
_SHORT_BYTES = 1 << 14
#: Heads that one script call reads, so that it does not block Redis for long.
_HEADS = 1000
#: Attempts at a write while others take the room that it has found.
_ATTEMPTS = 100
_UNREACHABLE = "the store cannot be reached"
#: Failures that may end, by the client's errors; subclasses first.
_FAILURES: Mapping[type[exceptions.RedisError], str] = {
    exceptions.AuthenticationError: "the store refuses this service",
    exceptions.AuthorizationError: "the store refuses this service",
    exceptions.NoPermissionError: "the store refuses this service",
    exceptions.BusyLoadingError: "the store is loading its data",
    exceptions.OutOfMemoryError: "the store is full",
    exceptions.ReadOnlyError: "the store cannot be written to",
    exceptions.MasterDownError: "the store has lost its primary",
    exceptions.TimeoutError: "the store does not answer",
    exceptions.ConnectionError: _UNREACHABLE,
    exceptions.InvalidResponse: _UNREACHABLE,
}
#: Failures without a class of their own, by the first word of the error.
_FAILURES_BY_WORD = {
    "BUSY": "the store is busy",
    "MISCONF": "the disk of the store fails",
    "NOREPLICAS": "the store has lost its replicas",
}
#: After these, calls are refused until Redis answers again.
_LOST = exceptions.ConnectionError, exceptions.TimeoutError, exceptions.InvalidResponse


class RedisStore(SharedStore):
    """Records in one Redis, version 6.2 or later; a cluster would spread its keys.

    Each call is one run of ``records.lua``, by the clock of Redis (only tests set ``now``). The
    policy is decided here: a script refuses a write that exceeds the limits it is given, and the
    next attempt says how much of the owner's it drops. Bodies bypass the script, which would copy
    them: they are uploaded to a key of their own, which is renamed. Source: Redis' documentation,
    Scripting with Lua.
    """

    #: A notice may be lost with its connection, and older versions of the service give none.
    look_seconds = 2.0
    tells_others = True

    def __init__(
        self,
        url: str,
        policies: Mapping[Kind, Policy],
        *,
        prefix: str = "gradwire",
        connect_seconds: float = 0.5,
        timeout_seconds: float = 1.0,
        now: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(policies)
        self._prefix = prefix
        self._url = url
        self._now = now
        self._script = files(__package__).joinpath("records.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()
        self._redis = Redis.from_url(
            url,
            protocol=2,
            socket_connect_timeout=connect_seconds,
            socket_timeout=timeout_seconds,
            socket_read_size=_READ_BYTES,
            retry=Retry(NoBackoff(), 0),  # consume is not idempotent
        )
        self._circuit = CircuitBreaker(redacted_address(url), self._probe)
        if (failure := self._probe()) is not None:
            self._circuit.open(failure, "at the start")

    def put(self, key: Key, record: Record) -> float:
        upload, command = self._upload(record.body)
        ttl_seconds = self.policies[key.kind].ttl_seconds
        call = "put", *key, record.head, record.nbytes, upload, ttl_seconds
        try:
            reply = self._write(key.kind, call, command)
        except OverQuota:
            with suppress(Unavailable):  # it expires anyway
                self._send(("UNLINK", upload))
            raise
        return float(_not_lost(reply))

    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        uploads, given = list[tuple[Any, ...]](), list[Any]()
        for change in changes:
            key, head, given_body, seen, appends = change
            body: Any = given_body
            how = "drop" if head is None else "append" if appends else "keep"
            expected = "any" if seen is ... else "none" if seen is None else "head"
            if head is not None and body is not None and not appends:
                how = "put"
                if isinstance(body, SharedMemory) or len(body) > _SHORT_BYTES:
                    how = "upload"
                    body, command = self._upload(body)
                    uploads.append(command)
            if change.only_checks:
                how = "check"
            seen = "" if seen is ... else seen
            values = expected, seen, how, head, body, self.policies[key.kind].ttl_seconds
            given += [*key, *("" if value is None else value for value in values)]
        kinds = {each.key.kind for each in changes if each.head is not None}
        policies = {kind: self.policies[kind].of(admitted=admitted) for kind in kinds}
        limits = [each for kind, policy in policies.items() for each in (kind, *policy.limits)]
        published = ("", "") if notice is None else (self._channel(notice.key), notice.origin)
        call = self._call("commit", *published, len(kinds), *limits, *given)
        reply = _not_lost(self._send(*uploads, call)[-1])
        if isinstance(reply, list):
            over, own, total, more = reply
            usage = Usage(Amount(*own), Amount(*total))
            policies[over.decode()].evicted(over.decode(), Amount(*more), usage)
            raise Unavailable("the store is busy")
        return None if reply == b"changed" else int(reply)

    def publish(self, notice: Notice) -> int:
        message = f"{notice.origin} {notice.text}"
        return int(self._send(("PUBLISH", self._channel(notice.key), message))[0])

    def _upload(self, body: Any) -> tuple[str, tuple[Any, ...]]:
        """A new key for a body, and the command that sends it there."""
        upload = f"{self._prefix}::{secrets.token_hex(12)}"
        return upload, ("SET", upload, bytes(to_bytes(body)), "EX", _UPLOAD_SECONDS)

    def peek(self, keys: Sequence[Key], start: int | None = None) -> list[Peeked | None]:
        asked = [text for key in keys for text in key]
        (found,) = self._send(self._call("peek", "" if start is None else start, *asked))
        return [
            (each and Peeked(each[0].decode(), float(each[1]), each[3])) or None for each in found
        ]

    def subscribe(self, heard: Callable[[Notice | None], None]) -> Subscription:
        from gradwire_service.store.redis_notices import RedisSubscription

        return RedisSubscription(self._url, self._channel, heard)

    def _channel(self, key: Key) -> str:
        return self._name("told", *key)

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        policy = self.policies[key.kind]
        call = self._call("find", *key, policy.ttl_seconds, policy.least_seconds)
        found, *bodies = self._send(call, *[self._body_of(key)] * body)
        if found is None:
            return None
        head, expires_at, used = found
        if used and body:
            bodies = self._send(self._body_of(key.used))
        if bodies == [None]:  # expired or evicted in between
            return None
        stored = StoredRecord.consumed if used else StoredRecord
        return stored(head.decode(), bodies[0] if body else None, float(expires_at))

    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        (all_ids,) = self._send(("ZRANGE", self._name(kind, "expiry", owner), 0, -1))
        ids = sorted(id for id in map(bytes.decode, all_ids) if id > after)
        listed: list[ListedRecord] = []
        while len(listed) < limit and ids:
            many = min(limit - len(listed), _HEADS)
            page, ids = ids[:many], ids[many:]
            asked = [text for id in page for text in (kind, owner, id)]
            (heads,) = self._send(self._call("peek", "", *asked))
            listed += [
                ListedRecord(id, found[0].decode(), float(found[1]), found[2])
                for id, found in zip(page, heads, strict=True)
                if found is not None
            ]
        return listed

    def consume(self, key: Key, by: str = "") -> bool:
        for kept in ("whole", "mark") if by else ("mark",):
            try:
                return bool(self._write("used", ("consume", *key, by, kept, CONSUMED_SECONDS)))
            except OverQuota:
                continue
        call = self._call("consume", *key, by, "nothing", 0, *NOTHING)
        return bool(self._send(call)[0])

    def remove(self, key: Key) -> bool:
        return bool(self._send(self._call("remove", *key))[0])

    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        (usage,) = self._send(self._call("usage", kind, owner or ""))
        return Amount(*(int(number or 0) for number in usage))

    def close(self) -> None:
        self._circuit.close()
        self._redis.close()

    def _write(self, kind: Kind, call: tuple[Any, ...], *upload: tuple[Any, ...]) -> Any:
        """Run a call that adds a record of ``kind``, evicting others as its policy says.

        Raises: ``OverQuota``.
        """
        policy, evicted = self.policies[kind], NOTHING
        for _ in range(_ATTEMPTS):
            reply = self._send(*upload, self._call(*call, *evicted, *policy.limits))[-1]
            if not isinstance(reply, list):
                return reply
            own, total, nbytes = reply
            usage = Usage(Amount(*own), Amount(*total))
            evicted = policy.evicted(kind, Amount(1, nbytes), usage)
            upload = ()
        raise Unavailable("the store is busy")

    def _call(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """The command that runs a call of the script."""
        now = "" if self._now is None else repr(self._now())
        return ("EVALSHA", self._digest, 0, self._prefix, now, name, *arguments)

    def _name(self, *parts: str) -> str:
        return ":".join((self._prefix, *parts))

    def _body_of(self, key: Key) -> tuple[Any, ...]:
        return ("GET", self._name(key.kind, "body", key.owner, key.id))

    def _send(self, *commands: tuple[Any, ...]) -> list[Any]:
        """The replies to commands that are sent together.

        Raises: ``Unavailable``.
        """
        self._circuit.check()
        try:
            try:
                return self._replies(commands)
            except exceptions.NoScriptError:  # not loaded yet, or lost in a restart
                self._redis.script_load(self._script)
                return self._replies(commands)
        except exceptions.RedisError as error:
            failure = _failure(error)
            if failure is None:
                raise
            # The primary may have changed: a new connection finds the present one.
            self._redis.connection_pool.disconnect(inuse_connections=False)
            if isinstance(error, _LOST):
                raise self._circuit.open(failure, error) from error
            self._circuit.log(failure, error)
            raise Unavailable(failure) from error

    def _replies(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        if len(commands) == 1:
            return [self._redis.execute_command(*commands[0])]  # type: ignore[no-untyped-call]
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
        # An error raised by redis-py would quote the command, and so what clients have sent.
        replies = pipeline.execute(raise_on_error=False)
        for reply in replies:
            if isinstance(reply, exceptions.RedisError):
                raise reply
        return replies

    def _probe(self) -> str | None:
        """Ping Redis; returns how that failed, if it did."""
        try:
            self._redis.ping()
        except exceptions.RedisError as error:
            self._redis.connection_pool.disconnect(inuse_connections=False)
            failure = _failure(error) or _UNREACHABLE
            self._circuit.log(failure, error)
            return failure
        return None


def _failure(error: exceptions.RedisError) -> str | None:
    """A failure that may end; None if the error is a bug of ours."""
    by_class = (failure for kind, failure in _FAILURES.items() if isinstance(error, kind))
    by_word = _FAILURES_BY_WORD.get(str(error).partition(" ")[0])
    return next(by_class, by_word)


def _not_lost(reply: Any) -> Any:
    """The reply to a write.

    Raises: ``Unavailable`` if Redis has dropped what was uploaded for it.
    """
    if reply == b"lost":
        raise Unavailable("the store lost the record while it was written")
    return reply
