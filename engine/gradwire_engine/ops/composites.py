"""Tensors that come in parts: sparse ones by their elements, ragged ones by their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from typing import Self

    from gradwire_engine.ops.builder import Builder


class Composite(dict[str, Any]):
    """A tensor's parts by name: leaves of a request, or variables on a tape.

    Derivatives are in ``values``, of any number of further axes; the others say where these are.
    """

    #: Lengths of the axes, where they are known without the parts.
    shape: Shape = ()

    def of(self, **parts: Any) -> Self:
        """The same with these parts in the place of its own."""
        return type(self)({**self, **parts})

    def fields(self, b: Builder) -> dict[str, Any]:
        """The form in which an answer gives it."""
        return dict(self)


class Sparse(Composite):
    """``values[i]`` at ``indices[i]``, a row; zero elsewhere, and those of one place add up.

    Where the rows are shorter than ``shape``, the values are slices along the axes that remain.
    """

    def __init__(self, parts: Mapping[str, Any], shape: Shape) -> None:
        super().__init__(parts)
        self.shape = shape

    def __str__(self) -> str:
        return f"a sparse tensor of shape {self.shape}"

    def of(self, **parts: Any) -> Self:
        """The same with these parts in the place of its own."""
        return type(self)({**self, **parts}, self.shape)

    def fields(self, b: Builder) -> dict[str, Any]:
        """Its parts and its shape."""
        return {**self, "shape": b.constant(np.array(self.shape, np.int64))}


class Ragged(Composite):
    """Rows of any lengths: row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""

    def __str__(self) -> str:
        return "a ragged tensor"
