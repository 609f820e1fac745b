"""TensorFlow's control flow: functions of functions, of which what is taken is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.record.functions import choices
from gradwire_engine.record.functions.loops import arrays_of, flipped, mapped, of_no_rows, repeat
from gradwire_engine.record.loops import RowsOf
from gradwire_engine.record.recorder import Recorder


def _cond(r: Recorder, pred: Any, true_fn: Any, false_fn: Any, name: Any = None) -> Any:
    """``true_fn()`` where the predicate holds, else ``false_fn()``."""
    return choices.cond(r, pred, true_fn, false_fn)


def _case(r: Recorder, pred_fn_pairs: Any, default: Any = None, name: Any = None) -> Any:
    """The result of the function beside the first predicate that holds, else of ``default()``."""
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
    """The result of function number ``branch_index``; of others ``default``, else the last one."""
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
    most = None if maximum_iterations is None else r.integer(maximum_iterations)

    def step(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        found = r.apply(body, carry, {})
        found = list(found) if isinstance(found, list | tuple) else [found]
        if len(found) != len(carry):
            raise BadArgument(f"the body must give {len(carry)} values, as many as it takes")
        return found, None

    return repeat(r, carry, step, holds=lambda carry: r.apply(cond, carry, {}), length=most)[0]


def _map_fn(
    r: Recorder, fn: Any, elems: Any, fn_output_signature: Any = None, name: Any = None
) -> Any:
    """``fn`` of each row of ``elems``, or of the tuple of rows of several, stacked.

    What it gives is what it computes, whatever ``fn_output_signature`` announces.
    """
    return mapped(r, lambda row: r.apply(fn, (_tuples(row),), {}), arrays_of(r, elems))


def _vectorized_map(r: Recorder, fn: Any, elems: Any) -> Any:
    """``fn`` of each row of ``elems``, or of the tuple of rows of several, stacked."""
    return _map_fn(r, fn, elems)


def _folded(r: Recorder, fn: Any, elems: Any, start: Any, *, last: bool = False) -> list[Any]:
    """The last total of ``total = fn(total, row)``, and all stacked, from ``start`` or a row on."""
    rows = flipped(r, arrays_of(r, elems)) if last else arrays_of(r, elems)
    if start is None:
        if not all(x.shape[0] for x in leaves(rows)):
            raise BadArgument("there is nothing to begin with: give an initializer")
        first = rebuild(rows, lambda x: RowsOf(x)[0])
        start, rows = first, rebuild(rows, lambda x: sliced(x, 0, 1, x.shape[0]))
    else:
        first = None

    def body(number: Any, total: Any, row: Any) -> tuple[Any, Any]:
        total = r.apply(fn, (total, _tuples(row)), {})
        return total, total

    total, totals = repeat(r, start, body, rows=rows)
    if first is not None:
        begun = rebuild(first, lambda x: r.operation("expand_dims", x, 0))
        stacks = leaves(begun) if totals is None else leaves(totals)
        if len(stacks) != len(leaves(begun)):
            raise BadArgument(
                f"a total must be nested as a row is, of {len(leaves(begun))} arrays, "
                f"not {len(stacks)}",
                hint="give an initializer nested as the totals are",
            )
        rest = iter(stacks)
        join = lambda x: r.operation("concatenate", [x, next(rest)])  # noqa: E731
        totals = begun if totals is None else rebuild(begun, join)
    return [total, totals]


def _foldl(r: Recorder, fn: Any, elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """``total = fn(total, row)`` over the rows, from ``initializer`` or from the first row."""
    return _folded(r, fn, elems, initializer)[0]


def _foldr(r: Recorder, fn: Any, elems: Any, initializer: Any = None, name: Any = None) -> Any:
    """``total = fn(total, row)`` over the rows from the last, or from ``initializer``, on."""
    return _folded(r, fn, elems, initializer, last=True)[0]


def _scan(
    r: Recorder,
    fn: Any,
    elems: Any,
    initializer: Any = None,
    reverse: Any = False,
    name: Any = None,
) -> Any:
    """All totals of ``total = fn(total, row)`` over the rows, or from the last on, stacked."""
    backwards = r.truth(reverse)
    totals = _folded(r, fn, elems, initializer, last=backwards)[1]
    if totals is None:
        total = lambda row: r.apply(fn, (initializer, _tuples(row)), {})  # noqa: E731
        return of_no_rows(r, total, arrays_of(r, elems))
    return flipped(r, totals) if backwards else totals


def _tuples(row: Any) -> Any:
    """The rows of several arrays as a function takes them."""
    return tuple(row) if isinstance(row, list) else row


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
