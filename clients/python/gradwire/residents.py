"""What comes again is sent once, and then by reference: large arrays, and long programs.

An array is known again by its dtype, its shape and a sample of its elements, so that values which
change from call to call cost microseconds. The third time that it comes it is copied, stored with
the service under its digest, and from then on named by that, as long as all of it equals the copy.
A long program is registered the third time, under the id that its first answers told.

A reference is never needed: what the service has lost is stored again, and where it stores nothing
all goes as it is.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradwire import codec
from gradwire.call import Call, Reply
from gradwire.errors import APIError, StoreUnavailable, UnknownRef
from gradwire.steps import Steps

T = TypeVar("T")

#: Bytes of the smallest array, and characters of the shortest program, that are referred to.
LEAST_ARRAY_BYTES: Final = 1 << 16
LEAST_PROGRAM_CHARACTERS: Final = 1 << 12
#: Where programs are registered.
PROGRAMS: Final = "/v1/programs"
#: How often something comes until it is stored: a value and its gradient are asked for at one point
#: by two calls, and there is nothing to gain by storing that.
SIGHTINGS: Final = 3
#: What turned out to change after all comes so often again before it is stored.
SIGHTINGS_OF_CHANGING: Final = 50
#: How much is remembered: bytes of copies, and what was seen at all.
MOST_BYTES: Final = 1 << 28
MOST_SEEN: Final = 4096
#: Elements in a sample, at least where there are so many.
SAMPLED: Final = 32
#: How long nothing is named after the service has refused to store it, or lost it at once.
PAUSE_SECONDS: Final = 60.0
#: Where a response has a ``Named``, among its extensions.
REFERENTS: Final = "gradwire.named"
#: How often what the service does not hold is stored before all is sent as it is.
ATTEMPTS: Final = 2


@dataclass(frozen=True, eq=False, slots=True)
class Referents:
    """What the references in a request stand for."""

    #: By reference; of a program there is no array.
    arrays: Mapping[str, NDArray[Any] | None]
    #: The program's text.
    source: str | None


@dataclass(eq=False, slots=True)
class Resident:
    """What the service is to hold."""

    ref: str
    storing: Call[Any]
    #: Of an array, what it was: memory of our own.
    copy: NDArray[Any] | None = None
    #: Whether the service has it, as far as we know.
    stored: bool = False


@dataclass(eq=False, slots=True)
class Seen:
    """Something that was sent before."""

    key: Hashable
    #: How often it has still to come until it is named.
    due: int = SIGHTINGS
    #: By what it is named, once that is known.
    resident: Resident | None = None


class Residents:
    """What one client has sent, and the service may hold. Thread-safe; bounded."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes: int = most_bytes
        self._lock = threading.Lock()
        self._seen: OrderedDict[Hashable, Seen] = OrderedDict()
        self._bytes = 0
        self._paused_until = 0.0

    def conversation(self, call: Call[T]) -> Steps[T]:
        """The steps by which a call is answered: what is sent is what its values are now."""
        if call.method != "POST" or not isinstance(call.document, Mapping):
            return iter(call)
        named: dict[str, Resident] = {}

        def refer(array: NDArray[Any]) -> str | None:
            resident = self._array(array)
            if resident is None:
                return None
            named[resident.ref] = resident
            return resident.ref

        asked = call
        if time.monotonic() < self._paused_until:
            content = codec.encode(call.document)
        else:
            asked = self._with_program(call, named)
            content = codec.encode(asked.document, refer)
        read = _telling(asked.read, named, call.source) if named else asked.read
        packed = Call(asked.method, asked.path, None, read, asked.source, content)
        return self._referring(call, packed, named)

    def _referring(self, call: Call[T], packed: Call[T], named: Mapping[str, Resident]) -> Steps[T]:
        absent = [resident for resident in named.values() if not resident.stored]
        for _ in range(ATTEMPTS):
            if not (yield from self._store(absent, call.source)):
                break
            try:
                return (yield from packed)
            except UnknownRef as error:
                known = {**self._known(), **named}  # what a tape refers to is not named again
                if not error.missing or not known.keys() >= set(error.missing):
                    raise  # the caller has references of its own
                absent = [known[ref] for ref in error.missing]
            except StoreUnavailable:
                if not named:
                    raise
                break
        self._paused_until = time.monotonic() + PAUSE_SECONDS
        return (yield from call)

    def _store(self, absent: Iterable[Resident], source: str | None) -> Steps[bool]:
        """Have the service hold these, where it has the program; whether it does."""
        for resident in absent:
            try:
                yield from replace(resident.storing, source=source)
            except APIError:
                return False
            resident.stored = True
        return True

    def _array(self, array: NDArray[Any]) -> Resident | None:
        """By what an array is to be named, if it is."""
        if not LEAST_ARRAY_BYTES <= array.nbytes <= self.most_bytes:
            return None
        seen = self._sighting(_fingerprint(array))
        if seen.due > 0:
            return None
        resident = seen.resident or self._copied(seen, array)
        if resident.copy is not None and _same(resident.copy, array):
            return resident
        self._forget(seen)
        return None

    def _with_program(self, call: Call[T], named: dict[str, Resident]) -> Call[T]:
        """The call with its program's id in place of it, or one that learns that from the reply."""
        text = call.document.get("program")
        if not isinstance(text, str) or call.path == PROGRAMS:
            return call
        if not LEAST_PROGRAM_CHARACTERS <= len(text) <= self.most_bytes:
            return call
        seen = self._sighting(text)
        if seen.resident is not None:
            if seen.due > 0:
                return call
            named[seen.resident.ref] = seen.resident
            return replace(call, document={**call.document, "program": {"ref": seen.resident.ref}})

        def read(reply: Reply) -> T:
            ref = reply.document.get("program")
            if ref is not None:
                document = {"program": text, "ref": ref}
                seen.resident = Resident(ref, Call("POST", PROGRAMS, document, _nothing))
            return call.read(reply)

        return replace(call, read=read)

    def _sighting(self, key: Hashable) -> Seen:
        """What is known of something that has come now."""
        with self._lock:
            seen = self._seen.get(key)
            if seen is None:
                seen = self._seen[key] = Seen(key)
                self._bytes += _nbytes(seen)
                while len(self._seen) > MOST_SEEN or self._bytes > self.most_bytes:
                    self._drop_oldest()
            else:
                self._seen.move_to_end(key)
            seen.due -= 1
            return seen

    def _copied(self, seen: Seen, array: NDArray[Any]) -> Resident:
        """What has come often enough, from now on; others that came longest ago are forgotten."""
        copy = array.copy()
        ref = _digest(copy)
        resident = Resident(ref, Call("PUT", f"/v1/tensors/{ref}", copy, _nothing), copy)
        with self._lock:
            if seen.resident is not None:  # another thread was faster, with what may be another one
                return seen.resident
            if self._seen.get(seen.key) is seen:
                seen.resident = resident
                self._bytes += copy.nbytes
                while self._bytes > self.most_bytes:
                    self._drop_oldest()
        return resident

    def _known(self) -> dict[str, Resident]:
        """What can be stored again, by reference."""
        with self._lock:
            residents = [seen.resident for seen in self._seen.values()]
        return {resident.ref: resident for resident in residents if resident is not None}

    def _forget(self, seen: Seen) -> None:
        """Begin anew with what has changed where its sample has not."""
        with self._lock:
            if self._seen.get(seen.key) is seen:
                self._seen[seen.key] = Seen(seen.key, SIGHTINGS_OF_CHANGING)
                self._bytes -= _nbytes(seen)

    def _drop_oldest(self) -> None:
        _, seen = self._seen.popitem(last=False)
        self._bytes -= _nbytes(seen)


