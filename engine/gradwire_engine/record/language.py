"""The language's own functions: those that count, loop, decide or differentiate while recording.

Arithmetic on numbers known while recording (literals, shapes, lengths, counters) is Python's:
``1 / 2`` is 0.5 and ``7 // 2`` is 3.  Integers are held to 64 bits before they are computed, so
that no literal expression can grow without bound.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.prelude.compiler import OPERATORS
from gradwire_engine.record import calculus, composites, indexing
from gradwire_engine.record.calculus import SPARSE
from gradwire_engine.record.functions import choices
from gradwire_engine.record.functions.counted import COUNTED
from gradwire_engine.record.functions.jax import COUNTED_BY_JAX
from gradwire_engine.record.functions.jax_control import CONTROL_BY_JAX
from gradwire_engine.record.functions.loops import counted, passes_between, repeat
from gradwire_engine.record.functions.numpy import OF_NUMPY
from gradwire_engine.record.functions.python import PYTHON
from gradwire_engine.record.functions.tensorflow_control import CONTROL_BY_TENSORFLOW
from gradwire_engine.record.functions.torch import COUNTED_BY_TORCH
from gradwire_engine.record.functions.trees import TREES
from gradwire_engine.record.library import LIBRARY
from gradwire_engine.record.loops import Counter, SideBySide
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.transformations import TRANSFORMATIONS
from gradwire_engine.tape import FLOATING

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


#: Names with a meaning that a variable or an assignment of the same name shadows.
CONSTANTS: Mapping[str, Any] = {
    "e": math.e,
    "pi": math.pi,
    "tau": math.tau,
    "euler_gamma": 0.57721566490153286,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    **DTYPES,
    "bool_": DTYPES["bool"],
    "double": DTYPES["float64"],
    **{f"math.{name}": getattr(math, name) for name in ("e", "pi", "tau", "inf", "nan")},
}


def _len(r: Recorder, x: Any) -> int:
    """Number of items; of an array, the length of its first axis."""
    if isinstance(x, Composite):
        return composites.length(x)
    if isinstance(x, Var):
        if not x.ndim:
            raise BadArgument("len of an array without axes")
        return x.shape[0]
    if isinstance(x, list | tuple | dict | range):
        return len(x)
    raise BadArgument(f"{describe(x)} has no length")


def _range(r: Recorder, *bounds: Any) -> range | Counter:
    """Counts from start (0) to before stop by step (1), all integers known while recording.

    The stop and start of a range that a ``for`` goes through may be decided by values.
    """
    if any(isinstance(bound, Var) for bound in bounds) and r.feeds_loop():
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        whole = all(isinstance(x, int) or (_is_count(x) and not x.ndim) for x in (start, stop))
        if whole and isinstance(step, int) and step:
            return Counter(r, start, stop, step)
    numbers = [r.integer(bound) for bound in bounds]
    if not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        raise BadArgument("range takes stop; start, stop; or start, stop, step (not 0)")
    counted = range(*numbers)
    if counted and abs(counted[-1] - counted[0]) >> 62:
        raise BadArgument("a range has less than 2**62 items")
    return counted


def _is_count(x: Any) -> bool:
    return isinstance(x, Var) and x.dtype.kind in "iu"


def _enumerate(r: Recorder, items: Any, start: Any = 0) -> Sequence[Any]:
    """Pairs of a counter and an item."""
    first, given = r.integer(start), r.iterate(items)
    return _side_by_side(r, range(first, first + len(given)), given)


def _zip(r: Recorder, *sequences: Any) -> Sequence[Any]:
    """Items of several sequences side by side, as many as the shortest has."""
    return _side_by_side(r, *[r.iterate(s) for s in sequences])


def _side_by_side(r: Recorder, *sequences: Sequence[Any]) -> Sequence[Any]:
    """A list, unless a loop takes the items one after the other."""
    found = SideBySide(sequences)
    if r.feeds_loop():
        return found
    r.check_length(found)
    return list(found)


def _int(r: Recorder, x: Any) -> int:
    """The integer part, known from here on."""
    if isinstance(x, Var):
        return r.integer(r.b.cast(x, DTYPES["int64"]) if x.dtype.kind in FLOATING else x)
    if isinstance(x, float) and not math.isfinite(x):
        raise BadArgument(f"int of {x}")
    if isinstance(x, bool | int | float):
        return int(x)
    raise BadArgument(f"int of {describe(x)}")


def _float(r: Recorder, x: Any) -> Any:
    """A floating point number, also of the words nan, inf and -inf."""
    if isinstance(x, bool | int | float) or (isinstance(x, str) and x in ("nan", "inf", "-inf")):
        return float(x)
    return r.b.inexact(x)


def _bool(r: Recorder, x: Any) -> bool:
    """A decision on one element."""
    return r.truth(x)


def _list(r: Recorder, x: Any = ()) -> list[Any]:
    """A list of the items."""
    return r.items(x)


def _dict(r: Recorder, items: Any = (), /, **named: Any) -> dict[str, Any]:
    """A dict of pairs of a string and a value, or of another dict's; then what goes by keyword."""
    if isinstance(items, dict):
        return items | named
    pairs = r.items(items)
    named_pairs = [isinstance(p, list | tuple) and len(p) == 2 and type(p[0]) is str for p in pairs]
    if not all(named_pairs):
        raise BadArgument("a dict takes pairs of a string and a value", hint="zip makes pairs")
    return dict(pairs) | named


