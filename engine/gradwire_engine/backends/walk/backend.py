"""NumPy, called one function after the other: what the engine computes with."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable, FusedGroup
from gradwire_engine.backends.reference.backend import EXACT_IDENTITIES, ReferenceBackend
from gradwire_engine.backends.walk.buffers import BUDGET, POOL
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.backends.walk.functions import function
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.backends.walk.rules import RULES
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.optimize.target import rules
from gradwire_engine.tape import Tape


class NumpyBackend(ReferenceBackend):
    """Whole tapes become lists of steps, and loops in them lists of their own."""

    name = "numpy"
    rules = rules(EXACT_IDENTITIES, RULES)

    def __init__(self) -> None:
        self._loops = Loops()

    def apart(self, whose: str = "") -> NumpyBackend:
        """Another one, with functions of loops of its own."""
        return NumpyBackend()

    def compute(self, op: Op, poll: Poll, *operands: Any) -> Any:
        """The result of a kernel; of a loop, or of instructions together, by their function."""
        if isinstance(op, Loop):
            return self._loops.function(op, poll)(poll, *operands)
        if isinstance(op, FusedGroup):
            called = partial(op.function, poll) if op.polls else op.function
            return called(*operands)
        return function(op)(*operands)

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Prepare the steps at the first replay."""
        return WalkExecutable(tape, poll, self._loops, exact=exact)

    def release(self) -> None:
        """Forget this thread's buffers."""
        POOL.forget()

    def limit_buffers(self, most_bytes: int) -> None:
        """Bound the buffers of all threads."""
        BUDGET.resize(most_bytes)


NUMPY_BACKEND = NumpyBackend()