def _nbytes(seen: Seen) -> int:
    """What is kept of it: a program's text, or an array's copy."""
    text = len(seen.key) if isinstance(seen.key, str) else 0
    copy = None if seen.resident is None else seen.resident.copy
    return text if copy is None else text + copy.nbytes


def _fingerprint(array: NDArray[Any]) -> Hashable:
    flat = array.reshape(-1)
    sample = flat[:: max(1, flat.size // SAMPLED)].tobytes()
    return array.dtype, array.shape, sample, flat[-1:].tobytes()


def _same(copy: NDArray[Any], array: NDArray[Any]) -> bool:
    """Whether every bit is the same."""
    words = f"u{min(copy.itemsize, 8)}"
    return np.array_equal(copy.reshape(-1).view(words), array.reshape(-1).view(words))


def _digest(array: NDArray[Any]) -> str:
    """The ref of a tensor: SHA-256 of a line with its dtype and shape, and of its bytes."""
    digest = sha256(f"{array.dtype.name} {','.join(map(str, array.shape))}\n".encode())
    digest.update(array.reshape(-1).view(np.uint8).data)
    return f"sha256:{digest.hexdigest()}"


def _telling(
    read: Callable[[Reply], T], named: Mapping[str, Resident], source: str | None
) -> Callable[[Reply], T]:
    """A reading that notes beside the response what the references in its request stand for."""

    def told(reply: Reply) -> T:
        reply.response.extensions[REFERENTS] = Referents({n: named[n].copy for n in named}, source)
        return read(reply)

    return told


def _nothing(_: Reply) -> None:
    """What is read of a reply that says what is known."""
