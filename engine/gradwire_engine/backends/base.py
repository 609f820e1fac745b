"""The interface of backends: they evaluate operations, and make tapes ready to replay."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.errors import EngineError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, GuardFailed, Input
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.half_precision import evaluated as in_half_precision
from gradwire_engine.optimize.target import Rules
from gradwire_engine.polling import polled
from gradwire_engine.tape import ArrayType, Instruction, Tape, TupleType, Type, answer_bytes

#: A line of generated code, and the instruction that it computes.
Line: TypeAlias = tuple[str, Instruction | None]


class Replayed(NamedTuple):
    """The outputs of a replay; of one whose ``guard`` has failed, none."""

    outputs: tuple[Any, ...]
    #: Those of the outputs that are not known to be finite.
    unsure: tuple[Any, ...] = ()
    guard: type[GuardFailed] | None = None

    @property
    def finite(self) -> bool:
        """True if no output has NaN or infinity."""
        return not self.unsure or all_finite(self.unsure)


class Listing(NamedTuple):
    """The code of an executable; that of loops and fused groups by their slots, in turn.

    ``unfused`` says of a slot and one that it reads why they are not in one kernel.
    """

    code: Sequence[Line] = ()
    inner: Mapping[tuple[int, ...], Sequence[Line]] = {}
    unfused: Mapping[tuple[int, int], str] = {}


#: Operations that hold constants.
_WITH_CONSTANTS = frozenset((Loop, Constant))


class Executable(ABC):
    """A tape that is ready to replay.

    Each replay of an ``exact`` one gives the bits of its operations, one after the other.
    """

    #: The results of constants alone, which the replay takes after the inputs.
    kept: Sequence[Any] = ()
    #: The names of operations that a backend for a device computes on the host.
    hosted: Sequence[str] = ()

    def __init__(self, tape: Tape, poll: Poll, *, exact: bool) -> None:
        self.tape = tape
        self.exact = exact
        made = tape.instructions
        #: Bytes of the answer.
        self.output_bytes: int = sum([answer_bytes(made[slot].type) for slot in tape.outputs])
        ops = [i.op for i in polled(made, poll) if type(i.op) in _WITH_CONSTANTS]
        loops = [op for op in ops if type(op) is Loop]
        constants = [op.value.nbytes for op in ops if type(op) is Constant]
        #: Bytes of the constants, which live as long as this.
        self.constant_bytes: int = sum(constants, sum([op.body.constant_bytes for op in loops]))
        #: Instructions that loops execute, as predicted.
        self._looped: int = sum([op.steps for op in loops])

    @property
    @abstractmethod
    def replayed(self) -> Tape:
        """The tape as it is replayed: groups of its instructions may have become one."""

    @property
    @abstractmethod
    def flops(self) -> int:
        """Predicted arithmetic operations of a replay."""

    @property
    @abstractmethod
    def peak_bytes(self) -> int:
        """Predicted maximum bytes of arrays alive at once, without constants."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Predicted time of the next replay."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Approximate memory of the executable itself."""

    @abstractmethod
    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs; those without axes are scalars.

        ``poll`` is called often, and stops the replay by raising. Errors of kernels pass through:
        ``failed_at`` says where they were raised, and the backend's ``explain`` what they mean.
        """

    @abstractmethod
    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``; in a loop that of its body."""

    @abstractmethod
    def listing(self, poll: Poll) -> Listing:
        """The generated code, if there is any."""


class FusedGroup(Op):
    """The ``instructions`` at ``slots``, computed together; no program can name it.

    It gives the values of the slots ``results``. ``each`` is the arithmetic of each instruction.
    """

    differentiable = False
    composite = True
    slots: Sequence[int]
    #: The slots that it reads.
    operands: Sequence[int]
    #: Those of its own slots that others read.
    results: Sequence[int]
    #: The numbers of the results that it checks for values that are not finite.
    checked: frozenset[int]
    instructions: Sequence[Instruction]
    each: Sequence[int]
    #: Computes the results from the operands, before which it takes the poll of the deadline if it
    #: ``polls``. If some are ``checked``, a number follows that is finite if these are.
    function: Callable[..., tuple[Any, ...]]
    polls: bool = True

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def infer(self, *types: ArrayType) -> Type:
        """The results' types."""
        kinds = {slot: i.type for slot, i in zip(self.slots, self.instructions, strict=True)}
        return TupleType(tuple([kinds[slot] for slot in self.results]))  # type: ignore[misc]

    def flops(self, result: Type, *types: ArrayType) -> int:
        """The operands of the instructions."""
        return sum(self.each)


class Backend(ABC):
    """Evaluates operations, and makes tapes ready to replay. Arrays are on the host."""

    name: str
    #: The rewriting of tapes for it, and the costs by which the optimiser decides.
    rules: Rules
    costs: Costs

    def evaluate(self, op: Op, poll: Poll, *operands: Any) -> Any:
        """The result of one operation: of a loop, that of all its passes.

        Raises: ``GuardFailed``, and what kernels raise.
        """
        return in_half_precision(op, lambda op, *given: self.compute(op, poll, *given), operands)

    @abstractmethod
    def compute(self, op: Op, poll: Poll, *operands: Any) -> Any:
        """The same of operands that are neither float16 nor bfloat16, but for conversions."""

    @abstractmethod
    def fold(self, op: Op, *constants: Any) -> Any:
        """The result of an operation on constants; None if it fails, as it will at replay."""

    @abstractmethod
    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Make an optimised tape ready to replay, on up to ``threads`` threads."""

    @abstractmethod
    def explain(self, op: Op, error: Exception) -> EngineError | None:
        """The program's error for a kernel's ``error``; None where it is a bug of ours."""

    def apart(self, whose: str = "") -> Backend:
        """A backend that shares nothing compiled with this, so its timing reveals nothing.

        It is for the tenant ``whose`` work it does.
        """
        return self

    def release(self) -> None:  # noqa: B027 - not every backend keeps memory
        """Give back the memory that this thread keeps for arrays to come."""

    def limit_buffers(self, most_bytes: int) -> None:  # noqa: B027
        """Keep no more memory for arrays to come, in all threads together."""


def note_place(error: Exception, instruction: Instruction) -> None:
    """Remember which instruction raised ``error``, unless one within it is known."""
    error.__dict__.setdefault("instruction", instruction)


def noted_place(error: BaseException) -> Instruction | None:
    """The instruction that is remembered of an error."""
    return error.__dict__.get("instruction")


def evaluated(
    tape: Tape,
    inputs: Sequence[Any],
    slots: Iterable[int],
    evaluate: Callable[..., Any],
    dead: Sequence[Sequence[int]] | None = None,
    known: Mapping[int, Any] | None = None,
) -> Iterator[tuple[int, Sequence[Any], Any]]:
    """Evaluate instructions in order: each slot with its operands and its value.

    What is ``dead`` after an instruction is forgotten. The values of slots that are read and not
    evaluated are ``known``.
    """
    values: dict[int, Any] = {**(known or {})}
    for slot in slots:
        op, args, _, _ = tape.instructions[slot]
        operands = [inputs[op.index]] if isinstance(op, Input) else [values[a] for a in args]
        try:
            values[slot] = evaluate(op, *operands)
        except Exception as error:
            note_place(error, tape.instructions[slot])
            raise
        yield slot, operands, values[slot]
        if dead is not None:
            for gone in dead[slot]:
                del values[gone]
