"""Whether arrays agree: element by element, in all, exactly or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
    IsFinite,
    IsInf,
    IsNan,
    LessEqual,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
)
from gradwire_engine.ops.pointwise.parts import SignBit
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.reductions.reductions import AllOf

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("isclose", differentiable=False)
def isclose(
    builder: Builder, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
) -> Any:
    """Whether ``|a - b| <= atol + rtol |b|``; infinities are close to themselves alone."""
    x, y = (floating(builder, v) for v in builder.promote(a, b))
    real = real_of(x.dtype)
    relative, absolute = (builder.cast(builder.array(v), real) for v in (rtol, atol))
    near = LessEqual()(Absolute()(x - y), absolute + relative * Absolute()(y))
    found = LogicalOr()(Equal()(x, y), LogicalAnd()(near, IsFinite()(y)))
    if not flag(equal_nan, "equal_nan"):
        return found
    return LogicalOr()(found, LogicalAnd()(IsNan()(x), IsNan()(y)))


@macro("allclose", differentiable=False)
def allclose(
    builder: Builder, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
) -> Any:
    """Whether all elements are close, as ``isclose`` says."""
    return AllOf.along(isclose(builder, a, b, rtol, atol, equal_nan), None, False)


@macro("array_equal", differentiable=False)
def array_equal(b: Builder, a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    """Whether two arrays have one shape and equal elements."""
    x, y = b.promote(a1, a2)
    if x.shape != y.shape:
        return b.constant(False)
    found = Equal()(x, y)
    if flag(equal_nan, "equal_nan"):
        found = LogicalOr()(found, LogicalAnd()(IsNan()(x), IsNan()(y)))
    return AllOf.along(found, None, False)


def _infinite(b: Builder, x: Any) -> tuple[Var, Var]:
    value = b.array(x)
    return IsInf()(value), SignBit()(value)


@macro("isposinf", differentiable=False)
def isposinf(b: Builder, x: Any) -> Any:
    """Whether ``x`` is positive infinity."""
    infinite, negative = _infinite(b, x)
    return LogicalAnd()(infinite, LogicalNot()(negative))


@macro("isneginf", differentiable=False)
def isneginf(b: Builder, x: Any) -> Any:
    """Whether ``x`` is negative infinity."""
    return LogicalAnd()(*_infinite(b, x))
