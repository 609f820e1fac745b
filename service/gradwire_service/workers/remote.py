"""The service's store in a worker process: every call goes through the channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire_service.settings import Settings
from gradwire_service.store import Key, Kind, Record, Store, StoredRecord, policies
from gradwire_service.store.records import Amount, ListedRecord
from gradwire_service.wire.shared import packed, unpacked
from gradwire_service.workers.channel import Channel
from gradwire_service.workers.messages import Raised, Returned, StoreCall


class RemoteStore(Store):
    """Calls the store of the service and waits for the result. For one thread."""

    def __init__(self, channel: Channel, settings: Settings) -> None:
        super().__init__(policies(settings))
        self._channel = channel

    def put(self, key: Key, record: Record) -> float:
        expires_at: float = self._call("put", key, _packed(record))
        return expires_at

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        held = self._call("find", key, body=body)
        return None if held is None else _unpacked(held)

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


def dispatch(store: Store, call: StoreCall) -> Returned | Raised:
    """Run a call of a worker process on the store; exceptions are returned. May block."""
    arguments = [
        _unpacked(given) if isinstance(given, Record) else given for given in call.arguments
    ]
    try:
        value = getattr(store, call.method)(*arguments, **call.named)
    except Exception as error:  # noqa: BLE001 - raised again in the worker
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return Raised(error)
    return Returned(_packed(value) if isinstance(value, StoredRecord) else value)


def _packed(record: Any) -> Any:
    """A record whose body, if it has one, is in the form that is sent to another process."""
    body = record.body
    return record if body is None else record._replace(body=packed([body]))


def _unpacked(record: Any) -> Any:
    """A record from another process, with its body as bytes."""
    body = record.body
    return record if body is None else record._replace(body=bytes(unpacked(body)))
