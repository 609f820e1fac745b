"""Units of a problem's value and variables, read off its derivatives: powers of two."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from gradwire_engine.answer import Array

#: The lower and the upper bound of each variable.
Box: TypeAlias = "tuple[Array, Array]"

#: The largest unit, so that no product of two overflows, and its exponent; and that of a value's
#: unit, of which there are no products.
_MOST_EXPONENT, _MOST_OF_VALUE = 500, 1000
LARGEST = 2.0**_MOST_EXPONENT
#: A value's unit is at most this many times the value itself, or the first-order change of it.
_MOST_DECREASE = 16.0


class Scaling(NamedTuple):
    """The unit of the value ``S`` and those of the variables ``D``: ``z = x / D``, ``f / S``.

    Methods see the problem in these units, in which the value's first and second derivatives are of
    size 1 at the start. So their tolerances are relative, and whoever changes the units of the
    variables or of the value by powers of two gets the same steps.
    """

    value: float
    variables: Array

    @classmethod
    def none(cls, size: int) -> Scaling:
        """The problem as it is."""
        return cls(1.0, np.ones(size))

    @classmethod
    def of(cls, x: Array, value: float, slopes: Array, curvatures: Array) -> Scaling:
        """The units at a point with these slopes and curvatures along the variables, or one of all.

        ``S`` is what Newton's steps along each would take off the value.
        """
        unit = _value_unit(x, value, np.abs(slopes), np.abs(curvatures))
        return cls.changing(unit, x, slopes, curvatures)

    @classmethod
    def changing(cls, unit: float, x: Array, slopes: Array, curvatures: Array) -> Scaling:
        """The units in which each variable changes the value by ``unit``."""
        units = np.broadcast_to(changes(unit, slopes, curvatures), x.shape)
        known = np.isfinite(units) & (units > 0)
        if not known.all():  # nothing depends on these here
            others = np.exp2(np.log2(units[known]).mean()) if known.any() else 1.0
            units = np.where(known, units, np.maximum(np.abs(x), others))
        return cls(float(power_of_two(np.asarray(unit), _MOST_OF_VALUE)), power_of_two(units))

    def within(self, box: Box | None) -> Scaling:
        """The same, no unit larger than the distance between a variable's bounds."""
        if box is None:
            return self
        low, high = box
        width = np.where(high > low, high - low, np.inf)
        return self._replace(variables=np.minimum(self.variables, power_of_two(width)))

    def inside(self, x: Array) -> Array:
        """A point in these units."""
        z: Array = x / self.variables
        return z

    def outside(self, z: Array) -> Array:
        """A point in the variables' own units."""
        x: Array = z * self.variables
        return x

    def gradient(self, gradient: Array) -> Array:
        """A gradient in these units; so is ``D H v`` of a product."""
        scaled: Array = gradient * self.variables / self.value
        return scaled


def changes(unit: float, slopes: Array, curvatures: Array) -> Array:
    """Steps of variables that change a value by ``unit``: ``½ |Hᵢᵢ| Dᵢ²``, or sooner ``½ |gᵢ| Dᵢ``.

    Infinity where the value does not depend on them. Where ``unit`` is at least what Newton's step
    gains, curvatures decide: so equal ones have equal units.
    """
    with np.errstate(all="ignore"):
        by_curvature = np.sqrt(2 * unit / np.abs(curvatures))
        units: Array = np.minimum(by_curvature, 2 * unit / np.abs(slopes))
    return units


def power_of_two(sizes: Array, most: int = _MOST_EXPONENT) -> Array:
    """The powers of two below these sizes; 1 of what has none, such as 0."""
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log2(sizes))
    exponents = np.where(np.isneginf(exponents) | np.isnan(exponents), 0.0, exponents)
    powers: Array = np.exp2(np.clip(exponents, -most, most))
    return powers


def _value_unit(x: Array, value: float, slopes: Array, curvatures: Array) -> float:
    with np.errstate(all="ignore"):
        decreases = 0.5 * slopes * slopes / curvatures
    decrease = float(decreases[curvatures > 0].sum())
    first = float(np.max(slopes * np.abs(x), initial=0.0))
    most = _MOST_DECREASE * max(abs(value), first)
    if most > 0:
        decrease = min(decrease, most)
    least = float(np.finfo(float).eps) * abs(value)
    if decrease > least:
        return decrease
    return abs(value) or first or float(slopes.max(initial=0.0)) or 1.0
