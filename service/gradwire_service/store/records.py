"""Records: their kinds and keys, and what is read of them, written and told."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from types import EllipsisType
from typing import Any, Literal, NamedTuple, TypeAlias

from gradwire_service.wire.shared import Body, SharedMemory, to_bytes

#: A tape's recipe, a program's source, an owner's name for a program, an array, an array of an
#: answer, a job, what belongs to one, its lease, and a record that was consumed, which the request
#: that consumed it may repeat.
Kind: TypeAlias = Literal[
    "tapes", "programs", "names", "tensors", "results", "jobs", "job_parts", "job_leases", "used"
]


#: Time that a store remembers that a record was consumed.
CONSUMED_SECONDS = 60.0


class Key(NamedTuple):
    """The address of a record. Other owners do not see that it exists."""

    kind: Kind
    owner: str
    id: str

    @property
    def used(self) -> Key:
        """The address of the record once it is consumed."""
        return Key("used", self.owner, f"{self.kind} {self.id}")


#: A body, in this process's own memory or in what another process has shared.
Content: TypeAlias = bytes | bytearray | SharedMemory


class Record(NamedTuple):
    """A body, and a small head that can be listed and read without it."""

    head: str
    body: Content

    @property
    def nbytes(self) -> int:
        return len(self.head.encode()) + len(self.body)


def known_fields(head: str, names: Collection[str]) -> dict[str, Any]:
    """The fields with these names in a head, which is JSON, and under ``others`` all the rest.

    A later version of the service may have written more, and an earlier one less.
    """
    found: dict[str, Any] = json.loads(head)
    known = {name: found.pop(name) for name in names if name in found}
    return {**known, "others": found}


class Change(NamedTuple):
    """The change of one record: it gets a ``head``, or is deleted where that is None.

    It must have the head that was ``seen``, or not exist if that is None; ``...`` is any. ``body``
    replaces its body or, if it ``appends``, is added at its end; None leaves the body as it is.
    """

    key: Key
    head: str | None
    body: Content | None = None
    seen: str | EllipsisType | None = ...
    appends: bool = False

    @property
    def only_checks(self) -> bool:
        """True if the record stays as it was seen."""
        return self.body is None and self.head == self.seen


class Peeked(NamedTuple):
    """A record that is read without using it: ``tail`` is the end of its body, if asked for."""

    head: str
    expires_at: float
    tail: bytes


class Notice(NamedTuple):
    """A message to those who watch the record of ``key``: ``origin`` has changed it.

    One with a ``text`` is an event of the record, which has not changed.
    """

    key: Key
    origin: str = ""
    text: str = ""


class Upload(NamedTuple):
    """A record that is to be stored, with its body wherever that is."""

    key: Key
    head: str
    body: Body | SharedMemory


class Exchanged(NamedTuple):
    """The result of an exchange."""

    #: When each of the added records expires, None if it has no room.
    expiries: list[float | None]
    #: Memory that nobody reads any more, of the lengths of added bodies: for the next exchange.
    spare: Sequence[SharedMemory] = ()


class StoredRecord(NamedTuple):
    """A record in the store, or one that was consumed by the request ``used_by``.

    ``body`` is None if it was not asked for. A record that was consumed without a name is empty.
    """

    head: str
    body: Content | None
    expires_at: float
    used_by: str | None = None

    @property
    def content(self) -> bytes | bytearray:
        """The body, which was asked for, in this process's own memory."""
        assert self.body is not None
        return to_bytes(self.body)

    @classmethod
    def consumed(cls, head: str, body: Content | None, expires_at: float) -> StoredRecord:
        """A consumed record: the head begins with the consumer's name and a space."""
        used_by, _, head = head.partition(" ")
        return cls(head, body, expires_at, used_by)


class ListedRecord(NamedTuple):
    """A record of a listing, without its body; ``nbytes`` are those of both."""

    id: str
    head: str
    expires_at: float
    nbytes: int
