"""Frequencies of Fourier transforms, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.rearranging import Roll
from gradwire_engine.ops.axes import axes_of, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import DTYPES

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _shifted(x: Var, axes: Sequence[int], *, back: bool) -> Var:
    shifts = [x.type.shape[axis] // 2 for axis in axes]
    return Roll(tuple([-s if back else s for s in shifts]), tuple(axes))(x) if axes else x


@macro("fft.fftshift")
def fftshift(b: Builder, x: Any, axes: Static = None) -> Any:
    """Elements moved on by half along ``axes``, so that frequency 0 is in the middle."""
    var = b.array(x)
    return _shifted(var, axes_of(axes, var.ndim, "fftshift"), back=False)


@macro("fft.ifftshift")
def ifftshift(b: Builder, x: Any, axes: Static = None) -> Any:
    """The inverse of ``fft.fftshift``."""
    var = b.array(x)
    return _shifted(var, axes_of(axes, var.ndim, "ifftshift"), back=True)


def _counted(b: Builder, n: Any, stop: int) -> Var:
    if integer(n, "n") < 1:
        raise BadArgument(f"n must be at least 1, got {n}")
    return b.cast(arange(b, stop), DTYPES["float64"])


@macro("fft.fftfreq")
def fftfreq(b: Builder, n: Static, d: Any = 1.0) -> Any:
    """Frequencies of ``fft.fft`` of ``n`` samples ``d`` apart: ``k / (n d)``, the negative last."""
    k = _counted(b, n, n)
    k, spacing = b.promote(Where()(k.exceeds((n - 1) // 2), k - n, k), d)
    return k / (spacing * n)


@macro("fft.rfftfreq")
def rfftfreq(b: Builder, n: Static, d: Any = 1.0) -> Any:
    """Frequencies of ``fft.rfft`` of ``n`` samples ``d`` apart: ``k / (n d)`` to ``n // 2``."""
    k, spacing = b.promote(_counted(b, n, integer(n, "n") // 2 + 1), d)
    return k / (spacing * n)
