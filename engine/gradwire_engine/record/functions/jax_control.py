"""JAX's control flow: functions of functions, of which what is taken is recorded.

What goes in and out of the functions may be nested: an array, or lists and dicts of such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.record.functions import choices
from gradwire_engine.record.functions.loops import (
    arrays_of,
    counted,
    flipped,
    mapped,
    of_no_rows,
    passes_between,
    repeat,
)
from gradwire_engine.record.recorder import Recorder


def _while_loop(r: Recorder, cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """Repeat ``carry = body_fun(carry)`` while ``cond_fun(carry)``."""

    def body(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        return r.apply(body_fun, (carry,), {}), None

    return repeat(r, init_val, body, holds=lambda carry: r.apply(cond_fun, (carry,), {}))[0]


def _fori_loop(r: Recorder, lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
    """``carry = body_fun(i, carry)`` for i from lower to before upper."""
    first, length = passes_between(r, lower, upper)

    def body(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        return r.apply(body_fun, (counted(r, number, first), carry), {}), None

    return repeat(r, init_val, body, length=length)[0]


def _scan(
    r: Recorder,
    f: Any,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: Any = False,
) -> list[Any]:
    """``carry, y = f(carry, x)`` for each row of ``xs``: the last carry, and all ``y`` stacked."""
    backwards = r.truth(reverse)
    count = None if length is None else r.integer(length)
    rows = None if xs is None or not leaves(xs) else arrays_of(r, xs)
    if rows is not None and count not in (None, leaves(rows)[0].shape[0]):
        raise BadArgument(f"scan over {leaves(rows)[0].shape[0]} rows has no length of {count}")
    if rows is None and (count is None or count < 0):
        raise BadArgument("scan needs arrays to go through, or a length of at least 0")

    def body(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        found = r.apply(f, (carry, xs if rows is None else row), {})
        if not isinstance(found, list | tuple) or len(found) != 2:
            raise BadArgument("the function of scan gives two values: the carry, and what to stack")
        return found[0], found[1]

    if not (count if rows is None else leaves(rows)[0].shape[0]):
        empty = r.b.numbers(0) if rows is None else rows
        return [init, of_no_rows(r, lambda row: body(0, init, row)[1], empty)]
    given = flipped(r, rows) if backwards else rows
    carry, made = repeat(r, init, body, length=count or 0, rows=given)
    return [carry, flipped(r, made) if backwards else made]


def _map(r: Recorder, f: Any, xs: Any) -> Any:
    """The results of ``f`` for each row of ``xs``, stacked."""
    return mapped(r, lambda row: r.apply(f, (row,), {}), arrays_of(r, xs))


def _associative_scan(r: Recorder, fn: Any, elems: Any, reverse: Any = False, axis: Any = 0) -> Any:
    """Running result of the associative ``fn`` along ``axis``, from the end if ``reverse``.

    Each call combines all pairs of one distance: 1, 2, 4, ….  Source: Hillis and Steele, Data
    Parallel Algorithms (1986).
    """
    elems = rebuild(elems, r.b.array)
    shapes = [x.shape for x in leaves(elems)]
    if not shapes:
        raise BadArgument("associative_scan needs at least one array")
    place = axis_of(axis, len(shapes[0]), "associative_scan")
    if len({shape[place : place + 1] for shape in shapes}) != 1:
        raise ShapeMismatch(
            f"associative_scan needs arrays of one length along axis {place}, got shapes {shapes}"
        )
    if backwards := r.truth(reverse):
        elems = rebuild(elems, lambda x: r.operation("flip", x, place))
    length, apart = shapes[0][place], 1
    while apart < length:
        earlier, later = _part(elems, place, 0, length - apart), _part(elems, place, apart, length)
        combined = rebuild(r.apply(fn, (earlier, later), {}), r.b.array)
        given, wanted = ([x.shape for x in leaves(part)] for part in (combined, later))
        if given != wanted:
            raise ShapeMismatch(
                "the function of associative_scan must give arrays of the shapes it takes, "
                f"{wanted}, not {given}"
            )
        elems = _joined(r, _part(elems, place, 0, apart), combined, place)
        apart *= 2
    return rebuild(elems, lambda x: r.operation("flip", x, place)) if backwards else elems


def _part(elems: Any, axis: int, start: int, stop: int) -> Any:
    return rebuild(elems, lambda x: sliced(x, axis, start, stop))


def _joined(r: Recorder, first: Any, second: Any, axis: int) -> Any:
    following = iter(leaves(second))
    return rebuild(first, lambda x: r.operation("concatenate", [x, next(following)], axis))


_CONTROL: dict[str, Callable[..., Any]] = {
    "cond": choices.cond,
    "switch": choices.switch,
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
