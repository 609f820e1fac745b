"""The backend that other backends are compared with: kernels as they are, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import (
    Backend,
    Executable,
    Listing,
    Replayed,
    evaluated,
    noted_place,
)
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.reference import loops
from gradwire_engine.backends.reference.failures import explained
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.errors import EngineError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.arrays.shape import Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Assigned, Copy, GuardFailed, Item, StopGradient
from gradwire_engine.ops.rules import ByFormula
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.target import rules
from gradwire_engine.tape import Instruction, Tape

#: Predicted time of an instruction, and of an arithmetic operation.
_SECONDS_PER_INSTRUCTION = 2e-6
_SECONDS_PER_FLOP = 1e-9
_BYTES_PER_INSTRUCTION = 100
#: Measured with NumPy, OpenBLAS and the code that is generated, on one core with AVX2, float64.
#: Both backends replay the same tapes, so that they can be compared.
COSTS = Costs(
    call=500.0,
    byte=0.005,
    element=0.15,
    in_matrix=0.05,
    in_vector=0.06,
    in_rows=0.4,
    packed=0.08,
    stacked=150.0,
    selected=2.0,
    most_single=1 << 20,
    few=1024,
    recomputed_bytes=1 << 21,
)
#: These give the very array, in the same layout: that of operands decides in which order NumPy adds
#: up, and which of its functions for powers it takes.
EXACT_IDENTITIES = StopGradient, ByFormula, Copy, Assigned, Item, Transpose


class ReferenceBackend(Backend):
    """NumPy's kernels, and loops pass by pass."""

    name = "reference"
    xp = NUMPY
    rules = rules(EXACT_IDENTITIES)
    costs = COSTS

    def compute(self, op: Op, poll: Poll, *operands: Any) -> Any:
        """The result of a kernel."""
        if isinstance(op, Loop):
            return loops.run(op, operands, poll, lambda op, *given: self.compute(op, poll, *given))
        return op.kernel(self.xp, *operands)

    def fold(self, op: Op, *constants: Any) -> Any:
        """The result of a kernel."""
        try:
            return op.kernel(self.xp, *constants)
        except (ArithmeticError, ValueError, LookupError):
            return None

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Nothing is generated."""
        return ReferenceExecutable(self, tape, poll, exact=exact)

    def explain(self, op: Op, error: Exception) -> EngineError | None:
        """The program's errors for NumPy's exceptions."""
        return explained(op, error)


class ReferenceExecutable(Executable):
    """Evaluates instruction after instruction."""

    def __init__(self, backend: Backend, tape: Tape, poll: Poll, *, exact: bool) -> None:
        super().__init__(tape, poll, exact=exact)
        self._backend = backend
        self._plan = plan(tape, poll)

    @property
    def replayed(self) -> Tape:
        """The tape itself."""
        return self.tape

    @property
    def flops(self) -> int:
        """Arithmetic operations of a replay."""
        return self._plan.flops

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays alive at once."""
        return self._plan.peak_bytes

    @property
    def seconds(self) -> float:
        """Predicted time of a replay."""
        steps = len(self.tape.instructions) + self._looped
        return steps * _SECONDS_PER_INSTRUCTION + self.flops * _SECONDS_PER_FLOP

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes."""
        return _BYTES_PER_INSTRUCTION * len(self.tape.instructions) + self.constant_bytes

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Evaluate all instructions."""
        given = [x if isinstance(x, list) or x.ndim else x[()] for x in inputs]
        try:
            outputs = errstate.run(self._outputs, given, poll)
        except GuardFailed as failed:
            return Replayed((), guard=type(failed))
        return Replayed(outputs, outputs)

    def _outputs(self, inputs: Sequence[Any], poll: Poll) -> tuple[Any, ...]:
        poll()
        tape, wanted, found = self.tape, {*self.tape.outputs}, dict[int, Any]()
        slots, evaluate = range(len(tape.instructions)), partial(_evaluate, self._backend, poll)
        for slot, _, value in evaluated(tape, inputs, slots, evaluate, self._plan.dead):
            if slot in wanted:
                found[slot] = value
        return tuple([found[slot] for slot in tape.outputs])

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``."""
        return noted_place(error)

    def listing(self, poll: Poll) -> Listing:
        """There is no code."""
        return Listing()


def _evaluate(backend: Backend, poll: Poll, op: Op, *operands: Any) -> Any:
    poll()
    return backend.evaluate(op, poll, *operands)


REFERENCE = ReferenceBackend()
