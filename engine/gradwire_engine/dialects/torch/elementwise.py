"""PyTorch's elementwise functions that mean something else than the unprefixed ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def scaled(b: Builder, x: Any, by: Any) -> Any:
    """``by x``, nothing recorded for 1."""
    return x if isinstance(by, int | float) and by == 1 else recorded("multiply")(b, by, x)


def held(value: float, dtype: Any) -> Any:
    """``value``, or for an infinite one that integers are to hold the outermost of these."""
    if dtype.kind not in "iu" or math.isfinite(value):
        return value
    bounds = np.iinfo(dtype)
    return int(bounds.max if value > 0 else bounds.min)


@TORCH.macro("add")
def add(b: Builder, input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``z = input + alpha other``."""
    return recorded("add")(b, input, scaled(b, other, alpha))


@TORCH.macro("sub subtract")
def sub(b: Builder, input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``z = input - alpha other``."""
    return recorded("subtract")(b, input, scaled(b, other, alpha))


@TORCH.macro("rsub")
def rsub(b: Builder, input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``z = other - alpha input``."""
    return sub(b, other, input, alpha=alpha)


@TORCH.macro("div divide true_divide")
def div(b: Builder, input: Any, other: Any, *, rounding_mode: Static = None) -> Any:
    """``z = input / other``; rounded ``trunc`` towards 0, ``floor`` downwards."""
    if rounding_mode is None:
        return recorded("divide")(b, input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise BadArgument("rounding_mode must be None, 'trunc' or 'floor'")
    if rounding_mode == "floor":
        return recorded("floor_divide")(b, input, other)
    x, y = b.promote(input, other)
    if x.dtype.kind not in "iu":
        return recorded("trunc")(b, recorded("divide")(b, x, y))
    # What a truncated quotient leaves has the sign of the dividend.
    whole = recorded("subtract")(b, x, recorded("fmod")(b, x, y))
    return recorded("floor_divide")(b, whole, y)


@TORCH.macro("addcmul")
def addcmul(b: Builder, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``z = input + value tensor1 tensor2``."""
    product = scaled(b, recorded("multiply")(b, tensor1, tensor2), value)
    return recorded("add")(b, input, product)


@TORCH.macro("addcdiv")
def addcdiv(b: Builder, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``z = input + value tensor1 / tensor2``."""
    quotient = scaled(b, recorded("divide")(b, tensor1, tensor2), value)
    return recorded("add")(b, input, quotient)


@TORCH.macro("frac")
def frac(b: Builder, input: Any) -> Any:
    """What follows the point: ``z = x - trunc x``."""
    return recorded("subtract")(b, input, recorded("trunc")(b, input))


@TORCH.macro("ldexp")
def ldexp(b: Builder, input: Any, other: Any) -> Any:
    """``z = input 2^other``."""
    return recorded("multiply")(b, input, recorded("exp2")(b, other))


@TORCH.macro("clamp_min")
def clamp_min(b: Builder, input: Any, min: Any) -> Any:
    """The elements, at least ``min``.  Convention: derivative 1 at the bound."""
    return recorded("clip")(b, input, min, None)


@TORCH.macro("clamp_max")
def clamp_max(b: Builder, input: Any, max: Any) -> Any:
    """The elements, at most ``max``.  Convention: derivative 1 at the bound."""
    return recorded("clip")(b, input, None, max)


@TORCH.macro("logit special.logit")
def logit(b: Builder, input: Any, eps: Any = None) -> Any:
    """``z = ln(x / (1 - x))``, of ``x`` moved into ``[eps, 1 - eps]`` if that is given."""
    x = b.inexact(input)
    if eps is not None:
        low, one = b.promote(eps, b.scalar(1, x.dtype))
        x = recorded("clip")(b, x, low, one - low)
    return recorded("logit")(b, x)


@TORCH.macro("isreal")
def isreal(b: Builder, input: Any) -> Any:
    """Whether each element has no imaginary part."""
    return recorded("equal")(b, recorded("imag")(b, input), 0)


@TORCH.macro("is_complex")
def is_complex(b: Builder, input: Any) -> Any:
    """Whether the dtype is complex, known while recording."""
    return b.array(input).dtype.kind == "c"


@TORCH.macro("is_floating_point")
def is_floating_point(b: Builder, input: Any) -> Any:
    """Whether the dtype is real floating, known while recording."""
    return b.array(input).dtype.kind == "f"


@TORCH.macro("polar")
def polar(b: Builder, abs: Any, angle: Any) -> Any:
    """``z = abs (cos angle + i sin angle)``."""
    size, turn = b.promote(abs, angle, rule=inexact_promoted)
    parts = [size * recorded(name)(b, turn) for name in ("cos", "sin")]
    return recorded("complex")(b, *parts)


@TORCH.macro("view_as_real")
def view_as_real(b: Builder, input: Any) -> Any:
    """Real and imaginary parts side by side along a new last axis."""
    return recorded("stack")(b, [recorded(part)(b, input) for part in ("real", "imag")], -1)


@TORCH.macro("view_as_complex")
def view_as_complex(b: Builder, input: Any) -> Any:
    """Complex numbers from the two parts along the last axis."""
    x = b.array(input)
    if x.type.shape[-1:] != (2,):
        raise ShapeMismatch(f"view_as_complex needs a last axis of length 2, got {x.type}")
    return recorded("complex")(b, *recorded("unstack")(b, x, -1))


@TORCH.macro("special.spherical_bessel_j0")
def spherical_bessel_j0(b: Builder, input: Any) -> Any:
    """Spherical Bessel function of order 0: ``z = sin x / x``.  Source: DLMF 10.49.3."""
    return recorded("spherical_jn")(b, 0, input)


@TORCH.macro("special.scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(b: Builder, x: Any) -> Any:
    """``z = exp(x) K_0(x)``.  Source: DLMF 10.25."""
    return recorded("kve")(b, 0.0, x)


@TORCH.macro("special.scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(b: Builder, x: Any) -> Any:
    """``z = exp(x) K_1(x)``.  Source: DLMF 10.25."""
    return recorded("kve")(b, 1.0, x)


@TORCH.macro("special.airy_ai")
def airy_ai(b: Builder, x: Any) -> Any:
    """Airy function of the first kind.  Source: DLMF 9.2."""
    return recorded("airy")(b, x)[0]
