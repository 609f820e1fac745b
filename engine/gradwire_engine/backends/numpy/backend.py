"""NumPy with generated Python functions: what the engine computes with."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.numpy.buffers import BUDGET, POOL
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.backends.numpy.loops import Functions, bound
from gradwire_engine.backends.numpy.rules import RULES
from gradwire_engine.backends.reference.backend import EXACT_IDENTITIES, ReferenceBackend
from gradwire_engine.ops.base import Op
from gradwire_engine.optimize.target import rules
from gradwire_engine.tape import Tape


class NumpyBackend(ReferenceBackend):
    """Loops and whole tapes become Python functions, groups on large arrays are fused."""

    name = "numpy"
    rules = rules(EXACT_IDENTITIES, RULES)

    def __init__(self) -> None:
        self._loops: Functions = WeakKeyDictionary()

    def apart(self, whose: str = "") -> NumpyBackend:
        """Another one, with functions of loops of its own."""
        return NumpyBackend()

    def compute(self, op: Op, poll: Poll, *operands: Any) -> Any:
        """The result of a kernel, of a loop by its function."""
        return bound(op, poll, self._loops)(*operands)

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Generate functions where the tape is replayed again."""
        return NumpyExecutable(tape, poll, self._loops, exact=exact, threads=threads)

    def release(self) -> None:
        """Forget this thread's buffers."""
        POOL.forget()

    def limit_buffers(self, most_bytes: int) -> None:
        """Bound the buffers of all threads."""
        BUDGET.resize(most_bytes)


NUMPY_BACKEND = NumpyBackend()
