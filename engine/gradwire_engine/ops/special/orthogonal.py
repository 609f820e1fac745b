"""Classical orthogonal polynomials of static degree and parameters.

The derivative of each is one of degree one less, of the same family or of another.
Source: DLMF 18.3, 18.9.15 to 18.9.26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.elementwise import Special, conj
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Highest degree: recurrences cannot be interrupted.
_MOST = 1_000_000


@register("orthogonal_polynomial", public=False)
class OrthogonalPolynomial(Special):
    """``z = pₙ(x)`` of a family that SciPy knows, whose parameters are ``parameters``."""

    kind: str
    n: int
    numbers: tuple[float, ...] = ()
    kinds = "fc"

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type; Hermite's are real."""
        (x,) = types
        if x.dtype.kind == "c" and self.kind.startswith("hermite"):
            raise DtypeMismatch(f"eval_{self.kind} does not take {x.dtype.name}")
        return super().infer(x)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, in the operand's dtype; it has no whole degrees of complex arguments."""
        (x,) = operands
        degree = float(self.n) if x.dtype.kind == "c" else self.n
        routine = getattr(xp.special, f"eval_{self.kind}")
        return xp.asarray(routine(degree, *self.numbers, x), dtype=x.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar pₙ'(x)*``, 0 for a constant."""
        if not self.n:
            return (z_bar * 0,)
        scale, family, parameters = _slope(self.kind, self.n, *self.numbers)
        slope = OrthogonalPolynomial(family, self.n - 1, parameters)(*operands)
        return (z_bar * conj(slope * scale),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some operations for each degree of the recurrence."""
        return types[0].size * 6 * (self.n + 1)


def _slope(family: str, n: int, *p: float) -> tuple[float, str, tuple[float, ...]]:
    """The derivative of ``pₙ``: a factor, and the family and parameters of the polynomial."""
    match family:
        case "jacobi":
            return (n + p[0] + p[1] + 1) / 2, "jacobi", (p[0] + 1, p[1] + 1)
        case "legendre":
            return (n + 1) / 2, "jacobi", (1.0, 1.0)
        case "chebyt":
            return n, "chebyu", ()
        case "chebyu":
            return 2, "gegenbauer", (2.0,)
        case "gegenbauer":
            return 2 * p[0], "gegenbauer", (p[0] + 1,)
        case "laguerre":
            return -1, "genlaguerre", (1.0,)
        case "genlaguerre":
            return -1, "genlaguerre", (p[0] + 1,)
        case "hermite":
            return 2 * n, "hermite", ()
    return n, "hermitenorm", ()


def _recorded(b: Builder, family: str, n: Any, x: Any, **parameters: Any) -> Var:
    degree = integer(n, "n")
    if not 0 <= degree <= _MOST:
        raise BadArgument(f"eval_{family} needs a degree from 0 to {_MOST}, got {degree}")
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadArgument(f"{name} must be a number, got {describe(value)}")
    numbers = tuple([float(value) for value in parameters.values()])
    (x,) = b.promote(x, rule=special_promoted)
    return OrthogonalPolynomial(family, degree, numbers)(x)


@macro("eval_legendre")
def eval_legendre(b: Builder, n: Static, x: Any) -> Any:
    """Legendre's polynomial ``Pₙ(x)``, orthogonal on [-1, 1]."""
    return _recorded(b, "legendre", n, x)


@macro("eval_chebyt")
def eval_chebyt(b: Builder, n: Static, x: Any) -> Any:
    """Chebyshev's polynomial of the first kind: ``Tₙ(cos θ) = cos nθ``."""
    return _recorded(b, "chebyt", n, x)


@macro("eval_chebyu")
def eval_chebyu(b: Builder, n: Static, x: Any) -> Any:
    """Chebyshev's polynomial of the second kind: ``Uₙ(cos θ) = sin (n + 1)θ / sin θ``."""
    return _recorded(b, "chebyu", n, x)


@macro("eval_jacobi")
def eval_jacobi(b: Builder, n: Static, alpha: Static, beta: Static, x: Any) -> Any:
    """Jacobi's polynomial ``Pₙ`` of the weight ``(1 - x)^alpha (1 + x)^beta``, both static."""
    return _recorded(b, "jacobi", n, x, alpha=alpha, beta=beta)


@macro("eval_gegenbauer")
def eval_gegenbauer(b: Builder, n: Static, alpha: Static, x: Any) -> Any:
    """Gegenbauer's polynomial ``Cₙ`` of the weight ``(1 - x²)^(alpha - 1/2)``, ``alpha`` static."""
    return _recorded(b, "gegenbauer", n, x, alpha=alpha)


@macro("eval_laguerre")
def eval_laguerre(b: Builder, n: Static, x: Any) -> Any:
    """Laguerre's polynomial ``Lₙ(x)``, of the weight ``exp(-x)``."""
    return _recorded(b, "laguerre", n, x)


@macro("eval_genlaguerre")
def eval_genlaguerre(b: Builder, n: Static, alpha: Static, x: Any) -> Any:
    """Laguerre's polynomial ``Lₙ`` of the weight ``x^alpha exp(-x)``, ``alpha`` static."""
    return _recorded(b, "genlaguerre", n, x, alpha=alpha)


@macro("eval_hermite")
def eval_hermite(b: Builder, n: Static, x: Any) -> Any:
    """Hermite's polynomial ``Hₙ(x)``, of the weight ``exp(-x²)``; real ``x``."""
    return _recorded(b, "hermite", n, x)


@macro("eval_hermitenorm")
def eval_hermitenorm(b: Builder, n: Static, x: Any) -> Any:
    """Hermite's polynomial ``Heₙ(x)``, of the weight ``exp(-x² / 2)``; real ``x``."""
    return _recorded(b, "hermitenorm", n, x)
