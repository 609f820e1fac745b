"""A tape ready to replay whose kernels become machine code while NumPy replays it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Listing, Replayed
from gradwire_engine.backends.llvm.calls import Left
from gradwire_engine.backends.llvm.compilations import COMPILATIONS
from gradwire_engine.backends.llvm.compiler import (
    Code,
    Compile,
    Library,
    Postponed,
    Source,
    compile_here,
)
from gradwire_engine.backends.llvm.groups import Kernels, calling, kernels_of
from gradwire_engine.backends.llvm.kernels import NativeKernel
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.walk.executable import WalkExecutable, replayed
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.backends.walk.walk import Walk
from gradwire_engine.kernels.why_not_fused import why_in_none, why_not_in_one
from gradwire_engine.ops import constants
from gradwire_engine.ops.constants import Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape

logger = logging.getLogger("gradwire")
#: Code in memory takes some 40 KiB a kernel, which is of some forty instructions.
_CODE_BYTES_PER_INSTRUCTION = 1000
#: Most instructions of a tape that is looked through for kernels, and most text that is compiled
#: for it: an instruction takes some 300 bytes.
_MOST_INSTRUCTIONS, _MOST_TEXT_BYTES = 20_000, 8 << 20
#: What kernels raise, and NumPy in another order than the tape's.
_FAILURES = Left, ArithmeticError, ValueError, LookupError
#: The replay at which machine code is asked for: most programs come once. Where compiling failed,
#: it is asked for again after so many times as many.
_ASKING, _AGAIN = 2, 8


class NativeExecutable(WalkExecutable):
    """Calls kernels in place of stretches of the walk, once they are compiled in the background."""

    #: The walk that calls kernels.
    calling: Walk | None = None

    def __init__(
        self,
        tape: Tape,
        poll: Poll,
        loops: Loops,
        threads: int,
        compile_texts: Compile | None,
        library: Library,
    ) -> None:
        super().__init__(tape, poll, loops)
        self._library = library
        self._threads = threads
        self._compile = compile_texts or compile_here
        self._waits = compile_texts is None
        #: The replays so far, until machine code is there or known not to come.
        self._replays = 0
        self._is_awaiting = True
        self._ask_at: float = _ASKING
        #: The code that has come, and whether any will.
        self._compiled: _Compiled | None = None
        self._is_settled = False

    @property
    def whose(self) -> str:
        """The tenant."""
        return self._library.whose

    @property
    def spent(self) -> float:
        """Seconds that NumPy has spent while machine code was awaited, as predicted."""
        return self._replays * self.seconds

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs; where kernels fail, once more in the order of the tape.

        So what is decided comes before what then fails.
        """
        if self._is_awaiting:
            self._advance(poll)
        if self.calling is None:
            return super().replay(inputs, poll)
        try:
            return replayed(self.calling, inputs, poll)
        except _FAILURES:
            return super().replay(inputs, poll)

    def listing(self, poll: Poll) -> Listing:
        """The steps, kernels among them where machine code is waited for."""
        if self._waits and self._is_awaiting:
            self._advance(poll)
        return super().listing(poll)._replace(unfused=_unfused(self.replayed.instructions, poll))

    def _advance(self, poll: Poll) -> None:
        """Ask for machine code, or take what has come."""
        self._replays += 1
        if self._waits:
            self.compile_kernels(poll)
        elif self._replays >= self._ask_at:
            self._ask_at = inf
            COMPILATIONS.put(self)
        if self._is_settled:
            self._take(poll)

    def compile_kernels(self, poll: Poll = no_deadline) -> None:
        """Compile what machine code does sooner than NumPy, if there is any.

        Raises: what compiling does.
        """
        if len(self.tape.instructions) <= _MOST_INSTRUCTIONS:
            kernels = kernels_of(self.tape, poll)
            sources = [source for kernel in kernels for source in kernel.sources]
            if sources and sum([len(source.text) for source in sources]) <= _MOST_TEXT_BYTES:
                self._compiled = _Compiled(kernels, sources, self._codes(sources))
        self._is_settled = True

    def _codes(self, sources: Sequence[Source]) -> Mapping[bytes, Code | bytes]:
        try:
            return self._library.compiled(sources, self._compile)
        except Postponed:
            raise
        except Exception:
            self._ask_at = _AGAIN * self._replays
            raise

    def _take(self, poll: Poll) -> None:
        """Load what was compiled, if anything was, unless another thread does."""
        self._is_awaiting = False
        compiled, self._compiled = self._compiled, None
        if compiled is None:
            return
        try:
            codes = iter(self._library.load(compiled.sources, compiled.codes))
        except Exception:
            logger.exception("machine code could not be loaded; NumPy goes on computing it")
            return
        try:
            self._load(compiled.kernels, codes, poll)
        except Exception:  # the deadline of this replay has passed: the next one takes it
            self._compiled, self._is_awaiting = compiled, True
            raise

    def _load(self, kernels: Kernels, codes: Iterator[Code], poll: Poll) -> None:
        for kernel in kernels:
            kernel.load([next(codes) for _ in kernel.sources], self._threads)
        tape = calling(self.tape, kernels, poll)
        planned = tape, plan(tape, poll)
        walk = self._walk(*planned, poll)
        self._replayed, self.calling = planned, walk

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes, with the code that it may get."""
        return super().nbytes + _CODE_BYTES_PER_INSTRUCTION * len(self.tape.instructions)


def _unfused(made: Sequence[Instruction], poll: Poll) -> dict[tuple[int, int], str]:
    """Why kernels and what they read, or what reads them, are not in one."""
    found: dict[tuple[int, int], str] = {}
    for slot, (op, args, _, _) in enumerate(polled(made, poll)):
        if isinstance(op, Item):
            continue
        for arg in args:
            other = made[arg].op
            if isinstance(other, Item):
                other = made[made[arg].args[0]].op
            if isinstance(op, NativeKernel) and isinstance(other, NativeKernel):
                found[slot, arg] = why_not_in_one(op.instructions, other.instructions)
            elif isinstance(op, NativeKernel) and not isinstance(other, constants.Source):
                found[slot, arg] = why_in_none(made, arg)
            elif isinstance(other, NativeKernel):
                found[slot, arg] = why_in_none(made, slot)
    return found


class _Compiled(NamedTuple):
    """Kernels whose texts have been compiled."""

    kernels: Kernels
    sources: Sequence[Source]
    codes: Mapping[bytes, Code | bytes]
