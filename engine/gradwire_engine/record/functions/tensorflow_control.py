"""TensorFlow's control flow: functions of functions, of which what is taken is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


def _cond(r: Recorder, pred: Any, true_fn: Any, false_fn: Any, name: Any = None) -> Any:
    """``true_fn()`` where the predicate holds, else ``false_fn()``; one is recorded."""
    return r.apply(true_fn if r.truth(pred) else false_fn, (), {})


def _case(r: Recorder, pred_fn_pairs: Any, default: Any = None, name: Any = None) -> Any:
    """What the function beside the first predicate that holds gives, else ``default()``."""
    for pair in r.items(pred_fn_pairs):
        if len(r.iterate(pair)) != 2:
            raise BadArgument("case needs pairs of a predicate and a function")
        predicate, function = r.items(pair)
        if r.truth(predicate):
            return r.apply(function, (), {})
    if default is None:
        raise BadArgument("none of the predicates of case holds, and there is no default")
    return r.apply(default, (), {})


def _switch_case(
    r: Recorder, branch_index: Any, branch_fns: Any, default: Any = None, name: Any = None
) -> Any:
    """What function number ``branch_index`` gives; of others ``default``, else the last one."""
    functions, index = r.items(branch_fns), r.integer(branch_index)
    if not functions:
        raise BadArgument("switch_case needs functions")
    other = functions[-1] if default is None else default
    return r.apply(functions[index] if 0 <= index < len(functions) else other, (), {})


def _while_loop(
    r: Recorder,
    cond: Any,
    body: Any,
    loop_vars: Any,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """Repeat ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)``, at most so many times."""
    carry = r.items(loop_vars)
    left = None if maximum_iterations is None else r.integer(maximum_iterations)
    while left != 0 and r.truth(r.apply(cond, carry, {})):
        r.poll()
        found = r.apply(body, carry, {})
        found = list(found) if isinstance(found, list | tuple) else [found]
        if len(found) != len(carry):
            raise BadArgument(f"the body must give {len(carry)} values, as many as it takes")
        carry, left = found, None if left is None else left - 1
    return carry


def _rows(r: Recorder, elems: Any) -> list[Any]:
    """What a function is applied to in turn: rows of an array, or tuples of those of several."""
    if not isinstance(elems, list | tuple):
        return r.items(elems)
    parts = [r.items(part) for part in elems]
    if len({len(part) for part in parts}) != 1:
        raise BadArgument("arrays that are gone through together have equally many rows")
    return list(zip(*parts, strict=True))


def _stacked(r: Recorder, found: Sequence[Any]) -> Any:
    if not found:
        raise BadArgument("of no rows the shape of the result is not known")
    if isinstance(found[0], list | tuple):
        return [_stacked(r, part) for part in zip(*found, strict=True)]
    return r.operation("stack", list(found))


def _map_fn(
    r: Recorder, fn: Any, elems: Any, fn_output_signature: Any = None, name: Any = None
) -> Any:
    """``fn`` of each row of ``elems``, or of the tuple of rows of several, stacked.

    What it gives is what it computes, whatever ``fn_output_signature`` announces.
    """
    return _stacked(r, [r.apply(fn, (row,), {}) for row in _rows(r, elems)])


def _vectorized_map(r: Recorder, fn: Any, elems: Any) -> Any:
    """``fn`` of each row of ``elems``, or of the tuple of rows of several, stacked."""
    return _map_fn(r, fn, elems)


def _folded(r: Recorder, fn: Any, rows: list[Any], start: Any) -> list[Any]:
    """All totals of ``total = fn(total, row)``, from ``start``, or from the first row."""
    if start is None and not rows:
        raise BadArgument("there is nothing to begin with: give an initializer")
    total, rest = (rows[0], rows[1:]) if start is None else (start, rows)
    totals = [total] if start is None else []
    for row in rest:
        r.poll()
        total = r.apply(fn, (total, row), {})
        totals.append(total)
    return totals or [total]


def _foldl(r: Recorder, fn: Any, elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """``total = fn(total, row)`` over the rows, from ``initializer`` or from the first row."""
    return _folded(r, fn, _rows(r, elems), initializer)[-1]


def _foldr(r: Recorder, fn: Any, elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """``total = fn(total, row)`` over the rows from the last, or from ``initializer``, on."""
    return _folded(r, fn, _rows(r, elems)[::-1], initializer)[-1]


def _scan(
    r: Recorder,
    fn: Any,
    elems: Any,
    initializer: Any = None,
    reverse: Any = False,
    name: Any = None,
) -> Any:
    """All totals of ``total = fn(total, row)`` over the rows, or from the last on, stacked."""
    rows = _rows(r, elems)
    totals = _folded(r, fn, rows[::-1] if reverse else rows, initializer)
    return _stacked(r, totals[::-1] if reverse else totals)


#: Called as ``function(recorder, *args, **named)``.
CONTROL_BY_TENSORFLOW: dict[str, Callable[..., Any]] = {
    "tf.cond": _cond,
    "tf.case": _case,
    "tf.switch_case": _switch_case,
    "tf.while_loop": _while_loop,
    "tf.map_fn": _map_fn,
    "tf.vectorized_map": _vectorized_map,
    "tf.foldl": _foldl,
    "tf.foldr": _foldr,
    "tf.scan": _scan,
}
