"""Python's arithmetic on numbers known while recording: literals, shapes, lengths, counters.

``1 / 2`` is 0.5 and ``7 // 2`` is 3. Integers are held to 64 bits before they are computed, so that
no literal expression can grow without bound.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire_engine.errors import BadArgument
from gradwire_engine.prelude.compiler import OPERATORS

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **OPERATORS,
    "positive": operator.pos,
    "absolute": abs,
    "abs": abs,
    "maximum": max,
    "minimum": min,
    "logical_and": lambda x, y: bool(x and y),
    "logical_or": lambda x, y: bool(x or y),
}
_INTEGERS: dict[str, Callable[..., Any]] = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": lambda x: not x if x is True or x is False else ~x,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
}
_OF_ONE = frozenset({"negative", "positive", "absolute", "abs", "invert"})
_BITS = 64


def computes(name: str, args: Sequence[Any]) -> bool:
    """True if ``name`` of ``args`` is Python's to compute."""
    if name in ("equal", "not_equal") and all(isinstance(a, str | tuple | np.dtype) for a in args):
        return all(_is_static(a) for a in args)
    if len(args) != (1 if name in _OF_ONE else 2):
        return False  # the operation itself says what is missing
    if name in _FUNCTIONS:
        return all(isinstance(a, bool | int | float | complex) for a in args)
    return name in _INTEGERS and all(isinstance(a, int) for a in args)


def compute(name: str, args: Sequence[Any]) -> Any:
    """The result, a Python number; divisions by zero and overflows follow IEEE arithmetic."""
    if all(isinstance(a, int) for a in args) and _grows_too_large(name, args):
        raise BadArgument("integers have at most 64 bits")
    try:
        result = (_FUNCTIONS.get(name) or _INTEGERS[name])(*args)
    except (ZeroDivisionError, OverflowError):
        kind = np.complex128 if any(isinstance(a, complex) for a in args) else np.float64
        with np.errstate(all="ignore"):
            result = getattr(np, name)(*[kind(a) for a in args]).item()
    except (ValueError, TypeError) as error:
        raise BadArgument(f"{name} cannot take these numbers: {error}") from None
    if isinstance(result, complex) and not any(isinstance(a, complex) for a in args):
        return math.nan  # NumPy's power of a negative number
    if isinstance(result, int) and not -(1 << 63) <= result < 1 << 64:
        raise BadArgument("integers have at most 64 bits")
    return result


def _grows_too_large(name: str, args: Sequence[int]) -> bool:
    if name == "power" and args[1] > 0 and abs(args[0]) > 1:
        return abs(args[0]).bit_length() * args[1] > 2 * _BITS
    return name == "left_shift" and args[1] > _BITS


def _is_static(x: Any) -> bool:
    """True if a shape, a name or a dtype is known as a whole."""
    return not isinstance(x, tuple) or all(type(item) is int for item in x)
