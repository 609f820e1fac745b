"""Sums of waves, not normalised: what Fourier transforms are made of.

Gradients are the adjoint sums: ``dL/dRe + i dL/dIm``, so that of ``F`` is ``F^H``. None is
``linear`` in the sense of ``Op``: waves cancel, so a transform of ones does not show what is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.pointwise.complex import complex_of
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.tape import FLOATING, ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class Transform(Op):
    """A sum of waves along axes, not normalised."""

    batch = along_axes

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some ``5 n log2 n``. Source: Van Loan, Computational Frameworks for the FFT, 1.4."""
        (x,) = types
        return 5 * x.size * max(1, x.size.bit_length())


@register("fourier", public=False)
class Fourier(Transform):
    """``z_k = sum_t x_t exp(-2πi kt / n)`` over ``axes``; ``exp(+…)`` if ``inverse``."""

    workspace = 1.0
    axes: tuple[int, ...]
    inverse: bool

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type; complex."""
        (x,) = types
        if x.dtype.kind != "c":
            raise DtypeMismatch(f"a Fourier transform needs complex numbers, got {x}")
        return x

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The library's transform, on the side that is not normalised."""
        (x,) = operands
        if self.inverse:
            return xp.fft.ifftn(x, axes=self.axes, norm="forward")
        return xp.fft.fftn(x, axes=self.axes)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` transformed the other way."""
        return (Fourier(self.axes, not self.inverse)(z_bar),)


@register("real_fourier", public=False)
class RealFourier(Transform):
    """``z_k = sum_t x_t exp(-2πi kt / n)`` of real ``x`` along ``axis``, ``k`` to ``n // 2``."""

    axis: int

    def infer(self, *types: ArrayType) -> ArrayType:
        """Half the length and one; complex."""
        (x,) = types
        if x.dtype.kind not in FLOATING or x.dtype.itemsize == 2:
            raise DtypeMismatch(f"rfft needs real numbers of single precision at least, got {x}")
        n = x.shape[self.axis] // 2 + 1
        shape = (*x.shape[: self.axis], n, *x.shape[self.axis + 1 :])
        return ArrayType(complex_of(x.dtype), shape, x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The library's transform."""
        return xp.fft.rfft(operands[0], axis=self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_t = Re sum_k z_bar_k exp(2πi kt / n)``."""
        n = operands[0].shape[self.axis]
        shares = _multiplicity(z_bar, self.axis, n)
        return (InverseRealFourier(self.axis, n)(z_bar / shares),)


@register("inverse_real_fourier", public=False)
class InverseRealFourier(Transform):
    """``z_t = Re sum_k w_k x_k exp(2πi kt / n)``: ``w_k`` is 1 at 0 and at ``n / 2``, else 2."""

    axis: int
    length: int

    def infer(self, *types: ArrayType) -> ArrayType:
        """The length given; real."""
        (x,) = types
        if x.dtype.kind != "c":
            raise DtypeMismatch(f"irfft needs complex numbers, got {x}")
        shape = (*x.shape[: self.axis], self.length, *x.shape[self.axis + 1 :])
        return ArrayType(real_of(x.dtype), shape, x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The library's transform, on the side that is not normalised."""
        return xp.fft.irfft(operands[0], self.length, axis=self.axis, norm="forward")

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_k = w_k sum_t z_bar_t exp(-2πi kt / n)``."""
        bar = RealFourier(self.axis)(z_bar)
        return (bar * _multiplicity(bar, self.axis, self.length),)


def _multiplicity(x: Var, axis: int, n: int) -> Var:
    """The number of times that each frequency ``0 … n // 2`` is among all ``n``, along ``axis``."""
    shape = tuple([n // 2 + 1 if i == axis else 1 for i in range(x.ndim)])
    return x.builder.table(shape, lambda *k: 1 + (k[axis] * 2 % max(n, 1) != 0), x.dtype)
