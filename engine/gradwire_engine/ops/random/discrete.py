"""Quantiles of distributions of counts, which draws by inversion take."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import Special


class Quantile(Special):
    """The least whole number that a distribution does not exceed with probability ``u``."""

    differentiable = False
    flops_per_element = 500

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Invert as if continuous, round up, and undo that where one less was enough."""
        u, *parameters = operands
        z = xp.ceil(self.inverse(xp, u, *parameters))
        less = xp.maximum(z - 1, 0)
        return xp.where(self.below(xp, less, *parameters) >= u, less, z)

    @abstractmethod
    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """The probability of at most ``z``."""

    @abstractmethod
    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """The continuous ``z`` that is not exceeded with probability ``u``."""


@register("poisson_quantile", public=False)
class PoissonQuantile(Quantile):
    """Quantile of Poisson's distribution, of ``u`` and the mean."""

    workspace = 1.0

    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """Source: DLMF 8.4.10."""
        return xp.special.pdtr(z, *parameters)

    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """Search."""
        return xp.special.pdtrik(u, *parameters)


@register("binomial_quantile", public=False)
class BinomialQuantile(Quantile):
    """Quantile of the binomial distribution, of ``u``, the number of trials and the chance."""

    workspace = 1.5

    def below(self, xp: Any, z: Any, *parameters: Any) -> Any:
        """Whole numbers of trials only."""
        count, chance = parameters
        return xp.special.bdtr(z, count.astype("int64"), chance)

    def inverse(self, xp: Any, u: Any, *parameters: Any) -> Any:
        """Search, unless the outcome is certain."""
        count, chance = parameters
        certain = (count == 0) | (chance == 0) | (chance == 1)
        return xp.where(certain, count * chance, xp.special.bdtrik(u, *parameters))
