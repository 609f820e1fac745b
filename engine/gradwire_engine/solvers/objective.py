"""What is optimised, as solvers see it: functions of one flat vector of float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from gradwire_engine.answer import Array, Direction, Nonfinite, Notice, Unconnected
from gradwire_engine.solvers.layout import Layout

#: A Jacobian: an array, or one of ``scipy.sparse``'s.
Jacobian: TypeAlias = Any


class Notes(NamedTuple):
    """What the latest evaluation said beside its values."""

    warnings: Sequence[Notice] = ()
    unconnected: Mapping[str, Unconnected] = {}
    nonfinite: Mapping[Direction, Nonfinite] = {}


class Objective(Protocol):
    """A number that depends on the sources, and its derivatives: ``f(x)``, ``∇f(x)``, ``H(x) v``.

    Of residuals ``r``, the number is ``½ Σ rᵢ²``.
    """

    layout: Layout

    @property
    def start(self) -> Array:
        """The vector to begin from."""
        ...

    @property
    def notes(self) -> Notes:
        """What is to be known about the latest evaluation."""
        ...

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """``f(x)`` and ``∇f(x)``."""
        ...

    def hessian_product(self, x: Array, v: Array) -> Array:
        """``H(x) v``."""
        ...

    def gauss_newton_product(self, x: Array, v: Array) -> Array:
        """``J(x)ᵀ J(x) v``, of residuals."""
        ...


class Residuals(Protocol):
    """Functions with several values, concatenated: ``r(x)``, and ``J(x)``, one row for each."""

    layout: Layout

    @property
    def start(self) -> Array:
        """The vector to begin from."""
        ...

    @property
    def notes(self) -> Notes:
        """What is to be known about the latest evaluation."""
        ...

    def residuals(self, x: Array) -> Array:
        """``r(x)``."""
        ...

    def jacobian(self, x: Array) -> Jacobian:
        """``J(x)``; where only few elements differ from zero, one of ``scipy.sparse``'s."""
        ...

    def nested(self, residuals: Array) -> Any:
        """The residuals in the structure of the target."""
        ...
