"""Real and imaginary parts, conjugate, and complex numbers from their parts.

The gradient of a real ``L`` is ``dL/dRe x + i dL/dIm x``: cotangents pair by ``Re(a* b)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Binary, Unary, conj
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.tape import ArrayType, DType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def complex_of(dtype: DType) -> DType:
    """The complex dtype whose parts hold ``dtype``."""
    return DTYPES["complex64" if dtype.itemsize <= 4 else "complex128"]


@register("conjugate", "conj")
class Conjugate(Unary):
    """Complex conjugate: ``z = x*``."""

    rounds = False
    ufunc = "conjugate"
    kinds = "iufc"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar*``."""
        return (conj(z_bar),)


class Part(Unary):
    """One of the two real numbers in a complex one."""

    rounds = False
    linear = True
    views = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """The part's dtype."""
        (x,) = types
        return x._replace(dtype=real_of(x.dtype))


@register("real")
class Real(Part):
    """Real part: ``z = Re x``."""

    ufunc = "real"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, complex if ``x`` is."""
        (x,) = operands
        return (z_bar.builder.cast(z_bar, x.dtype),)


@register("imag")
class Imag(Part):
    """Imaginary part: ``z = Im x``; 0 for real ``x``."""

    ufunc = "imag"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = i z_bar``; nothing flows to a real ``x``."""
        if operands[0].dtype.kind != "c":
            return (None,)
        return (Complex()(z_bar.constant(0), z_bar),)


@register("complex")
class Complex(Binary):
    """Complex number from its parts: ``z = x + i y``."""

    kinds = "f"
    linear = True

    @classmethod
    def record(cls, b: Builder, real: Any, imag: Any = 0.0) -> Any:
        """Record on two arrays, promoted and made floating; there is no complex32."""
        parts = [b.inexact(part) for part in b.promote(real, imag)]
        if parts[0].dtype.itemsize == 2:
            parts = [b.cast(part, DTYPES["float32"]) for part in parts]
        return cls()(*parts)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Broadcast the parts; the complex dtype that holds them."""
        kind = super().infer(*types)
        if kind.dtype.itemsize == 2:
            raise DtypeMismatch(
                f"complex does not take {kind.dtype.name}", hint="convert with astype"
            )
        return kind._replace(dtype=complex_of(kind.dtype))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Fill the two parts, so that infinities in one do not become NaN in the other."""
        real, imag = xp.broadcast_arrays(*operands)
        z = xp.empty(real.shape, complex_of(real.dtype))
        z.real, z.imag = real, imag
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = Re z_bar``, ``y_bar = Im z_bar``."""
        return Real()(z_bar), Imag()(z_bar)


def real_product(x: Var, y: Var) -> Var:
    """``Re(x* y)``, how cotangents pair with tangents."""
    return Real()(conj(x) * y) if x.dtype.kind == "c" else x * y


def by_parts(rule: Callable[..., Var], *operands: Var) -> Var:
    """``rule`` on the operands if real, else on their real and on their imaginary parts."""
    if operands[0].dtype.kind != "c":
        return rule(*operands)
    real, imag = (rule(*[part(x) for x in operands]) for part in (Real(), Imag()))
    return Complex()(real, imag)
