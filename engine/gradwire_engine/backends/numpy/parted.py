"""A tape in two parts: a prelude that is replayed once, and what is replayed with its results."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Poll
from gradwire_engine.backends.numpy.executable import Executable
from gradwire_engine.errors import LimitExceeded
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import GuardFailed
from gradwire_engine.polling import unhurried
from gradwire_engine.tape import Tape


class PartedExecutable(Executable):
    """Replays ``remainder`` with the inputs and what ``prelude`` gives of them, ``kept_bytes``.

    What the prelude reads is the same at every replay. ``whole`` is both as one tape.
    """

    def __init__(
        self,
        whole: Tape,
        prelude: Tape,
        remainder: Tape,
        kept_bytes: int,
        poll: Poll = unhurried,
        *,
        exact: bool = False,
        threads: int = 1,
    ) -> None:
        #: What is still to be replayed once.
        self._prelude: Executable | None = Executable(prelude, poll, exact=exact, threads=threads)
        super().__init__(remainder, poll, exact=exact, threads=threads)
        self._whole = whole
        self._kept_bytes = kept_bytes
        self._kept: Sequence[Any] | None = None
        self._lock = threading.Lock()

    @property
    def whole(self) -> Tape:
        """All that is computed of the inputs."""
        return self._whole

    @property
    def flops(self) -> int:
        """Arithmetic operations of the next replay."""
        prelude = self._prelude
        return super().flops + (prelude.flops if prelude else 0)

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays alive at once, in either part."""
        prelude = self._prelude
        return max(super().peak_bytes, prelude.peak_bytes if prelude else 0)

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay."""
        prelude = self._prelude
        return super().seconds + (prelude.seconds if prelude else 0.0)

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, with what it keeps or is going to."""
        prelude = self._prelude
        return super().nbytes + self._kept_bytes + (prelude.nbytes if prelude else 0)

    def replay(self, inputs: Sequence[Any], poll: Poll) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The outputs, and those of them that are not known to be finite."""
        kept = self._kept
        if kept is None:
            try:
                kept = self._computed(inputs, poll)
            except (GuardFailed, LimitExceeded):
                raise
            except Exception:  # noqa: BLE001 - in the program's order a decision may come before it
                return Executable(self._whole, poll, exact=self.exact).replay(inputs, poll)
        return super().replay([*inputs, *kept], poll)

    def _computed(self, inputs: Sequence[Any], poll: Poll) -> Sequence[Any]:
        """What the prelude gives, by the first of the threads that ask for it."""
        with locked(self._lock, poll):
            if self._kept is None:
                assert self._prelude is not None
                results = self._prelude.run(inputs, poll)
                self._kept = [_read_only(x, exact=self.exact) for x in results]
                self._prelude = None
            return self._kept


def _read_only(value: Any, *, exact: bool) -> Array:
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
