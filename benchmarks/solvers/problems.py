"""Problems of the collections: programs in Gradwire's language, starts, and what is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine import Leaf

#: The variable of every problem: all that is optimised.
SOURCE = "x"
Array: TypeAlias = "np.ndarray[Any, Any]"
#: A bound of all elements, or one of each; None stands for none.
Bounds: TypeAlias = "float | Sequence[float | None] | None"
Form: TypeAlias = Literal["least", "squares"]


class Limit(NamedTuple):
    """``low ≤ c(x) ≤ high`` for the value of a program."""

    text: str
    low: float | None
    high: float | None


def at_least_0(*texts: str) -> tuple[Limit, ...]:
    """``c(x) ≥ 0`` for each of the texts."""
    return tuple(Limit(text, 0.0, None) for text in texts)


def equal_0(*texts: str) -> tuple[Limit, ...]:
    """``c(x) = 0`` for each of the texts."""
    return tuple(Limit(text, 0.0, 0.0) for text in texts)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A problem of a collection.

    ``text`` is a program of ``x`` and of the arrays in ``fixed``: of form ``least`` it ends with
    the value to be minimised, of ``squares`` with residuals, of which the sum of squares is. Texts
    of problems that are ``unpacked`` may use ``x1``, ``x2``, … for the elements.

    ``minima`` are the published least values, the global one first; those of limits at infinity
    count, as methods may well go there. ``at_start`` is the published value at the start, and
    ``near`` a point from which the global minimum is reached. ``parameters`` are certified ones,
    which tell where the minimum lies.
    """

    name: str
    text: str
    start: Sequence[float]
    minima: Sequence[float]
    form: Form = "least"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    low: Bounds = None
    high: Bounds = None
    limits: Sequence[Limit] = ()
    unpacked: bool = False
    at_start: float | None = None
    near: Sequence[float] | None = None
    parameters: Sequence[float] | None = None
    #: Whether there are as many residuals as elements, so that their root is a problem, too.
    square: bool = False

    @property
    def size(self) -> int:
        """The number of elements of ``x``."""
        return len(self.start)

    @property
    def variables(self) -> dict[str, Leaf]:
        """The variables of the programs, with the start within the bounds."""
        low, high = self.box
        start = np.clip(np.array(self.start, np.float64), low, high)
        data = {name: Leaf(np.asarray(array), False) for name, array in self.fixed.items()}
        return {SOURCE: Leaf(start), **data}

    @property
    def box(self) -> tuple[Array, Array]:
        """The bounds of each element, infinite where there is none."""
        low, high = (
            np.full(self.size, infinite) if bound is None else _spread(bound, self.size, infinite)
            for bound, infinite in ((self.low, -np.inf), (self.high, np.inf))
        )
        return low, high

    @property
    def is_bounded(self) -> bool:
        """Whether any element has a bound."""
        return self.low is not None or self.high is not None

    @property
    def least(self) -> str:
        """The program of the value to be minimised."""
        return self.text_of(self.text) if self.form == "least" else self.text + "\nsum(r**2)"

    def text_of(self, text: str) -> str:
        """A program with the names that it may use."""
        if not self.unpacked:
            return text
        names = ", ".join(f"x{number}" for number in range(1, self.size + 1))
        return f"{names} = x\n{text}"


def _spread(bound: float | Sequence[float | None], size: int, infinite: float) -> Array:
    if isinstance(bound, Sequence):
        return np.array([infinite if each is None else each for each in bound], np.float64)
    return np.full(size, bound, np.float64)
