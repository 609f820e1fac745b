"""Options of methods: the values that each may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gradwire_engine import hints
from gradwire_engine.errors import InputError, Place

_MOST_WHOLE = 2**31 - 1


class Option(NamedTuple):
    """A test of an option's value, and a description of values that pass it."""

    accepts: Callable[[Any], bool]
    expected: str


def is_number(value: Any) -> bool:
    """True for a finite real number, which a boolean is not."""
    return type(value) in (int, float) and math.isfinite(value)


def number(low: float = -math.inf, high: float = math.inf, *, open_low: bool = False) -> Option:
    """A number from ``low``, itself included unless ``open_low``, to below ``high``."""

    def accepts(value: Any) -> bool:
        return is_number(value) and low <= value < high and not (open_low and value == low)

    words = "a number"
    if low == 0:
        words = "a positive number" if open_low else "a number of at least 0"
    return Option(accepts, words if high == math.inf else f"{words} below {high:g}")


def whole(low: int, most: int = _MOST_WHOLE) -> Option:
    """An integer from ``low`` to ``most``, by default what SciPy's C code can hold."""
    words = "a positive integer" if low == 1 else f"an integer of at least {low}"
    limit = "below 2³¹" if most == _MOST_WHOLE else f"up to {most}"
    return Option(lambda value: type(value) is int and low <= value <= most, f"{words} {limit}")


def choice(*words: str) -> Option:
    """One of these words."""
    listed = " or ".join(f'"{word}"' for word in words)
    return Option(lambda value: type(value) is str and value in words, listed)


def either(*options: Option) -> Option:
    """An option that accepts what any of these options accepts."""
    words = " or ".join(option.expected for option in options)
    return Option(lambda value: any(option.accepts(value) for option in options), words)


POSITIVE, AT_LEAST_0, SHARE = number(0, open_low=True), number(0), number(0, 1)
COUNT = whole(1)
FLAG = Option(lambda value: type(value) is bool, "true or false")


def check(options: Mapping[str, Any], known: Mapping[str, Option], at: str, whose: str) -> None:
    """Check options; ``at`` points to them in the request, which are ``whose``.

    Raises: ``InputError`` for an unknown option, or a value that it cannot have.
    """
    for name, value in options.items():
        pointer = f"{at}/{name[:40].replace('~', '~0').replace('/', '~1')}"
        if name not in known:
            listed = ", ".join(known)
            hint = hints.like(name, known) or (f"it has {listed}" if listed else None)
            detail = f"{whose} has no option '{name[:40]}'"
            raise InputError(detail, at=Place(pointer=pointer), hint=hint)
        if not known[name].accepts(value):
            detail = f"{name} must be {known[name].expected}"
            raise InputError(detail, at=Place(pointer=pointer))