def _not(r: Recorder, x: Any) -> bool:
    """The opposite decision."""
    return not r.truth(x)


def _is(r: Recorder, x: Any, y: Any) -> bool:
    """True if both are None, True or False alike."""
    return x is y


def _in(r: Recorder, x: Any, items: Any) -> bool:
    """True if a number, string, dtype or shape known while recording is among the items."""
    if isinstance(x, Var) or isinstance(items, Var):
        raise BadArgument("in looks among items known while recording", hint="any(x == items)")
    if not all(isinstance(part, _COMPARED) for part in (x if type(x) in (list, tuple) else (x,))):
        raise BadArgument(f"in looks for a number, a string or a shape, not for {describe(x)}")
    if isinstance(items, dict):
        return isinstance(x, str) and x in items
    if isinstance(items, range):  # Python would go through it for anything but an integer
        return x in items if isinstance(x, int) else isinstance(x, float) and _in_range(x, items)
    return any(x is item or x == item for item in r.items(items) if not isinstance(item, Var))


#: Values that are compared as a whole, in no time that depends on how they were made.
_COMPARED = (bool, int, float, complex, str, np.dtype, type(None))


def _in_range(x: float, items: range) -> bool:
    return x.is_integer() and int(x) in items


def _extreme(name: str, pairwise: str) -> Callable[..., Any]:
    def extreme(r: Recorder, *args: Any, **named: Any) -> Any:
        """Of two or more positional arguments, elementwise; of one, along ``axis``."""
        if len(args) < 2:
            return r.operation(name, *args, **named)
        result = args[0]
        for other in args[1:]:
            if computes(pairwise, [result, other]):
                result = compute(pairwise, [result, other])
            else:
                result = r.operation(pairwise, result, other, **named)
        return result

    return extreme


def _where(r: Recorder, condition: Any, *values: Any) -> Any:
    """``x`` where the condition is true, else ``y``; alone, the indices where it is."""
    if not values:
        return indexing.nonzero(r, condition)
    return r.operation("where", condition, *values)


def _nonzero(r: Recorder, x: Any) -> tuple[Var, ...]:
    """Indices of the elements that are not zero, an array for each axis."""
    return indexing.nonzero(r, x)


def _while_loop(r: Recorder, condition: Any, body: Any, start: Any) -> Any:
    """Repeat ``carry = body(carry)`` while ``condition(carry)``; a tuple is passed item by item."""

    def holds(carry: Any) -> Any:
        return r.apply(condition, _spread(carry), {})

    def step(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        return _like(start, r.apply(body, _spread(carry), {})), None

    return repeat(r, start, step, holds=holds)[0]


def _fori_loop(r: Recorder, lower: Any, upper: Any, body: Any, start: Any) -> Any:
    """``carry = body(i, carry)`` for i from lower to before upper; a tuple goes item by item."""
    first, length = passes_between(r, lower, upper)

    def step(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        given = (counted(r, number, first), *_spread(carry))
        return _like(start, r.apply(body, given, {})), None

    return repeat(r, start, step, length=length)[0]


def _spread(carry: Any) -> tuple[Any, ...]:
    return tuple(carry) if isinstance(carry, tuple | list) else (carry,)


def _like(start: Any, carry: Any) -> Any:
    if not isinstance(start, tuple | list):
        return carry
    if not isinstance(carry, tuple | list) or len(carry) != len(start):
        raise BadArgument(f"the body must give {len(start)} values, as many as it takes")
    return type(start)(carry)


#: Those that are NumPy's, so that its prefix may stand before them.
OF_ARRAYS: dict[str, Callable[..., Any]] = {"where": _where, "nonzero": _nonzero, **OF_NUMPY}
#: Called as ``function(recorder, *args, **named)``.
LANGUAGE: dict[str, Callable[..., Any]] = {
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "list": _list,
    "dict": _dict,
    "to_dense": composites.to_dense,
    "not": _not,
    "is": _is,
    "is_not": lambda r, x, y: x is not y,
    "in": _in,
    "not_in": lambda r, x, items: not _in(r, x, items),
    "max": _extreme("max", "maximum"),
    "min": _extreme("min", "minimum"),
    **PYTHON,
    **TREES,
    **OF_ARRAYS,
    **CONTROL_BY_JAX,
    **COUNTED_BY_JAX,
    **{name: function for name, function in COUNTED.items() if "." in name},
    **CONTROL_BY_TENSORFLOW,
    **COUNTED_BY_TORCH,
    "cond": choices.cond,
    "while_loop": _while_loop,
    "fori_loop": _fori_loop,
    "grad": calculus.grad,
    "value_and_grad": calculus.value_and_grad,
    "jacobian": calculus.jacobian,
    "hessian": calculus.hessian,
    "jvp": calculus.jvp,
    "vjp": calculus.vjp,
    "hvp": calculus.hvp,
    "jax.jacobian": calculus.jacobian,
    **TRANSFORMATIONS,
    **LIBRARY,
    **SPARSE,
}
