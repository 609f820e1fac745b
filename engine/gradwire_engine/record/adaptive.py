"""Steps as errors allow, of methods whose steps have an error that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.ops.requirements import Required
from gradwire_engine.record.functions.loops import repeat
from gradwire_engine.record.runge_kutta import Slope, along

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: The part that is taken of the step that an error allows, and the limits of a step's change.
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10.0
#: The product of a step and a slope's greatest change beyond which an explicit method is unstable,
#: the number of steps beyond it after which an equation is stiff, and what one within it takes off.
_UNSTABLE, _STIFF, _RELIEF = 3.25, 15.0, 0.25
_REACHED = Required(
    "within max_steps no steps as short as the tolerances ask for reach the next time",
    "a stiff equation needs method='rodas5p', of other methods not their adjoint equation; else "
    "raise max_steps, rtol or atol; the solution may also have no finite value there",
)


class Solver(Protocol):
    """Goes on with a state, of which ``y`` is a part."""

    def begin(self, slope: Slope, y: Any, times: Var) -> dict[str, Any]:
        """The state at the first of the times."""

    def advance(self, slope: Slope, state: Any, before: Var, after: Var) -> dict[str, Any]:
        """The state at a time ``after`` that of ``state``."""

    def reached(self, state: dict[str, Any], times: Var, found: Any) -> Any:
        """``found``, if ``state`` is at the last of the times: else an error."""


class Method(Protocol):
    """A method of order 5 whose steps have an error of order 4."""

    def begun(self, speeds: Any) -> dict[str, Any]:
        """What the first step begins with, beside the value."""

    def step(self, r: Recorder, slope: Slope, at: Any, h: Var) -> tuple[dict[str, Any], Any, Any]:
        """What a step changes in the state, its error, and two values' and slopes' differences."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Steps of a method, whose lengths are constant to derivatives; of a second from where the
    equation is stiff for the first, or the first gets no further.

    Source: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), IV.2.
    """

    r: Recorder
    methods: Sequence[Method]
    rtol: Any
    atol: Any
    max_steps: Any

    def begin(self, slope: Slope, y: Any, times: Var) -> dict[str, Any]:
        """With a first step of which one of Euler's would have a small error (I, II.4)."""
        do, now = self.r.operation, picked(times, 0, 0)
        speeds = slope(y, now)
        length, speed = self._size(y, [y], now), self._size(speeds, [y], now)
        tiny = do("less", do("minimum", length, speed), 1e-5)
        h = do("where", tiny, 1e-6, do("divide", 0.01 * length, speed))
        onward = h * do("sign", picked(times, 0, times.shape[0] - 1) - now)
        ahead = along(self.r, y, onward, [1], [speeds])
        turn = along(self.r, slope(ahead, now + onward), -1, [1], [speeds])
        most = do("maximum", speed, self._size(turn, [y], now) / h)
        longer = do("where", most.exceeds(1e-15), do("power", 0.01 / most, 0.2), 1e-3 * h)
        h = do("maximum", do("minimum", 100 * h, longer), self._least(now))
        state = {"y": y, "t": now, "h": h, "tries": self.r.b.constant(0)}
        if len(self.methods) > 1:
            state["stiff"] = self.r.b.full(0, now.type)
        return state | self.methods[0].begun(speeds)

    def advance(self, slope: Slope, state: Any, before: Var, after: Var) -> dict[str, Any]:
        """Try steps until one ends there; NaN after too many."""
        do, arrived = self.r.operation, state["t"].equals(before)
        state = {**state, "tries": do("where", arrived, 0, state["tries"])}
        for number, method in enumerate(self.methods):
            # One is always tried: so no value is needed while this is recorded.
            going: Any = self.r.b.constant(True)
            if number:
                going = do("logical_and", arrived, do("not_equal", state["t"], after))
                state["stiff"] = do("where", going, _STIFF, state["stiff"])
                state["tries"] = do("where", going, 0, state["tries"])
            elif "stiff" in state:
                going = do("less", state["stiff"], _STIFF)
            tried = partial(self._tried, method, slope, after)
            begun = {**state, "going": going}
            ended, _ = repeat(self.r, begun, tried, holds=itemgetter("going"))
            state = {name: ended[name] for name in state}
        there = state["t"].equals(after)
        return {**state, "y": rebuild(state["y"], lambda x: do("where", there, x, math.nan))}

    def _tried(
        self, method: Method, slope: Slope, after: Var, number: Any, at: Any, row: Any
    ) -> tuple[dict[str, Any], None]:
        """The state after a step towards ``after``, which is not made if its error is too large."""
        r, do, t, h = self.r, self.r.operation, at["t"], at["h"]
        gap = after - t
        last = do("less_equal", do("abs", gap), h)
        step = do("where", last, gap, h * do("sign", gap))
        made, error, apart = method.step(r, slope, at, step)
        size = self._size(error, [at["y"], made["y"]], t)
        accepted = do("less_equal", size, 1)
        factor = do("clip", _SAFETY * do("power", size, -0.2), _LEAST, _MOST)
        factor = do("where", do("isnan", size), _LEAST, factor)
        longer = StopGradient()(do("abs", step)) * factor
        there = do("logical_and", accepted, last)
        # A step that only the time asked for made short says nothing against longer ones.
        longer = do("where", there, do("maximum", h, longer), longer)
        stuck = do("logical_not", longer.exceeds(self._least(t)))
        tries = at["tries"] + 1
        ends = do(
            "logical_or", do("logical_or", there, stuck), do("less_equal", self.max_steps, tries)
        )
        if "stiff" in at and method is self.methods[0]:
            moved, turned = (self._size(x, [at["y"], made["y"]], t) for x in apart)
            unstable = do("less", _UNSTABLE * moved, do("abs", step) * turned)
            count = do("where", unstable, at["stiff"] + 1.0, at["stiff"] - _RELIEF)
            made["stiff"] = StopGradient()(do("maximum", count, 0))
            ends = do("logical_or", ends, do("less_equal", _STIFF, made["stiff"]))
        following = iter(leaves(made))
        kept = rebuild(
            {name: at[name] for name in made}, lambda x: do("where", accepted, next(following), x)
        )
        moved = do("where", accepted, t + step, t)
        return {
            **at,
            **kept,
            "t": do("where", there, after, moved),
            "h": longer,
            "tries": tries,
            "going": do("logical_not", ends),
        }, None

    def reached(self, state: dict[str, Any], times: Var, found: Any) -> Any:
        """Steps that are too many, or too short, leave it short of a time."""
        there = state["t"].equals(picked(times, 0, times.shape[0] - 1))
        return rebuild(found, lambda x: _REACHED(x, there))

    def _least(self, now: Var) -> Var:
        """A step that makes hardly a difference to the time."""
        return 4 * float(finfo(now.dtype).eps) * StopGradient()(self.r.operation("abs", now))

    def _size(self, x: Any, like: Sequence[Any], now: Var) -> Var:
        """The root of the mean square of ``x``, in units of the error that may be made."""
        do, squares, size = self.r.operation, list[Any](), 0
        for error, *values in zip(leaves(x), *map(leaves, like), strict=True):
            largest = reduce(partial(do, "maximum"), [do("abs", value) for value in values])
            unit = do("add", self.atol, do("multiply", self.rtol, largest))
            unit = do("broadcast_to", unit, error.shape)
            squares.append(do("sum", do("square", do("abs", do("divide", error, unit)))))
            size += error.type.size
        mean = do("sqrt", do("divide", reduce(partial(do, "add"), squares), max(size, 1)))
        return StopGradient()(self.r.b.cast(mean, now.dtype, weak=now.type.weak))
