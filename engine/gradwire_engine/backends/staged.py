"""A tape in two parts: a prelude, of residents alone, and what is replayed with its results."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Limits, Poll
from gradwire_engine.backends.base import Executable, Replayed
from gradwire_engine.errors import LimitExceeded
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import GuardFailed


class StagedExecutable:
    """The ``remainder`` takes the inputs, then what the ``prelude`` gives of some of them.

    Both together give what ``whole`` does.
    """

    def __init__(
        self,
        whole: Executable,
        prelude: Executable,
        remainder: Executable,
        kept_bytes: int,
    ) -> None:
        self.whole = whole
        self.prelude = prelude
        self.remainder = remainder
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

    def __init__(self, staged: StagedExecutable) -> None:
        self._staged = staged
        self._lock = threading.Lock()
        #: Whether the prelude was replayed, and what it gave: nothing where it failed, or a guard.
        self._begun = False
        self._kept: Sequence[Any] | None = None
        self._guard: type[GuardFailed] | None = None

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay, of the prelude too where that is still to come."""
        ahead = 0.0 if self._begun else self._staged.prelude.seconds
        return ahead + self._staged.remainder.seconds

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the next replay holds at once."""
        ahead = 0 if self._begun else self._staged.prelude.peak_bytes
        return max(ahead, self._staged.remainder.peak_bytes)

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Replay what depends on more than the residents.

        Where the prelude fails the whole tape is replayed: in the program's order a decision may
        come before that, and fall otherwise.
        """
        if not self._begun:
            with locked(self._lock, poll):
                if not self._begun:
                    self._begin(inputs, poll)
        if self._guard is not None:
            return Replayed((), guard=self._guard)
        if self._kept is None:
            return self._staged.whole.replay(inputs, poll)
        return self._staged.remainder.replay([*inputs, *self._kept], poll)

    def _begin(self, inputs: Sequence[Any], poll: Poll) -> None:
        prelude = self._staged.prelude
        try:
            replayed = prelude.replay(inputs, poll)
        except LimitExceeded:  # it was interrupted
            raise
        except Exception:  # noqa: BLE001 - the whole tape tells
            self._begun = True
            return
        self._guard = replayed.guard
        self._kept = [_own(x, exact=prelude.exact) for x in replayed.outputs]
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
