"""What the checker examines: functions that record on a builder, run one kernel at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array, Limits
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import ArrayType, Tape, TupleType, Type

#: Records on a builder what the checker examines: one variable, or several in lists and tuples.
Recording: TypeAlias = Callable[..., Any]


class Finding(NamedTuple):
    """One claim that does not hold, found on the derivative of the given order."""

    claim: str
    order: int
    detail: str


@dataclass(frozen=True, eq=False)
class Call:
    """A function that programs can call, with arguments; its arrays, also in lists, are inputs."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, function: str, *args: Any, **kwargs: Any) -> Call:
        """Write a call as it is written in a program."""
        return cls(function, args, kwargs)

    @property
    def values(self) -> list[Array]:
        """The arrays among the arguments, in order."""
        return list(_arrays((self.args, list(self.kwargs.values()))))

    def record(self, b: Builder, *inputs: Var) -> Any:
        """Record the call with ``inputs`` in place of the arrays."""
        rest = iter(inputs)
        args = _replaced(self.args, rest)
        kwargs = {key: _replaced(value, rest) for key, value in self.kwargs.items()}
        return FUNCTIONS[self.function].record(b, *args, **kwargs)

    def __str__(self) -> str:
        shown = [str(v.dtype) if isinstance(v, np.ndarray) else repr(v) for v in self.args]
        shown += [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"{self.function}({', '.join(shown)})"


def interpret(tape: Tape, values: Sequence[Array]) -> list[Any]:
    """Results of all instructions that the outputs need, computed one kernel at a time."""
    needed = bytearray(len(tape.instructions))
    for slot in tape.outputs:
        needed[slot] = 1
    for slot in range(len(needed) - 1, -1, -1):
        if needed[slot]:
            for arg in tape.instructions[slot].args:
                needed[arg] = 1
    results: list[Any] = [None] * len(needed)
    with np.errstate(all="ignore"):
        for slot, (op, args, _, _) in enumerate(tape.instructions):
            if isinstance(op, Input):
                results[slot] = values[op.index]
            elif needed[slot]:
                results[slot] = op.kernel(NUMPY, *[results[a] for a in args])
    return results


def trace(recording: Recording, values: Sequence[Array]) -> tuple[Builder, list[Var], list[Var]]:
    """Record for inputs of the values' types: the builder, its inputs, and the outputs in order."""
    b = Builder(Limits())
    inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in values]
    return b, inputs, list(variables(recording(b, *inputs)))


def evaluate(recording: Recording, values: Sequence[Array]) -> list[Any]:
    """The values of what ``recording`` gives."""
    b, _, outputs = trace(recording, values)
    results = interpret(b.tape(outputs), values)
    return [results[v.slot] for v in outputs]


def check_types(recording: Recording, values: Sequence[Array], order: int) -> Iterator[Finding]:
    """Compare the predicted with the computed type of every instruction."""
    b, _, outputs = trace(recording, values)
    yield from check_results(b, interpret(b.tape(outputs), values), order)


def check_results(b: Builder, results: Sequence[Any], order: int) -> Iterator[Finding]:
    """Compare the types of ``results`` with those that were recorded."""
    for slot, (instruction, result) in enumerate(zip(b.instructions, results, strict=True)):
        if result is not None and not _has_type(result, instruction.type):
            yield Finding(
                "types",
                order,
                f"%{slot} = {instruction.op} gives {_described(result)}, not {instruction.type}",
            )


def _has_type(result: Any, kind: Type) -> bool:
    if isinstance(kind, TupleType):
        pairs = zip(result, kind.items, strict=True)
        return all(_has_type(item, expected) for item, expected in pairs)
    array = np.asarray(result)
    return array.dtype == kind.dtype and array.shape == kind.shape


def _described(result: Any) -> str:
    array = np.asarray(result)
    return f"{array.dtype.name}{list(array.shape)}"


def variables(x: Any) -> Iterator[Var]:
    """The variables nested in lists and tuples, in order."""
    if isinstance(x, Var):
        yield x
    elif isinstance(x, list | tuple):
        for item in x:
            yield from variables(item)


def _arrays(x: Any) -> Iterator[Array]:
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, list | tuple):
        for item in x:
            yield from _arrays(item)


def _replaced(x: Any, rest: Iterator[Var]) -> Any:
    if isinstance(x, np.ndarray):
        return next(rest)
    if isinstance(x, list | tuple):
        return type(x)(_replaced(item, rest) for item in x)
    return x
