"""A tape in two stages: what is computed once, and what is replayed with that.

What residents give is computed once for these, and what constants give once for all.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.backends.base import Backend, Executable, Listing, Replayed
from gradwire_engine.backends.devices import DeviceFailure
from gradwire_engine.errors import LimitExceeded
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import GuardFailed, Input
from gradwire_engine.optimize.partial_evaluation import stages
from gradwire_engine.polling import polled
from gradwire_engine.tape import Instruction, Tape

#: Less is made of constants in less time than it takes to compile for it.
_FEWEST_BYTES = 4096


@dataclass(frozen=True, eq=False)
class StagedExecutable:
    """The ``residual`` stage takes the inputs, then what the ``static`` one gives of some of them.

    Both together give what ``whole`` does.
    """

    whole: Executable
    static: Executable
    residual: Executable
    #: Bytes of what the static stage gives.
    kept_bytes: int

    @property
    def nbytes(self) -> int:
        """Approximate memory that the parts take, without what the static stage gives."""
        return self.static.nbytes + self.residual.nbytes

    def within(self, limits: Limits) -> bool:
        """True if the parts are predicted to need no more than is allowed."""
        parts = self.static, self.residual
        most = max([part.peak_bytes + part.constant_bytes for part in parts])
        return most <= limits.total_bytes and sum([x.flops for x in parts]) <= limits.flops


class Specialised(Executable):
    """Replays the residual stage, and at first the static one, of which it keeps the results."""

    def __init__(self, staged: StagedExecutable) -> None:
        self.tape, self.exact = staged.whole.tape, staged.whole.exact
        self.output_bytes = staged.whole.output_bytes
        self.constant_bytes = staged.whole.constant_bytes + staged.kept_bytes
        self._staged = staged
        self._lock = threading.Lock()
        #: Whether the static stage was replayed; what it gave: nothing where it or a guard failed.
        self._begun = False
        self._kept: Sequence[Any] | None = None
        self._guard: type[GuardFailed] | None = None

    @property
    def kept(self) -> Sequence[Any]:  # type: ignore[override]
        """The results of the static stage so far."""
        return self._kept or ()

    @property
    def _next(self) -> Executable:
        """The executable of the second and later replays."""
        failed = self._begun and self._kept is None
        return self._staged.whole if failed else self._staged.residual

    @property
    def replayed(self) -> Tape:
        """The rest of the tape: ``kept`` come after the inputs; all of it where that failed."""
        return self._next.replayed

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
    def hosted(self) -> Sequence[str]:  # type: ignore[override]
        """The operations of later replays that are computed on the host."""
        return self._next.hosted

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the next replay holds at once, without the kept values."""
        ahead = 0 if self._begun else self._staged.static.peak_bytes
        return max(ahead, self._staged.residual.peak_bytes)

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, the kept values included."""
        return self._staged.nbytes + self._staged.kept_bytes

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``, of what is left or of the whole."""
        return self._staged.whole.failed_at(error)

    def listing(self, poll: Poll) -> Listing:
        """The code of what is replayed."""
        return self._next.listing(poll)

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


def staged(
    backend: Backend, whole: Executable, residents: Set[int], limits: Limits, poll: Poll, tape: Tape
) -> StagedExecutable | None:
    """An optimised tape of ``whole`` in stages; None where these spare or are allowed nothing."""
    parts = stages(tape, residents, limits.kept_bytes, backend.costs, poll)
    if parts is None:
        return None
    static, residual = (
        backend.compile(part, poll, exact=whole.exact, threads=limits.threads) for part in parts[:2]
    )
    both = StagedExecutable(whole, static, residual, parts.kept_bytes)
    return both if both.within(limits) else None


def prepared(
    backend: Backend, tape: Tape, limits: Limits, poll: Poll, *, exact: bool
) -> Executable:
    """An optimised tape ready to replay, which keeps up to ``kept_bytes`` of what constants give.

    Most that is small is folded into the tape. Nothing is kept where that exceeds the limits.
    """
    whole = backend.compile(tape, poll, exact=exact, threads=limits.threads)
    both = None
    if _is_worth_it(tape, poll):
        both = staged(backend, whole, frozenset(), limits, poll, tape)
    if both is None:
        return whole
    found = Specialised(both)
    return found if found.peak_bytes + found.constant_bytes <= limits.total_bytes else whole


def _is_worth_it(tape: Tape, poll: Poll) -> bool:
    """True if more than views and a few numbers is computed of constants alone."""
    types = {*map(itemgetter(2), polled(tape.instructions, poll))}
    if all(kind.nbytes <= _FEWEST_BYTES for kind in types):
        return False
    fixed = bytearray()
    for op, args, kind, _ in polled(tape.instructions, poll):
        fixed.append(type(op) is not Input and all(fixed[arg] for arg in args))
        if fixed[-1] and args and not op.views and kind.nbytes > _FEWEST_BYTES:
            return True
    return False


def _own(value: Any, *, exact: bool) -> Any:
    """A value that nobody can write to, in memory of its own where its layout allows.

    Memory of a pool, or that is part of an operand's, would be held as a whole. What is on a device
    stays there.
    """
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.asarray(value)
    if array.base is not None:
        own = np.array(array, order="K")
        array = array if exact and own.strides != array.strides else own
    array = array.view()
    array.flags.writeable = False
    return array
