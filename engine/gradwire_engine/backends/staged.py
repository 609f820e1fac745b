"""A tape in two stages: what is computed of residents once, and what is replayed with that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Limits, Poll
from gradwire_engine.backends.base import Executable, Replayed
from gradwire_engine.backends.devices import DeviceFailure
from gradwire_engine.errors import LimitExceeded
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import GuardFailed


class StagedExecutable:
    """The ``residual`` stage takes the inputs, then what the ``static`` one gives of some of them.

    Both together give what ``whole`` does.
    """

    def __init__(
        self,
        whole: Executable,
        static: Executable,
        residual: Executable,
        kept_bytes: int,
    ) -> None:
        self.whole = whole
        self.static = static
        self.residual = residual
        #: Bytes of what the static stage gives.
        self.kept_bytes = kept_bytes

    @property
    def nbytes(self) -> int:
        """Approximate memory that the parts take, without what the static stage gives."""
        return self.static.nbytes + self.residual.nbytes

    def within(self, limits: Limits) -> bool:
        """True if the parts are predicted to need no more than is allowed."""
        parts = self.static, self.residual
        most = max([part.peak_bytes + part.constant_bytes for part in parts])
        return most <= limits.total_bytes and sum([x.flops for x in parts]) <= limits.flops


class Specialised:
    """An executable for certain residents: what its static stage gives of them is computed once."""

    def __init__(self, staged: StagedExecutable) -> None:
        self._staged = staged
        self._lock = threading.Lock()
        #: Whether the static stage was replayed; what it gave: nothing where it or a guard failed.
        self._begun = False
        self._kept: Sequence[Any] | None = None
        self._guard: type[GuardFailed] | None = None

    @property
    def kept(self) -> Sequence[Any]:
        """The results of the static stage so far."""
        return self._kept or ()

    @property
    def executable(self) -> Executable:
        """The executable of the second and later replays."""
        failed = self._begun and self._kept is None
        return self._staged.whole if failed else self._staged.residual

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay, with the static stage if that has still to run."""
        ahead = 0.0 if self._begun else self._staged.static.seconds
        return ahead + self._staged.residual.seconds

    @property
    def flops(self) -> int:
        """Predicted arithmetic operations of the next replay."""
        ahead = 0 if self._begun else self._staged.static.flops
        return ahead + self._staged.residual.flops

    @property
    def hosted(self) -> Sequence[str]:
        """The operations of later replays that are computed on the host."""
        return self.executable.hosted

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the next replay holds at once."""
        ahead = 0 if self._begun else self._staged.static.peak_bytes
        return max(ahead, self._staged.residual.peak_bytes)

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Replay what depends on more than the residents.

        Where the static stage fails the whole tape is replayed: in the program's order a decision
        may come before that, and fall otherwise.
        """
        if not self._begun:
            with locked(self._lock, poll):
                if not self._begun:
                    self._begin(inputs, poll)
        if self._guard is not None:
            return Replayed((), guard=self._guard)
        if self._kept is None:
            return self._staged.whole.replay(inputs, poll)
        return self._staged.residual.replay([*inputs, *self._kept], poll)

    def _begin(self, inputs: Sequence[Any], poll: Poll) -> None:
        static = self._staged.static
        try:
            replayed = static.replay(inputs, poll)
        except (LimitExceeded, DeviceFailure):  # it was interrupted
            raise
        except Exception:  # noqa: BLE001 - the whole tape raises it
            self._begun = True
            return
        self._guard = replayed.guard
        self._kept = [_own(x, exact=static.exact) for x in replayed.outputs]
        self._begun = True


def _own(value: Any, *, exact: bool) -> Array:
    """A value that nobody can write to, in memory of its own where its layout allows.

    Memory of a pool, or that is part of an operand's, would be held as a whole.
    """
    array = np.asarray(value)
    if array.base is not None:
        own = np.array(array, order="K")
        array = array if exact and own.strides != array.strides else own
    array = array.view()
    array.flags.writeable = False
    return array
