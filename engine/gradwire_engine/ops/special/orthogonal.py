"""Classical orthogonal polynomials of static degree and parameters.

The derivative of each is one of degree one less, of the same family or of another.
Source: DLMF 18.3, 18.9.15 to 18.9.26.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
        if not self.n and x.dtype.kind == "f":
            return xp.where(xp.isnan(x), x, 1)[()].astype(x.dtype)
        z = xp.asarray(routine(degree, *self.numbers, x), dtype=x.dtype)
        if x.dtype.kind == "c":
            return z
        # Far out the recurrences of polynomials that overflow have differences of infinities.
        lost = xp.isnan(z) & ~xp.isnan(x)
        if not lost.any():
            return z
        turned = xp.where((x < 0) & (self.n % 2 == 1), -math.inf, math.inf)
        return xp.where(lost & (abs(x) > 1), self._leading(xp) * turned, z)[()].astype(x.dtype)

    def _leading(self, xp: Any) -> float:
        """The sign of the leading coefficient.  Source: DLMF 18.3, 18.5.7."""
        sign, n, p = xp.special.gammasgn, self.n, self.numbers
        match self.kind:
            case "jacobi":
                return float(sign(2 * n + sum(p) + 1) * sign(n + sum(p) + 1))
            case "gegenbauer":
                return float(sign(n + p[0]) * sign(p[0]))
            case "laguerre" | "genlaguerre":
                return (-1.0) ** n
        return 1.0

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = pₙ'(x)``, 0 for a constant."""
        if not self.n:
            return z * 0
        scale, family, parameters = _slope(self.kind, self.n, *self.numbers)
        return OrthogonalPolynomial(family, self.n - 1, parameters)(x) * scale

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some operations for each degree of the recurrence."""
        return types[0].size * 6 * (self.n + 1)


def _slope(family: str, n: int, *p: float) -> tuple[float, str, tuple[float, ...]]:
    """The derivative of ``pₙ``: a factor, and the family and parameters of the polynomial."""
    match family:
        case "jacobi":
            return (n + p[0] + p[1] + 1) / 2, "jacobi", (p[0] + 1, p[1] + 1)
        case "legendre":
            return 1, "gegenbauer", (1.5,)
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
