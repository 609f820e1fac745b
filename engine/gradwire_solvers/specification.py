"""The checked specification of an optimisation: its method, options, bounds and constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine import hints
from gradwire_engine.answer import Array, Names
from gradwire_engine.errors import InputError, Place
from gradwire_engine.program import Program
from gradwire_engine.tape import FLOATING

from gradwire_solvers.layout import Layout
from gradwire_solvers.methods import METHODS, Method, SolveKind
from gradwire_solvers.options import check
from gradwire_solvers.schedules import schedule_of

#: The tolerances of least squares, and their default.
_TOLERANCES, _TOLERANCE = ("ftol", "xtol", "gtol"), 1e-8
#: A bound: for all elements, for each of them, or none.
Bound: TypeAlias = "float | Array | None"


class Constraint(NamedTuple):
    """``low ≤ c(x) ≤ high``; where both are equal, ``c(x) = low``.

    ``c`` is another program's output, or an intermediate of the objective's program.
    """

    program: str | Mapping[str, Any] | Program | None
    target: Names
    low: Bound
    high: Bound


class Minibatch(NamedTuple):
    """Steps along gradients of ``size`` rows of these variables, each row once in an epoch."""

    size: int
    variables: Sequence[str]
    seed: int = 0


#: An explicit tolerance is a success within so many times of it.
_LOOSE = 1e3


@dataclass(frozen=True)
class Specification:
    """A run: what is looked for, and how.

    Raises: ``InputError``, with a pointer to the field of the request, for an unknown method or
    option, a value that it cannot have, and what the method does not take.
    """

    kind: SolveKind
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tol: float | None = None
    bounds: Mapping[str, tuple[Bound, Bound]] = field(default_factory=dict)
    constraints: Sequence[Constraint] = ()
    minibatch: Minibatch | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        methods = METHODS[self.kind]
        if self.method not in methods:
            detail = f"there is no method '{self.method[:40]}' of {self.kind}"
            close = hints.like(self.method, methods) or f"one of {', '.join(methods)}"
            raise InputError(detail, at=Place(pointer="/method"), hint=close)
        check(self.options, self.takes.options, "/options", self.method)
        for name, given, takes in (
            ("bounds", self.bounds, self.takes.bounds),
            ("constraints", self.constraints, self.takes.constraints),
            ("minibatch", self.minibatch, self.takes.first_order),
        ):
            if given and not takes:
                attribute = "first_order" if name == "minibatch" else name
                able = [other for other, each in methods.items() if getattr(each, attribute)]
                hint = f"{', '.join(able)} take them" if able else None
                detail = f"{self.method} takes no {name}"
                raise InputError(detail, at=Place(pointer=f"/{name}"), hint=hint)
        self._check_together()

    @property
    def takes(self) -> Method:
        """The method's description."""
        return METHODS[self.kind][self.method]

    def limits(self, layout: Layout) -> tuple[Array, Array] | None:
        """The lower and the upper bound of each element, infinite where there is none; or None.

        Raises: ``InputError`` for names that are no sources, shapes that differ from theirs, bounds
        without a number between them, and a start outside.
        """
        if not self.bounds:
            return None
        limits = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
        for path, pair in self.bounds.items():
            at = Place(id=path[:80], pointer=f"/bounds/{_escaped(path)}")
            part = layout.find(path)
            if part is None:
                hint = hints.like(path, layout.paths) or "bounds are given by the sources' paths"
                raise InputError(f"there is no source '{path[:40]}'", at=at, hint=hint)
            for limit, given in zip(limits, pair, strict=True):
                if given is not None:
                    limit[part.start : part.stop] = np.ravel(bound(given, part.shape, at))
        low, high = limits
        if (element := _first(low > high)) is not None:
            at = Place(pointer="/bounds")
            detail = f"the lower bound of {layout.name(element)} is above the upper one"
            raise InputError(detail, at=at)
        if self.kind == "least_squares" and (element := _first(low == high)) is not None:
            detail = f"the bounds of {layout.name(element)} are equal"
            hint = "leave what is fixed out of sources"
            raise InputError(detail, at=Place(pointer="/bounds"), hint=hint)
        start = layout.start
        if (element := _first((start < low) | (start > high))) is not None:
            found = f"{layout.name(element)} is {start[element]:g}"
            detail = f"the start lies outside the bounds: {found}"
            raise InputError(detail, at=Place(pointer="/bounds"), hint="start between the bounds")
        return limits if np.isfinite(limits).any() else None

    def loosened(self, tolerances: Sequence[str], least: float = 0.0) -> float:
        """The largest of explicit ``tolerances``, so many times: within it a run has succeeded."""
        asked = [self.options[name] for name in tolerances if name in self.options]
        return float(_LOOSE * max([*asked, self.tol or 0.0, least]))

    def _check_together(self) -> None:
        """Raises: ``InputError`` for options that exclude each other."""
        options = self.options
        if self.takes.first_order:
            schedule_of(options.get("learning_rate", 0.0), options.get("warmup_steps", 0))
        if options.get("tr_solver") == "exact" and self.method == "lm":
            raise InputError("lm has no tr_solver", at=Place(pointer="/options/tr_solver"))
        radii = options.get("initial_trust_radius", 1.0), options.get("max_trust_radius", 1000.0)
        if "max_trust_radius" in self.takes.options and radii[0] >= radii[1]:
            at = Place(pointer="/options/initial_trust_radius")
            raise InputError("the initial trust radius must be below the largest", at=at)
        if self.kind == "least_squares" and not self.takes.divided:
            self._check_tolerances()
        if "c1" in self.takes.options:
            curvature = 0.4 if self.method == "CG" else 0.9
            if options.get("c1", 1e-4) >= options.get("c2", curvature):
                raise InputError("c1 must be below c2", at=Place(pointer="/options/c1"))

    def _check_tolerances(self) -> None:
        """Raises: ``InputError`` for tolerances that no rounded numbers reach."""
        default = _TOLERANCE if self.tol is None else self.tol
        small = [
            name for name in _TOLERANCES if self.options.get(name, default) < np.finfo(float).eps
        ]
        if small and (self.method == "lm" or len(small) == len(_TOLERANCES)):
            named = next((name for name in small if name in self.options), None)
            pointer = "/tol" if named is None else f"/options/{named}"
            many = "each tolerance" if self.method == "lm" else "one tolerance at least"
            detail = f"{many} of {self.method} must be 2.3e-16 or more"
            raise InputError(detail, at=Place(pointer=pointer), hint="leave it out for 1e-8")


def bound(given: float | Array, shape: tuple[int, ...], at: Place) -> Array:
    """A bound for each element.

    Raises: ``InputError`` for another shape, and for what is NaN.
    """
    array = np.asarray(given)
    if array.dtype.kind not in "iub" + FLOATING:
        raise InputError(f"a bound is a real number, got {array.dtype}", at=at)
    if array.ndim and array.shape != shape:
        detail = f"a bound is a number or an array of shape {shape}, got {array.shape}"
        raise InputError(detail, at=at)
    if np.isnan(array).any():
        raise InputError("a bound is not NaN", at=at, hint="null stands for no bound")
    return np.broadcast_to(array.astype(np.float64), shape)


def _first(where: Array) -> int | None:
    """The first element that is true."""
    return int(where.argmax()) if where.any() else None


def _escaped(name: str) -> str:
    return name[:80].replace("~", "~0").replace("/", "~1")
