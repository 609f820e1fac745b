"""Trigonometric and hyperbolic functions of square matrices, by their exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.linalg.matrix_functions import Expm
from gradwire_engine.ops.linalg.solving import OfSquare, Solve
from gradwire_engine.ops.pointwise.complex import Imag, Real, complex_of

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _halves(b: Builder, A: Any, turn: complex) -> tuple[Var, Var]:
    """``(exp(t a) + exp(-t a)) / 2`` and ``(exp(t a) - exp(-t a)) / 2t``, for ``t`` 1 or i."""
    a = floating(b, A)
    OfSquare.infer(Expm(), a.type)
    if turn == 1:
        up, down = Expm()(a), Expm()(-a)
        return (up + down) * 0.5, (up - down) * 0.5
    up = Expm()(b.cast(a, complex_of(a.dtype)) * turn)
    if a.dtype.kind == "f":
        return Real()(up), Imag()(up)
    down = Expm()(a * -turn)
    return (up + down) * 0.5, (up - down) * (0.5 / turn)


@macro("cosm", "linalg.cosm")
def cosm(b: Builder, A: Any) -> Any:
    """Cosine of each square matrix: ``z = (exp ia + exp -ia) / 2``.

    Source: Higham, Functions of Matrices (2008), eq. 12.2.
    """
    return _halves(b, A, 1j)[0]


@macro("sinm", "linalg.sinm")
def sinm(b: Builder, A: Any) -> Any:
    """Sine of each square matrix: ``z = (exp ia - exp -ia) / 2i``.

    Source: Higham, Functions of Matrices (2008), eq. 12.2.
    """
    return _halves(b, A, 1j)[1]


@macro("tanm", "linalg.tanm")
def tanm(b: Builder, A: Any) -> Any:
    """Tangent of each square matrix: ``z = (cos a)^-1 sin a``."""
    return Solve()(*_halves(b, A, 1j))


@macro("coshm", "linalg.coshm")
def coshm(b: Builder, A: Any) -> Any:
    """Hyperbolic cosine of each square matrix: ``z = (exp a + exp -a) / 2``."""
    return _halves(b, A, 1)[0]


@macro("sinhm", "linalg.sinhm")
def sinhm(b: Builder, A: Any) -> Any:
    """Hyperbolic sine of each square matrix: ``z = (exp a - exp -a) / 2``."""
    return _halves(b, A, 1)[1]


@macro("tanhm", "linalg.tanhm")
def tanhm(b: Builder, A: Any) -> Any:
    """Hyperbolic tangent of each square matrix: ``z = (cosh a)^-1 sinh a``."""
    return Solve()(*_halves(b, A, 1))
