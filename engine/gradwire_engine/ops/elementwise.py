"""Families of elementwise operations: broadcasting type rule, promotion, cost."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.base import SINGLETONS, Op
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.promotion import DTYPES, inexact_promoted, special_promoted
from gradwire_engine.tape import ArrayType, Shape, Type, kind_of

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

BOOL = DTYPES["bool"]


@lru_cache(maxsize=4096)
def broadcast_shapes(*shapes: Shape) -> Shape:
    """NumPy's broadcast shape; raises ``ShapeMismatch`` naming the shapes."""
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for axis, length in enumerate(shape, ndim - len(shape)):
            if length != 1 and length != result[axis]:
                if result[axis] != 1:
                    listed = " and ".join(str(s) for s in shapes)
                    raise ShapeMismatch(
                        f"shapes {listed} do not broadcast together",
                        hint="axes are aligned from the last; lengths must be equal or 1",
                    )
                result[axis] = length
    return tuple(result)


class Elementwise(Op):
    """Element i of the result depends on element i of the broadcast operands."""

    elementwise = True
    #: Arithmetic operations per element of the result.
    flops_per_element: ClassVar[int] = 1
    #: Kinds of dtype that are taken (NumPy's letters).
    kinds: ClassVar[str] = "biufc"
    #: A hint for dtypes that are not taken.
    advice: ClassVar[str | None] = None
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """Broadcast the shapes; dtypes are equal already."""
        first = types[0]
        shape, weak = first.shape, first.weak
        for kind in types:
            if kind is first:
                continue
            if kind.dtype != first.dtype:
                raise DtypeMismatch(f"{self.name} needs equal dtypes, got {first} and {kind}")
            weak = weak and kind.weak
            if kind.shape != shape:
                shape = broadcast_shapes(shape, kind.shape)
        if kind_of(first.dtype) not in self.kinds:
            raise DtypeMismatch(f"{self.name} does not take {first.dtype.name}", hint=self.advice)
        if shape == first.shape and weak == first.weak:
            return first
        return ArrayType(first.dtype, shape, weak)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Elements times the cost of each."""
        assert isinstance(result, ArrayType)
        return result.size * self.flops_per_element if result.shape else self.flops_per_element


class Unary(Elementwise):
    """``z = f(x)`` that keeps the dtype."""

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array."""
        return b.emit(cls._only or cls(), b.array(x))


class InexactUnary(Unary):
    """``z = f(x)`` for real or complex ``x``; integers become floats as in NumPy."""

    kinds = "fc"
    flops_per_element = 8

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array, made floating."""
        return b.emit(cls._only or cls(), b.inexact(x))


class RealUnary(InexactUnary):
    """``z = f(x)`` for real ``x``."""

    kinds = "f"


class Binary(Elementwise):
    """``z = f(x, y)`` over broadcast operands of their promoted dtype."""

    @classmethod
    def record(cls, b: Builder, x: Any, y: Any) -> Any:
        """Record on two arrays, promoted."""
        return b.emit(cls._only or cls(), *b.promote(x, y))


class InexactBinary(Binary):
    """``z = f(x, y)`` computed in a floating or complex dtype."""

    kinds = "fc"

    @classmethod
    def record(cls, b: Builder, x: Any, y: Any) -> Any:
        """Record on two arrays, promoted and made floating."""
        return b.emit(cls._only or cls(), *b.promote(x, y, rule=inexact_promoted))


class RealBinary(InexactBinary):
    """``z = f(x, y)`` for real operands."""

    kinds = "f"


class Special(Elementwise):
    """A function of SciPy's, which computes in single precision at least."""

    kinds = "f"
    flops_per_element = 20

    def infer(self, *types: ArrayType) -> ArrayType:
        """Broadcast the shapes; not in half precision."""
        if types[0].dtype.itemsize == 2:
            raise DtypeMismatch(f"{self.name} does not take {types[0].dtype.name}")
        return super().infer(*types)


class SpecialUnary(Special):
    """``z = f(x)``."""

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array, made floating."""
        return cls()(*b.promote(x, rule=special_promoted))


class SpecialBinary(Special):
    """``z = f(x, y)``."""

    @classmethod
    def record(cls, b: Builder, x: Any, y: Any) -> Any:
        """Record on two arrays, promoted and made floating."""
        return cls()(*b.promote(x, y, rule=special_promoted))


class Predicate(Elementwise):
    """An elementwise question; its answers are booleans, which carry no derivative."""

    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """Broadcast the shapes; the dtype is bool."""
        return ArrayType(BOOL, super().infer(*types).shape)


def conj(x: Var) -> Var:
    """Complex conjugate; nothing for real ``x``."""
    return SINGLETONS["conjugate"](x) if x.type.dtype.kind == "c" else x
