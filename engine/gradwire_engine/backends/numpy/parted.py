"""A tape in two parts: a prelude, of residents alone, and what is replayed with its results."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Limits, Poll
from gradwire_engine.backends.numpy.executable import Executable
from gradwire_engine.errors import LimitExceeded
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import GuardFailed
from gradwire_engine.polling import unhurried
from gradwire_engine.tape import Tape


class PartedExecutable:
    """The ``remainder`` takes the inputs, then what the ``prelude`` gives of some of them.

    Both together give what ``whole`` does.
    """

    def __init__(
        self,
        whole: Executable,
        prelude: Tape,
        remainder: Tape,
        kept_bytes: int,
        poll: Poll = unhurried,
        *,
        threads: int = 1,
    ) -> None:
        self.whole = whole
        self.prelude, self.remainder = (
            Executable(tape, poll, exact=whole.exact, threads=threads)
            for tape in (prelude, remainder)
        )
        #: Bytes of what the prelude gives.
        self.kept_bytes = kept_bytes

    @property
    def nbytes(self) -> int:
        """Approximate memory that the parts take, without what the prelude gives."""
        return self.prelude.nbytes + self.remainder.nbytes

    def within(self, limits: Limits) -> bool:
        """Whether the parts are predicted to need no more than is allowed."""
        parts = self.prelude, self.remainder
        most = max([part.peak_bytes + part.constant_bytes for part in parts])
        return most <= limits.total_bytes and sum([x.flops for x in parts]) <= limits.flops


class Specialised:
    """An executable for certain residents: what its prelude gives of them is computed once."""

    def __init__(self, parted: PartedExecutable) -> None:
        self._parted = parted
        self._lock = threading.Lock()
        #: Whether the prelude was replayed, and what it gave; nothing where it failed.
        self._begun = False
        self._kept: Sequence[Any] | None = None
        self._decided: type[GuardFailed] | None = None

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay, of the prelude too where that is still to come."""
        ahead = 0.0 if self._begun else self._parted.prelude.seconds
        return ahead + self._parted.remainder.seconds

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the next replay holds at once."""
        ahead = 0 if self._begun else self._parted.prelude.peak_bytes
        return max(ahead, self._parted.remainder.peak_bytes)

    def replay(self, inputs: Sequence[Any], poll: Poll) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The outputs, and those of them that are not known to be finite.

        Where the prelude fails the whole tape is replayed: in the program's order a decision may
        come before that, and fall otherwise.

        Raises: ``GuardFailed`` where a decision falls otherwise, of residents each time.
        """
        if not self._begun:
            with locked(self._lock, poll):
                if not self._begun:
                    self._begin(inputs, poll)
        if self._decided is not None:
            raise self._decided
        if self._kept is None:
            return self._parted.whole.replay(inputs, poll)
        return self._parted.remainder.replay([*inputs, *self._kept], poll)

    def _begin(self, inputs: Sequence[Any], poll: Poll) -> None:
        prelude = self._parted.prelude
        try:
            self._kept = [_own(x, exact=prelude.exact) for x in prelude.run(inputs, poll)]
        except LimitExceeded:  # it was interrupted
            raise
        except Exception as error:  # noqa: BLE001 - the whole tape tells
            if isinstance(error, GuardFailed):
                self._decided = type(error)
        self._begun = True


def _own(value: Any, *, exact: bool) -> Array:
    """A value that nobody can write to, in memory of its own where its layout allows.

    Memory that a pool has lent, or that is part of an operand's, would be held as a whole.
    """
    array = np.asarray(value)
    if array.base is not None:
        own = np.array(array, order="K")
        array = array if exact and own.strides != array.strides else own
    array = array.view()
    array.flags.writeable = False
    return array
