"""The objective of an optimisation, as solvers see it: functions of one flat vector of float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from gradwire_engine import Call
from gradwire_engine.answer import Array, Direction, Nonfinite, Notice, Unconnected

from gradwire_solvers.layout import Layout

#: A Jacobian: an array, or one of ``scipy.sparse``'s.
Jacobian: TypeAlias = Any


class Notes(NamedTuple):
    """The notes of the latest evaluation beside its values."""

    warnings: Sequence[Notice] = ()
    unconnected: Mapping[str, Unconnected] = {}
    nonfinite: Mapping[Direction, Nonfinite] = {}


@dataclass(slots=True)
class Work:
    """The work of a run's evaluations, from which their cost elsewhere can be predicted.

    ``seconds`` are those predicted for another replay of each, in which nothing is compiled;
    ``input_bytes`` are without those of fixed variables.
    """

    replays: int = 0
    seconds: float = 0.0
    flops: int = 0
    input_bytes: int = 0
    answer_bytes: int = 0
    peak_bytes: int = 0

    def add(self, call: Call) -> None:
        """Add a replay."""
        self.replays += 1
        self.seconds += call.seconds
        self.flops += call.flops
        self.input_bytes += call.input_bytes
        self.answer_bytes += call.answer_bytes
        self.peak_bytes = max(self.peak_bytes, call.peak_bytes)


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
        """The notes on the latest evaluation."""
        ...

    @property
    def roundoff(self) -> float:
        """The relative spacing of numbers of the precision that values have."""
        ...

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """``f(x)`` and ``∇f(x)``."""
        ...

    def hessian_product(self, x: Array, v: Array) -> Array:
        """``H(x) v``."""
        ...

    def triangle(self, x: Array) -> Array:
        """``R`` of ``Q R = [J(x) r(x)]``, of residuals: its last column belongs to ``r``."""
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
        """The notes on the latest evaluation."""
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
