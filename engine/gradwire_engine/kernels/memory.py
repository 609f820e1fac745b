"""The buffers and numbers of a kernel while it is being built, and how they are laid out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.kernels.form import (
    Affine,
    Break,
    Buffer,
    For,
    If,
    Kernel,
    Load,
    Nest,
    Place,
    Step,
    dtype_of,
    nests_of,
)
from gradwire_engine.tape import Shape

#: The key of a buffer before it has its number.
Key: TypeAlias = int
#: Most bytes of a temporary that lives on the stack, and of all of them together.
_LOCAL_BYTES, _ALL_LOCAL_BYTES = 4096, 1 << 15


class Operand(NamedTuple):
    """A slot that is read, in memory as its axes are in this ``order``; None for row-major."""

    slot: int
    order: tuple[int, ...] | None = None


class Memory:
    """Hands out keys of buffers, and arguments for numbers."""

    def __init__(self) -> None:
        #: The buffers that are read from outside, and constants beside them.
        self.operands: list[Operand] = []
        self.constants: list[np.ndarray[Any, Any]] = []
        self._buffers: list[Buffer] = []
        self._given: dict[Operand, Key] = {}
        self._constants: dict[int, Key] = {}
        self._numbers: dict[str, int] = {}
        self._statuses: list[Key] = []
        self._fault: Key | None = None

    def own(self, shape: Shape, char: str) -> Key:
        """A buffer that nests write."""
        self._buffers.append(Buffer(shape, char))
        return len(self._buffers) - 1

    @property
    def fault(self) -> Key:
        """The flag for an index from data that is out of range."""
        if self._fault is None:
            self._fault = self.own((), "?")
        return self._fault

    @property
    def known_fault(self) -> Key | None:
        """The same flag, if anything has asked for it."""
        return self._fault

    def growing(self, shape: Shape, char: str) -> Key:
        """One of items of this shape, as many as passes are made."""
        self._buffers.append(Buffer((1, *shape), char, grows=True))
        return len(self._buffers) - 1

    def status(self) -> Key:
        """A buffer for how passes ended."""
        self._statuses.append(self.own((2,), "l"))
        return self._statuses[-1]

    def operand(self, operand: Operand, shape: Shape, char: str) -> Key:
        """The buffer of a slot outside, whose axes have these lengths."""
        key = self._given.get(operand)
        if key is None:
            axes = range(len(shape)) if operand.order is None else operand.order
            key = self._given[operand] = self.own(tuple([shape[axis] for axis in axes]), char)
            self.operands.append(operand)
        return key

    def constant(self, value: np.ndarray[Any, Any]) -> Key:
        """The buffer of an array that is known."""
        key = self._constants.get(id(value))
        if key is None:
            key = self._constants[id(value)] = self.own(value.shape, value.dtype.char)
            self.constants.append(value)
        return key

    def number(self, value: float) -> int:
        """The argument that a number is."""
        return self._numbers.setdefault(float.hex(value), len(self._numbers))

    def laid_out(
        self, steps: Sequence[Step], results: Sequence[Key], flags: Sequence[Key]
    ) -> Kernel:
        """The kernel of these steps; what nothing reads is not stored."""
        given = [*self._given.values(), *self._constants.values()]
        places = {key: Place(number) for number, key in enumerate(given)}
        buffers = [self._buffers[key] for key in given]
        numbers: dict[str, list[Key]] = {}
        for key in dict.fromkeys(results):
            if self._buffers[key].shape:
                places[key] = Place(len(buffers))
                buffers.append(self._buffers[key])
            else:
                numbers.setdefault(self._buffers[key].char, []).append(key)
        for char, keys in numbers.items():  # numbers are stored together
            places.update({key: Place(len(buffers), k) for k, key in enumerate(keys)})
            buffers.append(Buffer((len(keys),), char))
        faults = [] if self._fault is None else [self._fault]
        for key in (*flags, *faults, *self._statuses):
            places[key] = Place(len(buffers))
            buffers.append(self._buffers[key])
        read = {n.buffer for nest in nests_of(steps) for n in nest.nodes if isinstance(n, Load)}
        read |= _decisive(steps)
        own = [key for key in range(len(self._buffers)) if key in read and key not in places]
        local = self._local(own)
        for key in sorted(own, key=local.__contains__):
            places[key] = Place(len(buffers))
            buffers.append(self._buffers[key])
        return Kernel(
            tuple(buffers),
            len(given),
            tuple([places[key] for key in results]),
            tuple([places[key].buffer for key in flags]),
            tuple(_placed(steps, places)),
            tuple(map(float.fromhex, self._numbers)),
            tuple([places[key].buffer for key in faults]),
            len(local),
            tuple([places[key].buffer for key in self._statuses]),
        )

    def _local(self, keys: Iterable[Key]) -> set[Key]:
        """Those that are small, as many as there is room for on the stack."""
        found: set[Key] = set()
        total = 0
        for key in keys:
            buffer = self._buffers[key]
            size = math.prod(buffer.shape, start=dtype_of(buffer.char).itemsize)
            if size <= _LOCAL_BYTES and total + size <= _ALL_LOCAL_BYTES:
                total += size
                found.add(key)
        return found


def _decisive(steps: Iterable[Step]) -> set[Key]:
    """The values that are read to choose between steps."""
    found: set[Key] = set()
    for step in steps:
        if not isinstance(step, Nest):
            found |= _decisive(step.nests)
        if isinstance(step, If):
            found.add(step.buffer)
    return found


def _placed(steps: Iterable[Step], places: dict[Key, Place]) -> list[Step]:
    """With the places of buffers; outputs of those that have none are left out."""

    def moved(each: Any) -> Any:
        buffer, element = places[each.buffer]
        at: Affine = each.at
        return each._replace(buffer=buffer, at=at._replace(offset=at.offset + element))

    placed: list[Step] = []
    for step in steps:
        match step:
            case For():
                status = None if step.status is None else places[step.status].buffer
                placed.append(
                    step._replace(nests=tuple(_placed(step.nests, places)), status=status)
                )
                continue
            case If(key, chosen, otherwise):
                ways = (tuple(_placed(way, places)) for way in (chosen, otherwise))
                placed.append(If(places[key].buffer, *ways))
                continue
            case Break():
                placed.append(step)
                continue
        nodes = [moved(node) if isinstance(node, Load) else node for node in step.nodes]
        outputs = [moved(output) for output in step.outputs if output.buffer in places]
        if outputs:
            placed.append(step._replace(nodes=tuple(nodes), outputs=tuple(outputs)))
    return placed
