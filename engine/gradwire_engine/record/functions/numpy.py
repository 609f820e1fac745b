"""NumPy's functions that ask for shapes, and those whose values decide what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.functions.loops import mapped
from gradwire_engine.record.indexing import nonzero
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed

#: Types of values that stand for themselves in a list of functions.
_NUMBERS = (Var, bool, int, float, complex)


def _shape(r: Recorder, a: Any) -> list[int]:
    """Lengths of the axes."""
    return list(r.b.array(a).type.shape)


def _ndim(r: Recorder, a: Any) -> int:
    """Number of axes."""
    return r.b.array(a).ndim


def _size(r: Recorder, a: Any) -> int:
    """Number of elements."""
    return r.b.array(a).type.size


def _argwhere(r: Recorder, a: Any) -> Var:
    """Indices of the elements that are not zero, a row for each."""
    x = r.b.array(a)
    found = nonzero(r, x if x.ndim else r.operation("reshape", x, (1,)))
    stacked: Var = r.operation("stack", found, 1)
    return stacked if x.ndim else r.operation("split", stacked, [0], 1)[0]


def _flatnonzero(r: Recorder, a: Any) -> Var:
    """Indices, in row-major order, of the elements that are not zero."""
    return nonzero(r, r.operation("ravel", a))[0]


def _compress(r: Recorder, condition: Any, a: Any, axis: Any = None) -> Any:
    """The parts of ``a`` along ``axis`` (elements by default) for which the condition holds."""
    return r.operation("take", a, _flatnonzero(r, condition), axis)


def _extract(r: Recorder, condition: Any, arr: Any) -> Any:
    """The elements of ``arr`` for which the condition holds, in row-major order."""
    return _compress(r, condition, arr)


def _bincount(r: Recorder, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """The count of each of 0, 1, 2, … in ``x``, or the sum of its ``weights``.

    As many counts as the largest of ``x`` needs, at least ``minlength``.
    """
    index = r.b.array(x)
    needed = r.integer(r.operation("max", index)) + 1 if index.type.size else 0
    return r.operation("bincount", index, weights, max(needed, r.integer(minlength), 1))


def _unique(
    r: Recorder,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
) -> Any:
    """The different elements in rising order; all NaNs are one.

    Asked for, a list: the elements; where each is first, which of them each element of ``ar`` is,
    and how often each occurs.  Convention: the derivative is that of the first of equal elements.
    """
    x = r.operation("ravel", ar)
    order = r.operation("argsort", x)
    rising, n = r.operation("take", x, order), x.type.size
    before, after = sliced(rising, 0, 0, max(n - 1, 0)), sliced(rising, 0, min(1, n), n)
    # Sorted, NaNs are last: what follows one is another.
    new = r.operation("not_equal", after, before)
    new = r.operation("logical_and", new, r.operation("logical_not", r.operation("isnan", before)))
    first = r.operation("concatenate", [[True][:n], new])
    places = nonzero(r, first)[0]
    found = [r.operation("take", rising, places)]
    if return_index:
        found.append(r.operation("take", order, places))
    if return_inverse:
        which = r.operation("cumsum", r.operation("astype", first, "int64")) - 1
        found.append(r.operation("take", which, r.operation("argsort", order)))
    if return_counts:
        found.append(r.operation("diff", places, append=n))
    return found[0] if len(found) == 1 else found


def _piecewise(r: Recorder, x: Any, condlist: Any, funclist: Any, *args: Any, **named: Any) -> Any:
    """Of each element what the function beside the last true condition gives, or the number there.

    One function more than conditions is for where none holds, else 0 is there.  Convention: what
    was not chosen gets exactly 0, whatever it computes.
    """
    at = r.b.array(x)
    if isinstance(condlist, Var):
        condlist = [condlist] if condlist.ndim == at.ndim else r.items(condlist)
    conditions, choices = r.items(condlist), r.items(funclist)
    if len(choices) not in (len(conditions), len(conditions) + 1):
        raise BadArgument("piecewise needs a function for each condition, and at most one more")
    values = [
        choice if isinstance(choice, _NUMBERS) else r.apply(choice, (at, *args), named)
        for choice in choices
    ]
    z = values.pop() if len(values) > len(conditions) else 0
    for condition, value in zip(conditions, values, strict=True):
        z = r.operation("where", condition, value, z)
    z = r.operation("broadcast_to", r.b.array(z), at.shape)
    return r.b.cast(z, at.dtype)


def _vectorized(r: Recorder, pyfunc: Any, *, otypes: Any = None) -> Transformed:
    """The function that gives ``pyfunc`` of each element of its arguments, broadcast together.

    Decisions are made for each element.
    """

    def each(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if named:
            raise BadArgument("a vectorized function takes arguments by position")
        every = r.operation("broadcast_arrays", *args)
        rows = [r.operation("ravel", x) for x in every]
        found = mapped(r, lambda row: r.apply(pyfunc, row, {}), rows)
        return rebuild(found, lambda z: r.operation("reshape", z, every[0].shape))

    return Transformed(each)


#: Called as ``function(recorder, *args, **named)``, also after a prefix of NumPy's.
COUNTED: dict[str, Callable[..., Any]] = {
    "shape": _shape,
    "ndim": _ndim,
    "size": _size,
    "argwhere": _argwhere,
    "flatnonzero": _flatnonzero,
    "compress": _compress,
    "extract": _extract,
    "bincount": _bincount,
    "unique": _unique,
    "piecewise": _piecewise,
    "vectorize": _vectorized,
}
