"""Functions of Python's own and of its modules ``functools`` and ``math``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed


def _partial(r: Recorder, func: Any, /, *args: Any, **named: Any) -> Transformed:
    """``func`` with its first arguments, and those by keyword, given already."""

    def call(r: Recorder, rest: Sequence[Any], by_name: Mapping[str, Any]) -> Any:
        return r.apply(func, [*args, *rest], named | dict(by_name))

    return Transformed(call)


def reduced(r: Recorder, function: Any, iterable: Any, initial: Any = None) -> Any:
    """``function`` of the first two items, of that and the third, and so on."""
    items = [*([] if initial is None else [initial]), *r.items(iterable)]
    if not items:
        raise BadArgument("reduce of no items needs an initial value")
    return reduce(lambda x, y: r.apply(function, (x, y), {}), items)


def _map(r: Recorder, function: Any, *iterables: Any) -> list[Any]:
    """The list of ``function`` of the items side by side, as many as the shortest has."""
    items = zip(*[r.items(iterable) for iterable in iterables], strict=False)
    return [r.apply(function, given, {}) for given in items]


def _filter(r: Recorder, function: Any, iterable: Any) -> list[Any]:
    """The list of the items of which ``function`` is true, or which are, if it is None."""
    items = r.items(iterable)
    return [x for x in items if r.truth(x if function is None else r.apply(function, (x,), {}))]


def _reversed(r: Recorder, sequence: Any) -> list[Any]:
    """A list of the items, the last one first."""
    return r.items(sequence)[::-1]


def _tuple(r: Recorder, iterable: Any = ()) -> tuple[Any, ...]:
    """A tuple of the items."""
    return tuple(r.items(iterable))


def _chain(r: Recorder, *iterables: Any) -> list[Any]:
    """A list of the items of all, one after the other."""
    items = [item for iterable in iterables for item in r.items(iterable)]
    r.check_length(items)
    return items


def _chain_from(r: Recorder, iterable: Any) -> list[Any]:
    """A list of the items of all that ``iterable`` has, one after the other."""
    return _chain(r, *r.items(iterable))


def _sorted(r: Recorder, iterable: Any, *, reverse: Any = False) -> Any:
    """The items in rising order, or in falling: a list of those known, else an array."""
    items, falling = r.items(iterable), r.truth(reverse)
    if not any(isinstance(item, Var) for item in items):
        return sorted(items, reverse=falling)
    if any(isinstance(item, Var) and item.ndim for item in items):
        raise BadArgument("sorted compares numbers, not arrays", hint="sort orders along an axis")
    rising = r.operation("sort", items)
    return r.operation("flip", rising) if falling else rising


def _prod(r: Recorder, iterable: Any, /) -> Any:
    """The product of the items; of lengths, an integer known while recording."""
    items = r.items(iterable)
    known = all(isinstance(item, int | float) for item in items)
    return math.prod(items) if known else r.operation("prod", items)


def _floor(r: Recorder, x: Any, /) -> Any:
    """The largest integer that is not above ``x``, known from here on."""
    return _whole(r, "floor", x)


def _ceil(r: Recorder, x: Any, /) -> Any:
    """The smallest integer that is not below ``x``, known from here on."""
    return _whole(r, "ceil", x)


def _trunc(r: Recorder, x: Any, /) -> Any:
    """The integer part of ``x``, known from here on."""
    return _whole(r, "trunc", x)


def _whole(r: Recorder, name: str, x: Any) -> int:
    if not isinstance(x, Var):
        return int(getattr(math, name)(x))
    return r.integer(r.operation("astype", r.operation(name, x), "int64"))


def _of_math(name: str, operation: str) -> Callable[..., Any]:
    known = getattr(math, name)

    def compute(r: Recorder, *args: Any) -> Any:
        if all(isinstance(x, int | float) for x in args):
            return known(*args)
        if any(isinstance(x, Var) and x.type.size != 1 for x in args):
            hint = f"write {operation}(x)"
            raise BadArgument(f"math.{name} takes numbers, not arrays of several", hint=hint)
        return r.operation(operation, *args)

    compute.__doc__ = f"``{operation}`` of numbers, as Python computes it."
    return compute


def _log(r: Recorder, x: Any, base: Any = None, /) -> Any:
    """The natural logarithm of a number, or that to a base."""
    log = _of_math("log", "log")
    return log(r, x) if base is None else r.operation("divide", log(r, x), log(r, base))


_SAME = (
    "exp exp2 expm1 log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh asin acos atan asinh "
    "acosh atanh atan2 fmod hypot copysign degrees radians erf erfc gamma gcd lcm factorial comb "
    "isnan isinf isfinite"
)
#: Functions of ``math``, and the operations that they are of values.
_MATH = {name: name for name in _SAME.split()} | {
    "fabs": "abs",
    "pow": "power",
    "lgamma": "gammaln",
}
#: Called as ``function(recorder, *args, **named)``.
PYTHON: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("partial", "functools.partial"), _partial),
    **dict.fromkeys(("reduce", "functools.reduce"), reduced),
    "map": _map,
    "filter": _filter,
    "reversed": _reversed,
    "sorted": _sorted,
    "tuple": _tuple,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "math.floor": _floor,
    "math.ceil": _ceil,
    "math.trunc": _trunc,
    "math.prod": _prod,
    "math.log": _log,
    **{f"math.{name}": _of_math(name, operation) for name, operation in _MATH.items()},
}
