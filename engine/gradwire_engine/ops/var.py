"""The variables of a tape under construction, which derivative rules handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.tape import ArrayType, DType, Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

Scalar = bool | int | float | complex


class Var:
    """A slot of the tape under construction, with the operators that derivative rules need.

    Operators are primitives: both operands must already have one dtype (Python scalars adopt it).
    """

    __slots__ = ("builder", "slot", "type")

    def __init__(self, builder: Builder, slot: int, type: ArrayType) -> None:
        self.builder = builder
        self.slot = slot
        self.type = type

    @property
    def shape(self) -> Shape:
        """Lengths of the axes."""
        return self.type.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.type.shape)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.type.dtype

    def __repr__(self) -> str:
        return f"%{self.slot}: {self.type}"

    def _with(self, name: str, other: Var | Scalar) -> Var:
        b = self.builder
        if type(other) is not Var:
            other = b.scalar(other, self.type.dtype)  # type: ignore[arg-type]
        return b.emit(SINGLETONS[name], self, other)

    def _after(self, name: str, other: Scalar) -> Var:
        b = self.builder
        return b.emit(SINGLETONS[name], b.scalar(other, self.type.dtype), self)

    def __add__(self, other: Var | Scalar) -> Var:
        return self._with("add", other)

    def __radd__(self, other: Scalar) -> Var:
        return self._after("add", other)

    def __sub__(self, other: Var | Scalar) -> Var:
        return self._with("subtract", other)

    def __rsub__(self, other: Scalar) -> Var:
        return self._after("subtract", other)

    def __mul__(self, other: Var | Scalar) -> Var:
        return self._with("multiply", other)

    def __rmul__(self, other: Scalar) -> Var:
        return self._with("multiply", other)

    def __truediv__(self, other: Var | Scalar) -> Var:
        return self._with("divide", other)

    def __rtruediv__(self, other: Scalar) -> Var:
        return self._after("divide", other)

    def __neg__(self) -> Var:
        return self.builder.emit(SINGLETONS["negative"], self)

    def __and__(self, other: Var) -> Var:
        return self._with("logical_and", other)

    def __or__(self, other: Var) -> Var:
        return self._with("logical_or", other)

    def constant(self, number: Scalar) -> Var:
        """A number of the same dtype."""
        return self.builder.scalar(number, self.type.dtype)

    def equals(self, other: Var | Scalar) -> Var:
        """Elementwise ``self == other``."""
        return self._with("equal", other)

    def exceeds(self, other: Var | Scalar) -> Var:
        """Elementwise ``self > other``."""
        return self._with("greater", other)
