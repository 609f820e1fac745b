"""Large arrays and long programs that are sent repeatedly are stored once, then sent by reference.

An array is recognised by its dtype, its shape and a sample of its elements, which takes
microseconds, and compared in full with a copy before its reference is sent: a change in place is
always seen, and equal values in another array are recognised. The third time it is sent, it is
copied and stored under its digest. If it then changes outside its sample, it is sent in full many
times before it is stored again. A long program is registered the third time, under the id in its
first answers.

References are never required: tensors and programs that the service has lost are stored again, and
if it stores nothing, values are sent in full.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradwire import codec
from gradwire.bfloat16 import name_of
from gradwire.call import Call, Reply, Steps, check_call
from gradwire.errors import APIError, StoreUnavailable, UnknownRef

T = TypeVar("T")

#: Bytes of the smallest array, and characters of the shortest program, that are stored.
LEAST_ARRAY_BYTES: Final = 1 << 16
LEAST_PROGRAM_CHARACTERS: Final = 1 << 12
#: The endpoint that registers programs.
PROGRAMS: Final = "/v1/programs"
#: The number of times that something is sent until it is stored: a value and its gradient at one
#: point are two calls, for which storing gains nothing.
MIN_USES: Final = 3
#: The same for an array that has changed outside its sample: it may be one that always does.
AFTER_A_CHANGE: Final = 96
#: Elements in a sample, of arrays that have as many.
SAMPLED: Final = 32
#: Limits of the memory: bytes of copies and programs, and the number of samples and programs.
MOST_BYTES: Final = 1 << 28
MOST_ENTRIES: Final = 4096
#: The pause without references after the service has refused to store a value, or lost it at once.
PAUSE_SECONDS: Final = 60.0
#: The response extension that has the ``Referents``.
REFERENTS: Final = "gradwire.named"
#: Attempts to store missing values before all are sent in full.
ATTEMPTS: Final = 2


@dataclass(frozen=True, eq=False, slots=True)
class Referents:
    """The values behind the references in a request."""

    #: By reference; ``None`` for a program.
    arrays: Mapping[str, NDArray[Any] | None]
    #: The program's text.
    source: str | None


@dataclass(eq=False, slots=True)
class Resident:
    """An array or a program that the service stores."""

    ref: str
    #: A copy of an array's elements, or a program's text.
    content: Any
    #: The service has confirmed that it is stored.
    stored: bool = False

    @property
    def storing(self) -> Call[Any]:
        """The call that stores it."""
        if isinstance(self.content, str):
            document = {"program": self.content, "ref": self.ref}
            return Call("POST", PROGRAMS, document, _nothing)
        return Call("PUT", f"/v1/tensors/{self.ref}", self.content, _nothing)


@dataclass(eq=False, slots=True)
class Entry:
    """Something that was sent before."""

    #: An array's sample, or a program's text.
    key: Hashable
    #: The number of times that it must still be sent before it is stored.
    uses_left: int = MIN_USES
    resident: Resident | None = None

    @property
    def nbytes(self) -> int:
        """The memory that it takes: a program's text, or an array's copy."""
        if isinstance(self.key, str):
            return len(self.key)
        return 0 if self.resident is None else int(self.resident.content.nbytes)


class Residents:
    """The arrays and programs that one client has sent repeatedly. Thread-safe; bounded."""

    def __init__(
        self, most_bytes: int = MOST_BYTES, clock: Callable[[], float] = monotonic
    ) -> None:
        self.most_bytes: int = most_bytes
        self._clock: Callable[[], float] = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._bytes = 0
        self._paused_until = 0.0

    def conversation(self, call: Call[T]) -> Steps[T]:
        """The steps that answer a call; its values are encoded now."""
        check_call(call)
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
        if self._clock() < self._paused_until:
            content = codec.encode(call.document)
        else:
            asked = self._with_program(call, named)
            content = codec.encode(asked.document, refer)

        def read(reply: Reply) -> T:
            if named:
                contents = {ref: resident.content for ref, resident in named.items()}
                arrays = {ref: None if isinstance(c, str) else c for ref, c in contents.items()}
                reply.response.extensions[REFERENTS] = Referents(arrays, call.source)
            return asked.read(reply)

        packed = replace(asked, document=None, read=read, content=content)
        return self._referring(packed, named)

    def _referring(self, packed: Call[T], named: Mapping[str, Resident]) -> Steps[T]:
        absent = [resident for resident in named.values() if not resident.stored]
        for _ in range(ATTEMPTS):
            if not (yield from self._store(absent, packed.source)):
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
        self._paused_until = self._clock() + PAUSE_SECONDS
        document = _in_full(codec.decode(packed.content or b""), named)
        return (yield from replace(packed, content=codec.encode(document)))

    def _store(self, absent: Iterable[Resident], source: str | None) -> Steps[bool]:
        """Store these with the service; True if it has them all."""
        for resident in absent:
            try:
                yield from replace(resident.storing, source=source)
            except APIError:
                return False
            resident.stored = True
        return True

    def _array(self, array: NDArray[Any]) -> Resident | None:
        """An array as a resident, if it is sent by reference."""
        if not LEAST_ARRAY_BYTES <= array.nbytes <= self.most_bytes:
            return None
        entry = self._use(_sample(array))
        if entry.uses_left > 0:
            return None
        resident = entry.resident or self._kept(entry, array.copy())
        if _same(resident.content, array):
            return resident
        self._start_over(entry)
        return None

    def _with_program(self, call: Call[T], named: dict[str, Resident]) -> Call[T]:
        """The call with the id for its program, or one that reads the id from the reply."""
        text = call.document.get("program")
        if not isinstance(text, str) or call.path == PROGRAMS:
            return call
        if not LEAST_PROGRAM_CHARACTERS <= len(text) <= self.most_bytes:
            return call
        entry = self._use(text)
        if entry.resident is not None:
            if entry.uses_left > 0:
                return call
            named[entry.resident.ref] = entry.resident
            return replace(call, document={**call.document, "program": {"ref": entry.resident.ref}})

        def read(reply: Reply) -> T:
            ref = reply.document.get("program")
            if ref is not None:
                entry.resident = Resident(ref, text)
            return call.read(reply)

        return replace(call, read=read)

    def _use(self, key: Hashable) -> Entry:
        """The entry of an array or a program that is being sent, which is one use of it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = Entry(key)
                self._bytes += entry.nbytes
                self._drop_oldest()
            else:
                self._entries.move_to_end(key)
            entry.uses_left -= 1
            return entry

    def _kept(self, entry: Entry, copy: NDArray[Any]) -> Resident:
        """Keep an array, unless another thread has just kept one, perhaps of other values."""
        resident = Resident(_digest(copy), copy)
        with self._lock:
            if entry.resident is None:
                entry.resident = resident
                self._bytes += copy.nbytes if self._entries.get(entry.key) is entry else 0
                self._drop_oldest()
            return entry.resident

    def _start_over(self, entry: Entry) -> None:
        """Drop the copy of an array that has changed outside its sample."""
        with self._lock:
            if self._entries.get(entry.key) is entry:
                self._entries[entry.key] = Entry(entry.key, AFTER_A_CHANGE)
                self._bytes -= entry.nbytes

    def _drop_oldest(self) -> None:
        while len(self._entries) > MOST_ENTRIES or self._bytes > self.most_bytes:
            self._bytes -= self._entries.popitem(last=False)[1].nbytes

    def _known(self) -> dict[str, Resident]:
        """The stored values that can be stored again, by reference."""
        with self._lock:
            residents = [entry.resident for entry in self._entries.values()]
        return {resident.ref: resident for resident in residents if resident is not None}


