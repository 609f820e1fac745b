"""JAX's control flow: functions of functions, of which what is taken is recorded.

What goes in and out of the functions may be nested: an array, or lists and dicts of such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.record.calculus import leaves, rebuild

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


def _cond(r: Recorder, pred: Any, true_fun: Any, false_fun: Any, *operands: Any) -> Any:
    """``true_fun(*operands)`` where the predicate holds, else ``false_fun(*operands)``."""
    return r.apply(true_fun if r.truth(pred) else false_fun, operands, {})


def _switch(r: Recorder, index: Any, branches: Any, *operands: Any) -> Any:
    """What branch number ``index`` gives, the nearest there is; only it is recorded."""
    functions = r.items(branches)
    if not functions:
        raise BadArgument("switch needs branches")
    number = min(max(r.integer(index), 0), len(functions) - 1)
    return r.apply(functions[number], operands, {})


def _while_loop(r: Recorder, cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """Repeat ``carry = body_fun(carry)`` while ``cond_fun(carry)``."""
    carry = init_val
    while r.truth(r.apply(cond_fun, (carry,), {})):
        r.poll()
        carry = r.apply(body_fun, (carry,), {})
    return carry


def _fori_loop(r: Recorder, lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
    """``carry = body_fun(i, carry)`` for i from lower to before upper."""
    carry = init_val
    for i in range(r.integer(lower), r.integer(upper)):
        r.poll()
        carry = r.apply(body_fun, (i, carry), {})
    return carry


def _scan(
    r: Recorder,
    f: Any,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: Any = False,
) -> list[Any]:
    """``carry, y = f(carry, x)`` for each row of ``xs``: the last carry, and all ``y`` stacked."""
    rows = [None] * r.integer(length or 0) if xs is None else _rows(r, xs)
    if length is not None and len(rows) != r.integer(length):
        raise BadArgument(f"scan over {len(rows)} rows has no length of {length}")
    carry, made = init, []
    for row in reversed(rows) if r.truth(reverse) else rows:
        r.poll()
        found = r.apply(f, (carry, row), {})
        if not isinstance(found, list | tuple) or len(found) != 2:
            raise BadArgument("the function of scan gives two values: the carry, and what to stack")
        carry, y = found
        made.append(y)
    return [carry, _stacked(r, made[::-1] if r.truth(reverse) else made)]


def _map(r: Recorder, f: Any, xs: Any) -> Any:
    """What ``f`` gives for each row of ``xs``, stacked."""
    made = []
    for row in _rows(r, xs):
        r.poll()
        made.append(r.apply(f, (row,), {}))
    return _stacked(r, made)


def _associative_scan(r: Recorder, fn: Any, elems: Any, reverse: Any = False, axis: Any = 0) -> Any:
    """Running result of the associative ``fn`` along ``axis``, from the end if ``reverse``.

    Each call combines all pairs of one distance: 1, 2, 4, ….  Source: Hillis and Steele, Data
    Parallel Algorithms (1986).
    """
    elems = rebuild(elems, r.b.array)
    first = leaves(elems)[0]
    place = axis_of(axis, first.ndim, "associative_scan")
    if backwards := r.truth(reverse):
        elems = rebuild(elems, lambda x: r.operation("flip", x, place))
    length, apart = first.shape[place], 1
    while apart < length:
        earlier, later = _part(elems, place, 0, length - apart), _part(elems, place, apart, length)
        combined = r.apply(fn, (earlier, later), {})
        elems = _joined(r, _part(elems, place, 0, apart), combined, place)
        apart *= 2
    return rebuild(elems, lambda x: r.operation("flip", x, place)) if backwards else elems


def _part(elems: Any, axis: int, start: int, stop: int) -> Any:
    return rebuild(elems, lambda x: sliced(x, axis, start, stop))


def _joined(r: Recorder, first: Any, second: Any, axis: int) -> Any:
    following = iter(leaves(second))
    return rebuild(first, lambda x: r.operation("concatenate", [x, next(following)], axis))


def _rows(r: Recorder, xs: Any) -> list[Any]:
    """The rows of arrays that are nested in any way, each nested so."""
    if not isinstance(xs, dict | list | tuple):
        return r.items(r.b.array(xs))
    columns = [_rows(r, part) for part in (xs.values() if isinstance(xs, dict) else xs)]
    if len({len(column) for column in columns}) != 1:
        raise BadArgument("arrays that are gone through together have equally many rows")
    rows = zip(*columns, strict=True)
    if isinstance(xs, dict):
        return [dict(zip(xs, row, strict=True)) for row in rows]
    return [list(row) for row in rows]


def _stacked(r: Recorder, made: Sequence[Any]) -> Any:
    if not made:
        raise BadArgument("of no rows the shape of the result is not known")
    if made[0] is None:
        return None
    if isinstance(made[0], dict):
        return {key: _stacked(r, [item[key] for item in made]) for key in made[0]}
    if isinstance(made[0], list | tuple):
        return [_stacked(r, part) for part in zip(*made, strict=True)]
    return r.operation("stack", list(made))


_CONTROL: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "switch": _switch,
    "while_loop": _while_loop,
    "fori_loop": _fori_loop,
    "scan": _scan,
    "map": _map,
    "associative_scan": _associative_scan,
}
#: Called as ``function(recorder, *args, **named)``.
CONTROL_BY_JAX: dict[str, Callable[..., Any]] = {
    f"{prefix}.{name}": function
    for prefix in ("lax", "jax.lax")
    for name, function in _CONTROL.items()
}
