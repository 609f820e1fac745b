"""Subjects of the checker: functions that record on a builder, run one kernel at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array, Limits
from gradwire_engine.backends.base import Backend, evaluated
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.ops.base import FUNCTIONS, Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.halves import rounded_once
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import ArrayType, Tape, TupleType, Type
from gradwire_engine.traversal import ancestors

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
        return rounded_once(b, FUNCTIONS[self.function].record, args, kwargs)

    def __str__(self) -> str:
        shown = [str(v.dtype) if isinstance(v, np.ndarray) else repr(v) for v in self.args]
        shown += [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"{self.function}({', '.join(shown)})"


def interpret(
    tape: Tape,
    values: Sequence[Array],
    backend: Backend = REFERENCE,
    known: Mapping[int, Any] = MappingProxyType({}),
) -> dict[int, Any]:
    """Results by slot of all that the outputs need and is not known, computed one by one."""
    slots = sorted(ancestors(tape.instructions, tape.outputs) - known.keys())

    def evaluate(op: Op, *operands: Any) -> Any:
        return backend.evaluate(op, no_deadline, *operands)

    with np.errstate(all="ignore"):
        pairs = evaluated(tape, values, slots, evaluate, known=known)
        return {slot: value for slot, _, value in pairs}


class Recorded:
    """A recording for inputs of the values' types, on a builder that takes what is made of it.

    ``values`` are those of the builder's inputs, in order.
    """

    def __init__(self, recording: Recording, values: Sequence[Array]) -> None:
        self.recording = recording
        self.b = Builder(Limits())
        self.values: list[Array] = list(values)
        self.inputs = [self.b.input(_type_of(v)) for v in values]
        self.outputs = list(variables(recording(self.b, *self.inputs)))
        #: Results by slot, of all that has been computed.
        self.known: dict[int, Any] = {}

    @cached_property
    def found(self) -> dict[int, Any]:
        """Results by slot of all that the recording's own outputs need."""
        return self.compute(self.outputs)

    def input(self, value: Array) -> Var:
        """Another input, of this value."""
        self.values.append(value)
        return self.b.input(_type_of(value))

    def compute(self, outputs: Sequence[Var]) -> dict[int, Any]:
        """Compute what ``outputs`` need and is not known; the results by slot."""
        found = interpret(self.b.tape(outputs), self.values, known=self.known)
        self.known |= found
        return found

    def replaced(self, others: Mapping[int, Array]) -> list[Array]:
        """The values with others of these numbers."""
        return [others.get(i, v) for i, v in enumerate(self.values)]


def trace(recording: Recording, values: Sequence[Array]) -> tuple[Builder, list[Var], list[Var]]:
    """Record for inputs of the values' types: the builder, its inputs, and the outputs in order."""
    recorded = Recorded(recording, values)
    return recorded.b, recorded.inputs, recorded.outputs


def evaluate(recording: Recording, values: Sequence[Array]) -> list[Any]:
    """The values of what ``recording`` gives."""
    recorded = Recorded(recording, values)
    return [recorded.found[v.slot] for v in recorded.outputs]


def _type_of(value: Array) -> ArrayType:
    return ArrayType(value.dtype, value.shape)


def check_results(b: Builder, results: Mapping[int, Any], order: int) -> Iterator[Finding]:
    """Compare the types of ``results``, by slot, with those that were recorded."""
    for slot, result in results.items():
        instruction = b.instructions[slot]
        if not _has_type(result, instruction.type):
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
