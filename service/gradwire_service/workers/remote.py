"""The service's store in a worker process: every call goes through the channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradwire_service.settings import Settings
from gradwire_service.store import Exchanged, Key, Kind, Record, Store, StoredRecord, policies
from gradwire_service.store.quotas import Amount
from gradwire_service.store.records import ListedRecord, Upload
from gradwire_service.wire.shared import (
    MAX_COPIED_BYTES,
    MAX_INLINE_BYTES,
    Body,
    Chunks,
    SharedBody,
    SharedMemory,
    to_bytes,
    to_shared,
)
from gradwire_service.workers.channel import Channel
from gradwire_service.workers.messages import Raised, Returned, StoreCall

#: Large bodies on their own in one message; the rest are in one.
_MOST_APART = 64


class Bundle(NamedTuple):
    """An exchange in the form that is sent to another process: large bodies apart, others in one.

    A body that arrives on its own need not be copied to be kept.
    """

    kind: Kind
    owner: str
    #: The ids of the records that are removed.
    removed: Sequence[str]
    #: The id and the head of each record, with its body, or the length of its part of ``body``.
    heads: Sequence[tuple[str, str, SharedBody | int]]
    body: SharedBody

    @classmethod
    def of(
        cls, removed: Sequence[Key], added: Sequence[Upload], spare: Sequence[SharedMemory] = ()
    ) -> Bundle:
        """The bundle of the keys that are removed and the records that are added, one at least.

        Large bodies are written into ``spare`` memory where that has their length.
        """
        unused = list(spare)
        kind, owner, _ = removed[0] if removed else added[0].key
        heads, rest, apart = list[tuple[str, str, SharedBody | int]](), list[Body](), 0
        room = MAX_COPIED_BYTES
        for (_, _, id), head, body in added:
            assert not isinstance(body, SharedMemory)
            length = len(body)
            is_whole = length > MAX_COPIED_BYTES
            if (is_whole or MAX_INLINE_BYTES < length <= room) and apart < _MOST_APART:
                heads.append((id, head, _apart(body, unused)))
                apart += 1
                room -= 0 if is_whole else length
            else:
                heads.append((id, head, length))
                rest.append(body)
        return cls(kind, owner, [id for _, _, id in removed], heads, to_shared(rest))

    def keys(self) -> list[Key]:
        """The keys of the records that are removed."""
        return [Key(self.kind, self.owner, id) for id in self.removed]

    def uploads(self) -> list[Upload]:
        """The records that are added."""
        body = self.body
        view = memoryview(body.mapped() if isinstance(body, SharedMemory) else to_bytes(body))
        uploads, start = [], 0
        for id, head, body_or_length in self.heads:
            key = Key(self.kind, self.owner, id)
            if isinstance(body_or_length, int):
                uploads.append(Upload(key, head, view[start : start + body_or_length]))
                start += body_or_length
            elif isinstance(body_or_length, Chunks):
                uploads.append(Upload(key, head, body_or_length.to_bytes()))
            else:
                uploads.append(Upload(key, head, body_or_length))
        return uploads


class RemoteStore(Store):
    """Calls the store of the service and waits for the result. For one thread."""

    def __init__(self, channel: Channel, settings: Settings) -> None:
        super().__init__(policies(settings))
        self._channel = channel
        #: Memory that the next exchange may write into.
        self._spare: Sequence[SharedMemory] = ()

    def release(self) -> None:
        """Free the memory that the next call of ``exchange`` would write into."""
        self._spare = ()

    def put(self, key: Key, record: Record) -> float:
        expires_at: float = self._call("put", key, _packed(record))
        return expires_at

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        held = self._call("find", key, body=body)
        return None if held is None else _unpacked(held)

    def exchange(self, removed: Sequence[Key], added: Sequence[Upload]) -> Exchanged:
        if not removed and not added:
            return Exchanged([])
        spare, self._spare = self._spare, ()  # the store's, also if it fails
        exchanged: Exchanged = self._call("exchange", Bundle.of(removed, added, spare))
        self._spare = exchanged.spare
        return exchanged

    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        found: Sequence[ListedRecord] = self._call("list_records", kind, owner, after, limit)
        return found

    def consume(self, key: Key, by: str = "") -> bool:
        return bool(self._call("consume", key, by))

    def remove(self, key: Key) -> bool:
        return bool(self._call("remove", key))

    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        amount: Amount = self._call("usage", kind, owner)
        return amount

    def close(self) -> None:
        """Do nothing: the service closes the store."""

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        self._channel.send(StoreCall(method, arguments, named))
        answer = self._channel.receive()
        if isinstance(answer, Raised):
            raise answer.error
        assert isinstance(answer, Returned)
        return answer.value


def _apart(body: Body, unused: list[SharedMemory]) -> SharedBody:
    """A large body as it is sent, in memory of its length that is taken from ``unused``."""
    for position, memory in enumerate(unused):
        if len(memory) == len(body):
            memory.rewrite(body)
            return unused.pop(position)
    return to_shared([body])


def dispatch(store: Store, call: StoreCall) -> Returned | Raised:
    """Run a call of a worker process on the store; exceptions are returned. May block."""
    try:
        arguments = [each for given in call.arguments for each in _received(given)]
        value = getattr(store, call.method)(*arguments, **call.named)
    except Exception as error:  # noqa: BLE001 - raised again in the worker
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return Raised(error)
    return Returned(_packed(value) if isinstance(value, StoredRecord) else value)


def _received(argument: Any) -> tuple[Any, ...]:
    if isinstance(argument, Bundle):
        return argument.keys(), argument.uploads()
    return (_unpacked(argument) if isinstance(argument, Record) else argument,)


def _packed(record: Any) -> Any:
    """A record whose body, if it has one, is in the form that is sent to another process."""
    body = record.body
    if body is None or isinstance(body, SharedMemory):
        return record
    return record._replace(body=to_shared([body]))


def _unpacked(record: Any) -> Any:
    """A record from another process, with its body as bytes."""
    body = record.body
    return record if body is None else record._replace(body=bytes(to_bytes(body)))
