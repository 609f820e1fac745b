"""The interface of stores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from gradwire_service.problems import RequestError
from gradwire_service.settings.errors import StartupError
from gradwire_service.store.quotas import Amount, OverQuota, Policy
from gradwire_service.store.records import (
    Change,
    Content,
    Exchanged,
    Key,
    Kind,
    ListedRecord,
    Notice,
    Peeked,
    Record,
    StoredRecord,
    Upload,
)
from gradwire_service.wire.shared import Body, SharedMemory, to_bytes


class Unavailable(RequestError):
    """The store cannot answer now; the client may retry."""

    def __init__(self, detail: str) -> None:
        hint = "retry after the time in the Retry-After header"
        super().__init__("store_unavailable", detail, hint=hint, retry_after_seconds=1)


class NotOpened(StartupError):
    """The service cannot start with this store; the text says why, and what it needs."""


class Store(ABC):
    """Records of all kinds. Thread-safe; times are in seconds since 1970.

    Every call may block, and raises ``Unavailable`` if the store does not answer.
    """

    #: Whether calls wait for a disk or a server. Else an event loop may make them.
    waits: ClassVar[bool] = True

    def __init__(self, policies: Mapping[Kind, Policy]) -> None:
        self.policies = policies

    @abstractmethod
    def put(self, key: Key, record: Record) -> float:
        """Store ``record`` in place of any other under ``key``; returns when it expires.

        Raises: ``OverQuota``.
        """

    @abstractmethod
    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        """The record of ``key``; this use moves its expiry on, as its policy says."""

    @abstractmethod
    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        """The first ``limit`` of an owner's records with ids greater than ``after``, by id."""

    @abstractmethod
    def consume(self, key: Key, by: str = "") -> bool:
        """Use a record up; true for the one caller that did.

        A caller that names itself ``by``, one word, may do so again: for ``CONSUMED_SECONDS`` the
        record is found, marked as used by that caller, unless it was evicted.
        """

    @abstractmethod
    def remove(self, key: Key) -> bool:
        """Delete the record of ``key``; whether there was one."""

    def exchange(self, removed: Sequence[Key], added: Sequence[Upload]) -> Exchanged:
        """Delete records, then store others of the same kind and owner."""
        for key in removed:
            self.remove(key)
        expiries: list[float | None] = []
        for key, head, body in added:
            try:
                expiries.append(self.put(key, Record(head, self._content(body))))
            except OverQuota:
                expiries.append(None)
        return Exchanged(
            expiries, [each.body for each in added if isinstance(each.body, SharedMemory)]
        )

    def _content(self, body: Body | SharedMemory) -> Content:
        """The form in which this store keeps a body."""
        return bytes(to_bytes(body))

    @abstractmethod
    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        """The usage of one owner, or of all together, of one kind."""

    @abstractmethod
    def close(self) -> None:
        """Release files, connections and threads."""


class Subscription:
    """Hears of changes of records: here, of all that this process makes. For the event loop."""

    async def watch(self, key: Key) -> None:
        """Hear of the changes of a record from now on, those by other processes, too."""

    async def leave(self, key: Key) -> None:
        """Hear no more of a record."""

    async def listen(self) -> None:
        """Hear of other processes' changes until this is cancelled."""


class SharedStore(Store):
    """A store whose records several replicas change, each by what it has seen of them."""

    #: Time between looks at what is watched: where there are no notices, or some may be lost.
    look_seconds: ClassVar[float] = math.inf
    #: Whether other processes hear of notices.
    tells_others: ClassVar[bool] = False

    @abstractmethod
    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        """Make all changes at once, if every record is as it was seen; None if one is not.

        Changes of one kind are of one owner. Those of what is ``admitted`` are within its quota and
        the limit of all, but may exceed its share: others have stored more since then. Returns how
        many processes receive the notice, if that is known, with this one if it watches the record.
        Raises: ``OverQuota``; then nothing has changed.
        """

    @abstractmethod
    def publish(self, notice: Notice) -> int:
        """Send a notice without any change; returns how many receive it, as ``commit`` does."""

    @abstractmethod
    def peek(self, keys: Sequence[Key], start: int | None = None) -> list[Peeked | None]:
        """Read records as they are at one time, with their bodies from ``start`` on; no use."""

    def may_have_changed(self) -> bool:
        """False if no other process has changed anything since the last call."""
        return True

    @abstractmethod
    def subscribe(self, heard: Callable[[Notice | None], None]) -> Subscription:
        """Call ``heard`` with each notice of what is watched; None: some may have been missed.

        It may be called by any thread.
        """
