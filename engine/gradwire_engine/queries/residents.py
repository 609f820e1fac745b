"""Records of residents: which came together before, and what is specialised for these."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.staged import Specialised, StagedExecutable
from gradwire_engine.compile import Compiled
from gradwire_engine.gc_pause import gc_paused

if TYPE_CHECKING:
    from gradwire_engine.queries.cache import Entry

#: The numbers of inputs with their digests.
Digests: TypeAlias = tuple[tuple[int, str], ...]

#: Marks of what came that are kept for one key, and what each takes.
_MARKS, _MARK_BYTES = 4096, 256
#: Bytes of a specialised executable beside what it keeps, and for each resident.
_SPECIALISED_BYTES, _DIGEST_BYTES = 1024, 256
#: Of residents that came first at more different times, the later ones are taken together.
_TIMES = 8


class Recurring(NamedTuple):
    """Residents that came together before, the numbers of their inputs, and when all last came."""

    digests: Digests = ()
    numbers: frozenset[int] = frozenset()
    last: int = 0


NOTHING = Recurring()


class ResidentHistory:
    """The residents of requests that have one key, and what is kept of these. Thread-safe.

    Times are counted in requests.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: When what has this hash came first, and last: those last that came last.
        self._marks = OrderedDict[int, tuple[int, int]]()
        self._now = 0
        #: With the time of its last use, those last that were used last.
        self._specialised = OrderedDict[tuple[StagedExecutable, Digests], tuple[Specialised, int]]()
        self._kept_bytes = 0

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, with what is kept or is going to be."""
        return self._kept_bytes + _MARK_BYTES * len(self._marks)

    def recurring(self, digests: Mapping[int, str]) -> Recurring:
        """Those residents of the next request that came together before.

        What has been coming for long is likely to come again: weights are others in each step, the
        examples in each step of an epoch. So residents are looked at in the order in which they
        first came, those together that came at once, up to where they came with no request before.
        """
        with self._lock:
            self._now += 1
            came = {item: self._came(hash(item)) for item in digests.items()}
            times = sorted({first for first, _ in came.values()})
            if len(times) > _TIMES:
                times = [*times[: _TIMES - 1], times[-1]]
            found: Digests = ()
            earlier, together = found, True
            for time in times:
                together &= self._came(hash((earlier, time)))[0] < self._now
                earlier = tuple([item for item, (first, _) in came.items() if first <= time])
                if together:
                    found = earlier
            while len(self._marks) > _MARKS:
                self._marks.popitem(last=False)
        if not found:
            return NOTHING
        return Recurring(found, frozenset(dict(found)), min([came[item][1] for item in found]))

    def _came(self, mark: int) -> tuple[int, int]:
        """When this came first, and last: now, if it never did. Where hashes collide, too early."""
        first, last = self._marks.pop(mark, (self._now, self._now))
        self._marks[mark] = first, self._now
        return first, last

    def specialised(
        self, staged: StagedExecutable, residents: Recurring, most_bytes: int
    ) -> Specialised | None:
        """The specialised executable for ``residents``; None if there is no room for another.

        Room is made by what was not used since these came last. So of residents that come in turn
        and are too many the first are kept, and not each dropped for the next.
        """
        key = staged, residents.digests
        with self._lock:
            if key in self._specialised:
                found, _ = self._specialised.pop(key)
            elif self._made_room(most_bytes - _nbytes(*key), residents.last):
                found = Specialised(staged)
                self._kept_bytes += _nbytes(*key)
            else:
                return None
            self._specialised[key] = found, self._now
            return found

    def _made_room(self, most_bytes: int, last: int) -> bool:
        """True if no more is kept by now, or nothing at all."""
        while self._specialised and self._kept_bytes > most_bytes:
            key, (_, used) = next(iter(self._specialised.items()))
            if used >= last:
                return False
            del self._specialised[key]
            self._kept_bytes -= _nbytes(*key)
        return True

    def drop(self) -> None:
        """Drop all that is specialised."""
        with self._lock:
            self._specialised.clear()
            self._kept_bytes = 0


def _nbytes(staged: StagedExecutable, digests: Digests) -> int:
    """Approximate memory of what is specialised."""
    return staged.kept_bytes + _SPECIALISED_BYTES + _DIGEST_BYTES * len(digests)


class Residents:
    """The residents of one query: those that came together before, and what replays for these."""

    def __init__(
        self, digests: Mapping[int, str], entry: Entry, limits: Limits, changed: Callable[[], None]
    ) -> None:
        self._history = entry.residents
        self._most_bytes = limits.kept_bytes
        #: Lets the cache count what the entry keeps by now.
        self._changed = changed
        before = self._history.nbytes
        self._recurring = self._history.recurring(digests)
        self._specialised: dict[StagedExecutable, Specialised | None] = {}
        if self._history.nbytes != before:
            changed()

    def staged(self, compiled: Compiled) -> bool:
        """True if nothing is to be compiled of a recording for those that recur."""
        return compiled.tiers.knows(self._recurring.numbers)

    def stage(self, compiled: Compiled, poll: Poll) -> None:
        """Make sure that a recording is staged for those that recur."""
        if not self.staged(compiled):
            with gc_paused, np.errstate(all="ignore"):
                compiled.tiers.stage(self._recurring.numbers, poll)
            self._changed()

    def executable(self, compiled: Compiled) -> Executable:
        """The executable of a recording: where residents recur, specialised for these."""
        staged = compiled.tiers.staged.get(self._recurring.numbers)
        if staged is None:
            return compiled.executable
        if staged not in self._specialised:
            asked = staged, self._recurring, self._most_bytes
            self._specialised[staged] = self._history.specialised(*asked)
            self._changed()
        return self._specialised[staged] or compiled.executable