def _in_full(document: Any, named: Mapping[str, Resident]) -> Any:
    """A document with the values in place of their references, as they were when it was encoded."""
    if isinstance(document, list):
        return [_in_full(item, named) for item in document]
    if not isinstance(document, dict):
        return document
    ref = document.get("ref")
    if len(document) == 1 and isinstance(ref, str) and ref in named:
        return named[ref].content
    return {name: _in_full(item, named) for name, item in document.items()}


def _sample(array: NDArray[Any]) -> Hashable:
    """A key of an array: the same for arrays of equal values, and for few others."""
    flat = array.reshape(-1)
    some = flat[:: max(1, flat.size // SAMPLED)].tobytes()
    return array.dtype, array.shape, some, flat[-1:].tobytes()


def _same(copy: NDArray[Any], array: NDArray[Any]) -> bool:
    """True if every bit is the same."""
    words = f"u{min(copy.itemsize, 8)}"
    return np.array_equal(copy.reshape(-1).view(words), array.reshape(-1).view(words))


def _digest(array: NDArray[Any]) -> str:
    """The ref of a tensor: SHA-256 of a line with its dtype and shape, and of its bytes."""
    digest = sha256(f"{name_of(array.dtype)} {','.join(map(str, array.shape))}\n".encode())
    digest.update(array.reshape(-1).view(np.uint8).data)
    return f"sha256:{digest.hexdigest()}"


def _nothing(_: Reply) -> None:
    """Read nothing: the content of the reply is known already."""
