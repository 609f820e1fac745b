"""Explicit Runge-Kutta methods: a loop of equal steps, and steps whose errors are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import count
from typing import TYPE_CHECKING, Any

from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.functions.loops import repeat

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: ``dy/dt`` of ``y`` and ``t``, nested as ``y``.
Slope = Callable[[Any, Var], Any]

#: Coefficients of the stages after the first, and weights of all; "rk38" is Kutta's 3/8 rule.
TABLEAUS: dict[str, tuple[list[list[float]], list[float]]] = {
    "euler": ([], [1]),
    "midpoint": ([[1 / 2]], [0, 1]),
    "heun": ([[1]], [1 / 2, 1 / 2]),
    "rk4": ([[1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    "rk38": ([[1 / 3], [-1 / 3, 1], [1, -1, 1]], [1 / 8, 3 / 8, 3 / 8, 1 / 8]),
}
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
        stages, weights = TABLEAUS[self.method]
        h = r.operation("divide", after - before, self.steps)

        def step(number: Any, y: Any, row: Any) -> tuple[Any, Any]:
            slopes: list[Any] = []
            for stage in ([], *stages):
                part = r.operation("add", number, float(sum(stage)))
                now = before + r.operation("multiply", h, part)
                slopes.append(slope(along(r, y, h, stage, slopes), now))
            return along(r, y, h, weights, slopes), None

        return {"y": repeat(r, state["y"], step, length=self.steps)[0]}

    def reached(self, state: dict[str, Any], times: Var, found: Any) -> Any:
        """It always is."""
        return found


class Dopri5:
    """Of order 5, by Dormand and Prince; a step leaves the slope that the next one begins with."""

    def begun(self, speeds: Any) -> dict[str, Any]:
        """What the first step begins with."""
        return {"slope": speeds}

    def step(self, r: Recorder, slope: Slope, at: Any, h: Var) -> tuple[dict[str, Any], Any, Any]:
        """The state after a step, its error, and two values with the difference of their slopes."""
        y, t = at["y"], at["t"]
        new, before, slopes = y, y, [at["slope"]]
        for stage in _DOPRI5:
            before, new = new, along(r, y, h, stage, slopes)
            slopes.append(slope(new, t + h * sum(stage)))
        zeros = rebuild(new, lambda x: r.b.full(0, x.type))
        error = along(r, zeros, h, _DOPRI5_ERROR, slopes)
        apart = [along(r, x, -1, [1], [y]) for x, y in ((new, before), slopes[:-3:-1])]
        return {"y": new, "slope": slopes[-1]}, error, apart


def along(r: Recorder, y: Any, h: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    """``y + h Σ weight slope``, leaf by leaf."""
    pairs = [(w, leaves(k)) for w, k in zip(weights, slopes, strict=False) if w]
    if not pairs:
        return y
    if not isinstance(h, Var):
        h, pairs = None, [(h * w, k) for w, k in pairs]
    numbers = count()

    def moved(x: Var) -> Any:
        i = next(numbers)
        terms = [k[i] if w == 1 else r.operation("multiply", k[i], w) for w, k in pairs]
        total = reduce(partial(r.operation, "add"), terms)
        return r.operation("add", x, total if h is None else r.operation("multiply", h, total))

    return rebuild(y, moved)
