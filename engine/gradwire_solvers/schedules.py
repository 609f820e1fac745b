"""Learning rates that change from step to step, by the formulas of Keras."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.errors import InputError, Place

from gradwire_solvers.options import (
    AT_LEAST_0,
    FLAG,
    POSITIVE,
    Option,
    check,
    choice,
    either,
    is_number,
)

#: The learning rate of a step, counted from 0.
Schedule: TypeAlias = Callable[[int], float]

_AT = "/options/learning_rate"


def constant(learning_rate: float) -> Schedule:
    """``η``."""
    return lambda step: learning_rate


def exponential(
    initial_learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Schedule:
    """``η rᵗ`` for ``t = step / decay_steps``, rounded down on a staircase."""

    def rate(step: int) -> float:
        times = step / decay_steps
        return float(
            initial_learning_rate * decay_rate ** (math.floor(times) if staircase else times)
        )

    return rate


def cosine(initial_learning_rate: float, decay_steps: float, alpha: float = 0.0) -> Schedule:
    """``η ((1 − α) (1 + cos πt) / 2 + α)`` for ``t = step / decay_steps``, at most 1.

    Source: Loshchilov and Hutter, SGDR (2017), without restarts.
    """

    def rate(step: int) -> float:
        decayed = 0.5 * (1 + math.cos(math.pi * min(step / decay_steps, 1)))
        return initial_learning_rate * ((1 - alpha) * decayed + alpha)

    return rate


def polynomial(
    initial_learning_rate: float,
    decay_steps: float,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Schedule:
    """``(η − η₁) (1 − t)ᵖ + η₁`` for ``t = step / decay_steps``, at most 1.

    In a cycle the decay is stretched to the next multiple of its steps instead.
    """

    def rate(step: int) -> float:
        stretch = max(math.ceil(step / decay_steps), 1) if cycle else 1
        share = min(step / (decay_steps * stretch), 1)
        return float(
            (initial_learning_rate - end_learning_rate) * (1 - share) ** power + end_learning_rate
        )

    return rate


def piecewise(boundaries: Sequence[float], values: Sequence[float]) -> Schedule:
    """``values[i]`` up to and including step ``boundaries[i]``, at the end the last value."""
    return lambda step: values[bisect_left(boundaries, step)]


class _Shape(NamedTuple):
    """A schedule, its parameters, and those that may be left out."""

    made: Callable[..., Schedule]
    parameters: Mapping[str, Option]
    optional: frozenset[str] = frozenset()


def _numbers(accepts: Callable[[Any], bool], words: str) -> Option:
    return Option(
        lambda value: type(value) is list and bool(value) and all(map(accepts, value)), words
    )


_DECAY = {"initial_learning_rate": AT_LEAST_0, "decay_steps": POSITIVE}
_SCHEDULES: Mapping[str, _Shape] = {
    "constant": _Shape(constant, {"learning_rate": AT_LEAST_0}),
    "exponential": _Shape(
        exponential,
        {**_DECAY, "decay_rate": AT_LEAST_0, "staircase": FLAG},
        frozenset(("staircase",)),
    ),
    "cosine": _Shape(cosine, {**_DECAY, "alpha": AT_LEAST_0}, frozenset(("alpha",))),
    "polynomial": _Shape(
        polynomial,
        {**_DECAY, "end_learning_rate": AT_LEAST_0, "power": AT_LEAST_0, "cycle": FLAG},
        frozenset(("end_learning_rate", "power", "cycle")),
    ),
    "piecewise": _Shape(
        piecewise,
        {
            "boundaries": _numbers(is_number, "a list of numbers"),
            "values": _numbers(
                lambda value: is_number(value) and value >= 0, "a list of numbers of at least 0"
            ),
        },
    ),
}
#: What the option ``learning_rate`` may be; a schedule's parameters are checked where it is made.
LEARNING_RATE = either(
    AT_LEAST_0, Option(lambda value: type(value) is dict, "an object with a schedule")
)
_name = choice(*_SCHEDULES)


def schedule_of(learning_rate: Any, warmup_steps: int = 0) -> Schedule:
    """The schedule that the option denotes: a number, or an object with its name and parameters.

    For ``warmup_steps`` the rate rises in equal steps to the schedule's first, and then follows it.

    Raises: ``InputError``.
    """
    following = _read(learning_rate) if type(learning_rate) is dict else constant(learning_rate)

    def rate(step: int) -> float:
        if step < warmup_steps:
            return following(0) * (step + 1) / warmup_steps
        return following(step - warmup_steps)

    return rate


def _read(given: Mapping[str, Any]) -> Schedule:
    parameters = dict(given)
    name = parameters.pop("schedule", None)
    if not _name.accepts(name):
        at = Place(pointer=f"{_AT}/schedule")
        raise InputError(f"schedule must be {_name.expected}", at=at)
    shape = _SCHEDULES[name]
    check(parameters, shape.parameters, _AT, f"the schedule {name}")
    missing = shape.parameters.keys() - shape.optional - parameters.keys()
    if missing:
        detail = f"the schedule {name} needs {', '.join(sorted(missing))}"
        raise InputError(detail, at=Place(pointer=_AT))
    if name == "piecewise":
        _check_pieces(**parameters)
    return shape.made(**parameters)


def _check_pieces(boundaries: Sequence[float], values: Sequence[float]) -> None:
    if len(values) != len(boundaries) + 1:
        detail = (
            f"{len(boundaries)} boundaries part {len(boundaries) + 1} values, got {len(values)}"
        )
        raise InputError(detail, at=Place(pointer=f"{_AT}/values"))
    if any(left >= right for left, right in pairwise(boundaries)):
        raise InputError("boundaries must rise", at=Place(pointer=f"{_AT}/boundaries"))
