"""Explicit Runge-Kutta methods as loops: of equal steps, and of steps as errors allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from gradwire_engine.errors import DomainError
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.record.calculus import leaves, rebuild
from gradwire_engine.record.functions.loops import repeat

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: ``dy/dt`` of ``y`` and ``t``, nested as ``y``.
Slope = Callable[[Any, Var], Any]

#: Coefficients of the stages after the first, and weights of all, of explicit methods.
_TABLEAUS: dict[str, tuple[list[list[float]], list[float]]] = {
    "euler": ([], [1]),
    "midpoint": ([[1 / 2]], [0, 1]),
    "heun": ([[1]], [1 / 2, 1 / 2]),
    "rk4": ([[1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}
METHODS = (*_TABLEAUS, "dopri5")
#: Of Dormand and Prince, A family of embedded Runge-Kutta formulae (1980): the last stage is at the
#: result of order 5; and the weights of its difference from the one of order 4.
_DOPRI5 = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
_DOPRI5_ERROR = [
    *(71 / 57600, 0, -71 / 16695, 71 / 1920),
    *(-17253 / 339200, 22 / 525, -1 / 40),
]
#: The part that is taken of the step that an error allows, and the limits of a step's change.
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10.0


class Solver(Protocol):
    """Goes on with a state, of which ``y`` is a part."""

    def begin(self, slope: Slope, y: Any, times: Var) -> dict[str, Any]:
        """The state at the first of the times."""

    def advance(self, slope: Slope, state: Any, before: Var, after: Var) -> dict[str, Any]:
        """The state at a time ``after`` that of ``state``."""

    def end(self, state: dict[str, Any], times: Var) -> None:
        """Refuse a state that is not at the last of the times."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """So many equal steps from each time to the next."""

    r: Recorder
    method: str
    steps: int

    def begin(self, slope: Slope, y: Any, times: Var) -> dict[str, Any]:
        """Only the value."""
        return {"y": y}

    def advance(self, slope: Slope, state: Any, before: Var, after: Var) -> dict[str, Any]:
        """Make all steps, in a loop."""
        r = self.r
        stages, weights = _TABLEAUS[self.method]
        h = r.operation("divide", after - before, self.steps)

        def step(number: Any, y: Any, row: Any) -> tuple[Any, Any]:
            slopes: list[Any] = []
            for stage in ([], *stages):
                part = r.operation("add", number, float(sum(stage)))
                now = before + r.operation("multiply", h, part)
                slopes.append(slope(along(r, y, h, stage, slopes), now))
            return along(r, y, h, weights, slopes), None

        return {"y": repeat(r, state["y"], step, length=self.steps)[0]}

    def end(self, state: dict[str, Any], times: Var) -> None:
        """It always is."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Steps of Dormand and Prince as errors allow, whose lengths are constant to derivatives."""

    r: Recorder
    rtol: Any
    atol: Any
    max_steps: Any

    def begin(self, slope: Slope, y: Any, times: Var) -> dict[str, Any]:
        """With a first step of which one of Euler's would have a small error (II.4)."""
        do, now = self.r.operation, picked(times, 0, 0)
        speeds = slope(y, now)
        length, speed = self._size(y, [y], now), self._size(speeds, [y], now)
        tiny = do("less", do("minimum", length, speed), 1e-5)
        h = do("where", tiny, 1e-6, do("divide", 0.01 * length, speed))
        ahead = along(self.r, y, h, [1], [speeds])
        turn = along(self.r, slope(ahead, now + h), -1, [1], [speeds])
        most = do("maximum", speed, self._size(turn, [y], now) / h)
        longer = do("where", most.exceeds(1e-15), do("power", 0.01 / most, 0.2), 1e-3 * h)
        h = do("minimum", 100 * h, longer)
        return {"y": y, "slope": speeds, "t": now, "h": h, "tries": self.r.b.constant(0)}

    def advance(self, slope: Slope, state: Any, before: Var, after: Var) -> dict[str, Any]:
        """Try steps until one ends there; NaN after too many."""
        do = self.r.operation
        tries = do("where", state["t"].equals(before), 0, state["tries"])
        # The first is always tried: so no value is needed while this is recorded.
        begun = {**state, "tries": tries, "going": self.r.b.constant(True)}
        ended, _ = repeat(
            self.r,
            begun,
            lambda number, at, row: (self._tried(slope, at, after), None),
            holds=lambda at: at["going"],
        )
        there = ended["t"].equals(after)
        y = rebuild(ended["y"], lambda x: do("where", there, x, math.nan))
        return {**{name: ended[name] for name in state}, "y": y}

    def _tried(self, slope: Slope, at: Any, after: Var) -> dict[str, Any]:
        """The state after a step towards ``after``, which is not made if its error is too large."""
        r, do, y, t, h = self.r, self.r.operation, at["y"], at["t"], at["h"]
        gap = after - t
        last = do("less_equal", do("abs", gap), h)
        step = do("where", last, gap, h * do("sign", gap))
        new, slopes = y, [at["slope"]]
        for stage in _DOPRI5:
            new = along(r, y, step, stage, slopes)
            slopes.append(slope(new, t + step * sum(stage)))
        zeros = rebuild(new, lambda x: r.b.full(0, x.type))
        size = self._size(along(r, zeros, step, _DOPRI5_ERROR, slopes), [y, new], t)
        accepted = do("less_equal", size, 1)
        factor = do("clip", _SAFETY * do("power", size, -0.2), _LEAST, _MOST)
        factor = do("where", do("isnan", size), _LEAST, factor)
        longer = StopGradient()(do("abs", step)) * factor
        # A step that only the time asked for made short says nothing against longer ones.
        longer = do("where", do("logical_and", accepted, last), do("maximum", h, longer), longer)
        there = do("logical_and", accepted, last)
        tries = at["tries"] + 1
        following = iter([*leaves(new), *leaves(slopes[-1])])
        chosen = rebuild([y, at["slope"]], lambda x: do("where", accepted, next(following), x))
        return {
            "y": chosen[0],
            "slope": chosen[1],
            "t": do("where", there, after, do("where", accepted, t + step, t)),
            "h": longer,
            "tries": tries,
            "going": do("logical_and", do("logical_not", there), do("less", tries, self.max_steps)),
        }

    def end(self, state: dict[str, Any], times: Var) -> None:
        """Too many steps leave it short of a time."""
        there = state["t"].equals(picked(times, 0, times.shape[0] - 1))
        if not self.r.truth(self.r.operation("all", self.r.concrete.everywhere(there))):
            raise DomainError(
                "as many steps as max_steps allows do not reach the next time",
                hint="raise max_steps, rtol or atol; stiff equations need a method of their own",
            )

    def _size(self, x: Any, like: Sequence[Any], now: Var) -> Var:
        """The root of the mean square of ``x``, in units of the error that may be made."""
        do, squares, size = self.r.operation, list[Any](), 0
        for error, *values in zip(leaves(x), *map(leaves, like), strict=True):
            largest = reduce(partial(do, "maximum"), [do("abs", value) for value in values])
            unit = do("add", self.atol, do("multiply", self.rtol, largest))
            squares.append(do("sum", do("square", do("abs", do("divide", error, unit)))))
            size += error.type.size
        mean = do("sqrt", do("divide", reduce(partial(do, "add"), squares), max(size, 1)))
        return StopGradient()(self.r.b.cast(mean, now.dtype, weak=now.type.weak))


def along(r: Recorder, y: Any, h: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    """``y + h Σ weight slope``, leaf by leaf."""
    pairs = [(w, leaves(k)) for w, k in zip(weights, slopes, strict=False) if w]
    if not pairs:
        return y
    numbers = count()

    def moved(x: Var) -> Any:
        i = next(numbers)
        terms = [k[i] if w == 1 else r.operation("multiply", k[i], w) for w, k in pairs]
        total = reduce(partial(r.operation, "add"), terms)
        return r.operation("add", x, r.operation("multiply", h, total))

    return rebuild(y, moved)
