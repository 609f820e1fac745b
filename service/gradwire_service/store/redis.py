"""Records in Redis, shared by all processes that reach it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from gradwire_service.settings.storage import redacted_address
from gradwire_service.store.circuit import Circuit
from gradwire_service.store.records import (
    Amount,
    Held,
    Key,
    Kind,
    Listed,
    Policy,
    Record,
    Store,
    Unavailable,
    over_budget,
    whose_all,
    whose_own,
)

#: How long a body may wait for the call that puts it where it belongs.
_COMING_SECONDS = 60
#: Bytes that are read at a time: of 4 KiB to 1 MiB what reads bodies of megabytes fastest.
_READ_BYTES = 1 << 18
#: Heads that one call reads, so that others of Redis' clients need not wait for long.
_HEADS = 1000
_UNREACHABLE = "the store cannot be reached"
#: What a client may wait for to end, by the client's errors, the more precise ones first.
_TROUBLES: Mapping[type[exceptions.RedisError], str] = {
    exceptions.AuthenticationError: "the store refuses this service",
    exceptions.AuthorizationError: "the store refuses this service",
    exceptions.NoPermissionError: "the store refuses this service",
    exceptions.BusyLoadingError: "the store is loading what it holds",
    exceptions.OutOfMemoryError: "the store is full",
    exceptions.ReadOnlyError: "the store cannot be written to",
    exceptions.MasterDownError: "the store has lost its primary",
    exceptions.TimeoutError: "the store does not answer",
    exceptions.ConnectionError: _UNREACHABLE,
    exceptions.InvalidResponse: _UNREACHABLE,
}
#: The same of errors without a class of their own, by the word that they begin with.
_TROUBLES_BY_WORD = {
    "BUSY": "the store is busy",
    "MISCONF": "the disk of the store fails",
    "NOREPLICAS": "the store has lost its replicas",
}
#: After these Redis is asked nothing more until it answers again.
_LOST = exceptions.ConnectionError, exceptions.TimeoutError, exceptions.InvalidResponse


class RedisStore(Store):
    """Records in one Redis, version 6.2 or later; a cluster's keys would be in several places.

    Each call is one step of ``records.lua``, so processes need not trust one another's clocks;
    only a test gives it a ``clock``. Bodies pass by the script, which would copy them: one that is
    put comes under a name of its own and is renamed. Source: Redis' documentation, EVAL scripts.
    """

    def __init__(
        self,
        url: str,
        policies: Mapping[Kind, Policy],
        *,
        prefix: str = "gradwire",
        connect_seconds: float = 0.5,
        timeout_seconds: float = 1.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(policies)
        self._prefix = prefix
        self._clock = clock
        self._script = files(__package__).joinpath("records.lua").read_bytes()
        self._digest = sha1(self._script, usedforsecurity=False).hexdigest()
        self._redis = Redis.from_url(
            url,
            protocol=2,
            socket_connect_timeout=connect_seconds,
            socket_timeout=timeout_seconds,
            socket_read_size=_READ_BYTES,
            retry=Retry(NoBackoff(), 0),  # to use a record up is nothing to repeat unasked
        )
        self._circuit = Circuit(redacted_address(url), self._probed)
        if (trouble := self._probed()) is not None:
            self._circuit.open(trouble, "at the start")

    def put(self, key: Key, record: Record) -> float:
        coming = f"{self._prefix}::{secrets.token_hex(12)}" if record.body else ""
        policy = self.policies[key.kind]
        call = self._call(
            "put", *key, record.head, record.nbytes, len(record.body), coming, *_flat(policy)
        )
        before = [("SET", coming, record.body, "EX", _COMING_SECONDS)] if record.body else []
        told, *about = self._asked(*before, call)[-1]
        if told == b"held":
            return float(about[0])
        if told == b"lost":
            raise Unavailable("the store lost the record while it was written")
        whose, most = {
            b"owned": (whose_own(key.kind), policy.owned),
            b"all": (whose_all(key.kind), policy.all),
        }[told]
        raise over_budget(whose, key.kind, Amount(*about), most)

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        call = self._call("find", *key, self.policies[key.kind].ttl_seconds)
        replies = self._asked(call, *[self._body_of(key)] * body)
        if replies[0] is None:
            return None
        head, length, expires_at, *by = replies[0]
        used_by = by[0].decode() if by else None
        found = None
        if body:
            found = replies[1]
            if used_by is not None and length:
                (found,) = self._asked(self._body_of(key.used))
            found = found if length else b""
            if found is None:  # it has ended, or made room, in between
                return None
        return Held(head.decode(), found, float(expires_at), used_by)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        (flat,) = self._asked(self._call("listed", kind, owner))
        ends = {id.decode(): float(end) for id, end in zip(flat[::2], flat[1::2], strict=True)}
        ids = sorted(id for id in ends if id > after)
        found: list[Listed] = []
        while len(found) < most and ids:
            many = min(most - len(found), _HEADS)
            asked, ids = ids[:many], ids[many:]
            (heads,) = self._asked(self._call("heads", kind, owner, *asked))
            found += [
                Listed(id, head.decode(), ends[id])
                for id, head in zip(asked, heads, strict=True)
                if head is not None
            ]
        return found

    def consume(self, key: Key, by: str = "") -> bool:
        call = self._call("consume", *key, by, *_flat(self.policies["used"]))
        return bool(self._asked(call)[0])

    def remove(self, key: Key) -> bool:
        return bool(self._asked(self._call("remove", *key))[0])

    def amounts(self, kind: Kind, owner: str | None = None) -> Amount:
        return Amount(*self._asked(self._call("amounts", kind, owner or ""))[0])

    def close(self) -> None:
        self._circuit.close()
        self._redis.close()

    def _call(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """A call of the script's."""
        now = "" if self._clock is None else repr(self._clock())
        return ("EVALSHA", self._digest, 0, self._prefix, now, name, *arguments)

    def _body_of(self, key: Key) -> tuple[Any, ...]:
        return ("GET", ":".join((self._prefix, key.kind, "body", key.owner, key.id)))

    def _asked(self, *commands: tuple[Any, ...]) -> list[Any]:
        """The replies to commands that are sent together.

        Raises: ``Unavailable``.
        """
        self._circuit.check()
        try:
            try:
                return self._sent(commands)
            except exceptions.NoScriptError:  # it was never given, or lost with a restart
                self._redis.script_load(self._script)
                return self._sent(commands)
        except exceptions.RedisError as error:
            trouble = _trouble_of(error)
            if trouble is None:
                raise
            # What was a primary may be none now: to connect anew may find the one that is.
            self._redis.connection_pool.disconnect(inuse_connections=False)
            if isinstance(error, _LOST):
                raise self._circuit.open(trouble, error) from error
            self._circuit.tell(trouble, error)
            raise Unavailable(trouble) from error

    def _sent(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        if len(commands) == 1:
            return [self._redis.execute_command(*commands[0])]  # type: ignore[no-untyped-call]
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
        # Raised by redis-py, an error would show the command, and so what clients have sent.
        replies = pipeline.execute(raise_on_error=False)
        for reply in replies:
            if isinstance(reply, exceptions.RedisError):
                raise reply
        return replies

    def _probed(self) -> str | None:
        """The trouble that Redis has."""
        try:
            self._redis.ping()
        except exceptions.RedisError as error:
            self._redis.connection_pool.disconnect(inuse_connections=False)
            trouble = _trouble_of(error) or _UNREACHABLE
            self._circuit.tell(trouble, error)
            return trouble
        return None


def _flat(policy: Policy) -> tuple[float, ...]:
    return (*policy.owned, *policy.all, policy.ttl_seconds, int(policy.yields))


def _trouble_of(error: exceptions.RedisError) -> str | None:
    """What a client may wait for to end; none where it is our mistake."""
    by_class = (trouble for kind, trouble in _TROUBLES.items() if isinstance(error, kind))
    by_word = _TROUBLES_BY_WORD.get(str(error).partition(" ")[0])
    return next(by_class, by_word)
