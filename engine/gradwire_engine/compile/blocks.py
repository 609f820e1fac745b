"""The blocks of Jacobians and Hessians: dense arrays, or coordinates and values of nonzeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gradwire_engine.answer import Mode
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.autodiff.sparse_matrices import Nonzeros, sparse_hessian, sparse_jacobian
from gradwire_engine.compile.names import Source
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.calculus import summed
from gradwire_engine.tape import ArrayType


class Form(Protocol):
    """How blocks are given; those without a path are None."""

    def row(self, target: Var, sources: Sequence[Source], mode: Mode) -> list[Any]:
        """The Jacobian of ``target`` in each of the sources."""
        ...

    def square(self, of: Sequence[Var], bar: Var, source: Source) -> Any:
        """The Jacobian of ``bar``, the gradient of the sum of ``of``, in its own source."""
        ...

    def zeros(self, target: Var, like: Var) -> Any:
        """The block of what does not depend on a source like ``like``."""
        ...


class Dense:
    """Arrays of the target's shape followed by the source's, all sources in one replay."""

    def row(self, target: Var, sources: Sequence[Source], mode: Mode) -> list[Any]:
        """Rows or columns, whichever are fewer."""
        every = [var for source in sources for var in source.group]
        found = jacobian(target.builder, target, every, mode)
        return summed([source.group for source in sources], found)

    def square(self, of: Sequence[Var], bar: Var, source: Source) -> Any:
        """Like any other block."""
        return self.row(bar, [source], "auto")[0]

    def zeros(self, target: Var, like: Var) -> Any:
        """An array of zeros."""
        return like.builder.full(0, ArrayType(like.dtype, (*target.shape, *like.shape)))


class Coordinates:
    """``indices``, a row for each element that may differ from zero, ``values``, and ``shape``."""

    def row(self, target: Var, sources: Sequence[Source], mode: Mode) -> list[Any]:
        """By colours of rows or of columns."""
        return [
            _coo([sparse_jacobian(target.builder, target, x, mode) for x in s.group], target, s)
            for s in sources
        ]

    def square(self, of: Sequence[Var], bar: Var, source: Source) -> Any:
        """By a star colouring, where it is the Hessian of one target in one variable."""
        if len(of) == len(source.group) == 1:
            return _coo([sparse_hessian(bar.builder, of[0], source.group[0])], bar, source)
        return self.row(bar, [source], "auto")[0]

    def zeros(self, target: Var, like: Var) -> Any:
        """No elements."""
        b, shape = like.builder, (*target.shape, *like.shape)
        return {
            "indices": b.constant(np.zeros((0, len(shape)), np.int64)),
            "values": b.full(0, ArrayType(like.dtype, (0,))),
            "shape": b.constant(np.array(shape, np.int64)),
        }


FORMS: dict[str, Form] = {"dense": Dense(), "coo": Coordinates()}


def _coo(parts: Sequence[Nonzeros | None], target: Var, source: Source) -> Any:
    """Nonzeros by their indices in ``target.shape + source.shape``; of repeated ones, the sum."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    b, like = target.builder, source.group[0]
    indices = [
        np.concatenate([_unraveled(p.rows, target), _unraveled(p.columns, like)], axis=-1)
        for p, _ in found
    ]
    values = [values for _, values in found]
    return {
        "indices": b.constant(np.concatenate(indices)),
        "values": values[0] if len(values) == 1 else Concatenate(0)(*values),
        "shape": b.constant(np.array([*target.shape, *like.shape], np.int64)),
    }


def _unraveled(places: Any, like: Var) -> Any:
    """A row of indices for each place in row-major order."""
    if not like.ndim:
        return np.zeros((len(places), 0), np.int64)
    return np.stack(np.unravel_index(places, like.shape), axis=-1)
