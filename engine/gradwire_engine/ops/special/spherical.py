"""Functions of static order: spherical Bessel functions, beside the first kind's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.axes import whole_order
from gradwire_engine.ops.base import Static, register
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class OfWholeOrder(Special):
    """A function of SciPy's, of static order."""

    n: int

    @classmethod
    def record(cls, b: Builder, n: Static, x: Any) -> Any:
        """Record with a static order."""
        return cls(whole_order(n, cls.name))(*b.promote(x, rule=special_promoted))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, in the operand's dtype."""
        (x,) = operands
        return xp.asarray(getattr(xp.special, self.name)(self.n, x), dtype=x.dtype)


class Spherical(OfWholeOrder):
    """``fₙ(x)``, where ``fₙ' = ± (n fₙ₋₁ ∓ (n + 1) fₙ₊₁) / (2n + 1)``."""

    #: Signs of the neighbours in the slope.
    signs: ClassVar[tuple[int, int]]
    kinds = "fc"
    flops_per_element = 40

    @classmethod
    def record(cls, b: Builder, n: Static, z: Any) -> Any:
        """Record with a static order."""
        return super().record(b, n, z)

    def slope(self, z: Var, x: Var) -> Var:
        """``x_bar`` by the neighbouring orders."""
        below, above = self.signs
        slope = type(self)(self.n + 1)(x) * (above * (self.n + 1) / (2 * self.n + 1))
        if self.n:
            slope = slope + type(self)(self.n - 1)(x) * (below * self.n / (2 * self.n + 1))
        return slope


@register("spherical_yn")
class SphericalYn(Spherical):
    """Spherical Bessel function of the second kind: ``z = yₙ(x)``; -inf at 0, slope NaN there.

    Source: DLMF 10.47.4, 10.51.2.
    """

    workspace = 2.2
    n: int
    signs = 1, -1


@register("spherical_in")
class SphericalIn(Spherical):
    """Modified spherical Bessel function of the first kind: ``z = iₙ(x)``.

    Source: DLMF 10.47.7, 10.51.5.
    """

    workspace = 1.8
    n: int
    signs = 1, 1


@register("spherical_kn")
class SphericalKn(Spherical):
    """Modified spherical Bessel function of the second kind: ``z = kₙ(x)``; infinite at 0.

    Source: DLMF 10.47.9, 10.51.5.
    """

    workspace = 2.2
    n: int
    signs = -1, -1
