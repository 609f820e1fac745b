"""The blocks of Jacobians and Hessians: dense arrays, or coordinates and values of nonzeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gradwire_engine.answer import Mode
from gradwire_engine.autodiff.known import Known
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.autodiff.sparse_matrices import (
    Nonzeros,
    coordinates,
    sparse_hessian,
    sparse_jacobian,
)
from gradwire_engine.compile.names import Source
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.calculus import summed
from gradwire_engine.tape import ArrayType


class Form(Protocol):
    """The form in which blocks are given; those without a path are None."""

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

    def __init__(self, known: Known) -> None:
        self._known = known

    def row(self, target: Var, sources: Sequence[Source], mode: Mode) -> list[Any]:
        """By colours of rows or of columns."""
        b, known = target.builder, self._known
        found = [[sparse_jacobian(b, target, x, mode, known) for x in s.group] for s in sources]
        return [_present(parts, target, s) for parts, s in zip(found, sources, strict=True)]

    def square(self, of: Sequence[Var], bar: Var, source: Source) -> Any:
        """By a star colouring, where it is the Hessian of one target in one variable."""
        if len(of) == len(source.group) == 1:
            hessian = sparse_hessian(bar.builder, of[0], source.group[0], self._known)
            return _present([hessian], bar, source)
        return self.row(bar, [source], "auto")[0]

    def zeros(self, target: Var, like: Var) -> Any:
        """No elements."""
        return coordinates([], target, like).fields(target.builder)


def _present(parts: Sequence[Nonzeros | None], target: Var, source: Source) -> Any:
    found = [part for part in parts if part is not None]
    if not found:
        return None
    return coordinates(found, target, source.group[0]).fields(target.builder)
