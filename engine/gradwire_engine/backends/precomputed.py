"""Computes what depends on constants alone once, and keeps it beside the tape.

Most that is small is folded into the tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.backends.base import Backend, Executable, Listing, Replayed
from gradwire_engine.backends.staged import Specialised, StagedExecutable
from gradwire_engine.ops.constants import Input
from gradwire_engine.optimize.partial_evaluation import stages
from gradwire_engine.polling import polled
from gradwire_engine.tape import Instruction, Tape

#: Less is made in less time than it takes to compile for it.
_FEWEST_BYTES = 4096


def prepared(
    backend: Backend, tape: Tape, limits: Limits, poll: Poll, *, exact: bool
) -> Executable:
    """An optimised tape ready to replay, which keeps up to ``kept_bytes`` of what constants give.

    Nothing is kept where the whole, or what is left, then exceeds the limits.
    """
    threads = limits.threads
    whole = backend.compile(tape, poll, exact=exact, threads=threads)
    if not _is_worth_it(tape, poll):
        return whole
    parts = stages(tape, frozenset(), limits.kept_bytes, backend.costs, poll)
    if parts is None:
        return whole
    static, residual = (
        backend.compile(part, poll, exact=exact, threads=threads) for part in parts[:2]
    )
    both = StagedExecutable(whole, static, residual, parts.kept_bytes)
    found = PrecomputedExecutable(both, poll)
    fits = found.peak_bytes + found.constant_bytes <= limits.total_bytes
    return found if fits and both.within(limits) else whole


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


class PrecomputedExecutable(Executable):
    """Replays the rest of a tape, and at first what depends on constants alone."""

    def __init__(self, staged: StagedExecutable, poll: Poll) -> None:
        super().__init__(staged.whole.tape, poll, exact=staged.whole.exact)
        self.constant_bytes += staged.kept_bytes
        self._staged = staged
        self._once = Specialised(staged)

    @property
    def replayed(self) -> Tape:
        """The rest of the tape: ``kept`` come after the inputs; all of it where constants fail."""
        return self._once.executable.replayed

    @property
    def kept(self) -> Sequence[Any]:  # type: ignore[override]
        """The results that depend on constants alone."""
        return self._once.kept

    @property
    def flops(self) -> int:
        """Arithmetic operations of the first replay."""
        return self._staged.static.flops + self._staged.residual.flops

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays alive at once in any replay, without the kept values."""
        return max(self._staged.static.peak_bytes, self._staged.residual.peak_bytes)

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay."""
        return self._once.seconds

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, the kept values included."""
        return self._staged.nbytes + self._staged.kept_bytes

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs."""
        return self._once.replay(inputs, poll)

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``, of what is left or of the whole."""
        return self._staged.whole.failed_at(error)

    def listing(self, poll: Poll) -> Listing:
        """The code of what is replayed."""
        return self._once.executable.listing(poll)
