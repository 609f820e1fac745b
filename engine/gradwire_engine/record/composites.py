"""Sparse and ragged tensors in programs: products, sums, and functions that keep their form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwire_engine import dialects
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.segments import at_ids
from gradwire_engine.ops.arrays.shape import swap_last, unsqueeze
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.axes import axes_of, without
from gradwire_engine.ops.base import Function, Op
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Composite, Ragged, Sparse
from gradwire_engine.ops.constants import Copy, StopGradient
from gradwire_engine.ops.linalg.sparse import matrix_parts
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.record.recorder import Recorder

#: Types that arguments are searched for.
COMPOSITES = frozenset((Sparse, Ragged))
#: Methods, and the functions that they call.
METHODS = {
    **{name: name for name in "sum mean max min prod dot astype to_dense".split()},
    **dict.fromkeys(("to_tensor", "todense", "toarray"), "to_dense"),
}
#: Reductions that also exist for a ragged tensor's rows.
_REDUCTIONS = frozenset(("sum", "mean", "max", "min", "prod"))
#: Of elements: what zeros keep, whatever adds up at one place.
_LINEAR = frozenset("positive negative multiply divide astype copy stop_gradient".split())
_HINT = "compute with its values, or with to_dense of it"


def to_dense(r: Recorder, x: Any) -> Any:
    """The array of a sparse tensor, elements of one place added up; of a ragged one, padded by 0.

    An array is itself.
    """
    if isinstance(x, Sparse):
        return _summed(r, x, ())
    if not isinstance(x, Ragged):
        return r.b.array(x)
    values, splits, rows = x["values"], x["row_splits"], _rows(x)
    places = arange(r.b, values.shape[0]) - at_ids(splits, rows)
    count = length(x)
    lengths = sliced(splits, 0, 1, count + 1) - sliced(splits, 0, 0, count)
    longest = r.integer(r.operation("max", lengths)) if count else 0
    rest = values.shape[1:]
    pattern = (ARRAY, ARRAY, *(FULL,) * len(rest))
    return ScatterAdd(pattern, (count, longest, *rest))(values, rows, places)


def attribute(x: Composite, name: str) -> Any:
    """The attribute of a whole tensor, or None if it has none of this name."""
    if name == "dtype":
        return x["values"].dtype
    if isinstance(x, Sparse):
        if name in ("shape", "ndim"):
            return x.shape if name == "shape" else len(x.shape)
        if name == "T" and len(x.shape) == x["indices"].shape[1]:
            return Sparse({**x, "indices": Flip((1,))(x["indices"])}, x.shape[::-1])
    return None


def length(x: Composite) -> int:
    """Length of the first axis."""
    return x.shape[0] if isinstance(x, Sparse) else int(x["row_splits"].shape[0]) - 1


def rows(r: Recorder, x: Composite) -> list[Var]:
    """The items of a ragged tensor that a loop goes through."""
    if not isinstance(x, Ragged):
        raise BadArgument(f"cannot go through {x}", hint=_HINT)
    return [row(r, x, i) for i in range(length(x))]


def row(r: Recorder, x: Ragged, index: Any) -> Var:
    """A row of a ragged tensor; its bounds are known from here on."""
    splits, count = x["row_splits"], length(x)
    place = r.integer(index)
    if not -count <= place < count:
        raise BadArgument(f"index {place} is out of range for {count} rows")
    start, stop = [r.integer(picked(splits, 0, place % count + i)) for i in (0, 1)]
    return sliced(x["values"], 0, start, stop)


def rule(function: Function) -> Callable[..., Any] | None:
    """The recorder of a function of which an argument is a tensor in parts; None if itself does."""
    meant = [dialect.meant.get(function.name) for dialect in dialects.DIALECTS]
    name = next((own for own in meant if own is not None), function.name)
    if not name:  # a dialect's own function says itself what it takes
        return None
    if name in ("matmul", "dot"):
        return _product
    if name in _REDUCTIONS:
        return partial(_reduced, name)
    return partial(_by_elements, name, function.name)


def _by_elements(name: str, called: str, r: Recorder, *args: Any, **named: Any) -> Composite:
    """Apply a function to each element alone; the tensor's form stays."""
    first, *others = [x for x in args if isinstance(x, Composite)]
    if isinstance(first, Sparse) and not _is_linear(name, args):
        raise _refusal(name, first)
    for other in others:
        _check_alike(r, first, other)
    dense = [x for x in args if isinstance(x, Var | list | tuple)]
    if any(not isinstance(x, Var) or x.type.size != 1 for x in dense):
        raise BadArgument(f"{name} takes no array beside {first}", hint=_HINT)
    start = len(r.b.instructions)
    values = [x["values"] if isinstance(x, Composite) else x for x in args]
    z = r.operation(called, *values, **named)
    made = r.b.instructions[start:]
    kept = isinstance(z, Var) and z.shape == first["values"].shape
    if not kept or not all(_keeps_places(i.op) for i in made if i.args):
        raise _refusal(name, first)
    return first.of(values=z)


def _keeps_places(op: Op) -> bool:
    return op.elementwise or isinstance(op, Copy | StopGradient)


def _is_linear(name: str, args: Sequence[Any]) -> bool:
    """True if sparse operands may be taken element by element: zeros stay, and sums are kept."""
    if all(isinstance(x, Sparse) for x in args[:2]) and len(args) == 2:
        return name in ("add", "subtract")
    return name in _LINEAR and (isinstance(args[0], Sparse) or name == "multiply")


def _check_alike(r: Recorder, x: Composite, y: Composite) -> None:
    """Refuse tensors whose values are at different places; which they are is decided now."""
    place = "row_splits" if isinstance(x, Ragged) else "indices"
    if type(x) is not type(y) or x.shape != y.shape:
        raise BadArgument(f"{x} and {y} have different places", hint=_HINT)
    if x[place] is not y[place] and not r.truth(r.operation("array_equal", x[place], y[place])):
        raise ShapeMismatch(f"these go together where their {place} are equal", hint=_HINT)


def _product(r: Recorder, x: Any, y: Any) -> Any:
    """Product of a sparse matrix and a dense operand, on either side."""
    sparse, other, turned = (x, y, False) if isinstance(x, Sparse) else (y, x, True)
    if not isinstance(sparse, Sparse) or isinstance(other, Composite):
        raise BadArgument(f"matmul does not take {describe(x)} and {describe(y)}", hint=_HINT)
    values, places, shape = matrix_parts(sparse)
    dense = r.b.array(other)
    dense = swap_last(dense) if turned and dense.ndim > 1 else dense
    z: Var = r.operation("sparse.coo_matmul", values, *places, shape, dense, turned)
    return swap_last(z) if turned and z.ndim > 1 else z


def _reduced(name: str, r: Recorder, x: Any, axis: Any = None) -> Any:
    """All elements or those along axes: of a sparse tensor the sum, of a ragged one by rows."""
    if isinstance(x, Sparse):
        if name != "sum":
            raise _refusal(name, x)
        return _summed(r, x, axes_of(axis, len(x.shape), name))
    if not isinstance(x, Ragged):
        raise BadArgument(f"{name} does not take {describe(x)} and {describe(axis)}", hint=_HINT)
    values: Var = x["values"]
    axes = axes_of(axis, values.ndim + 1, name)
    if len(axes) == values.ndim + 1:
        return r.operation(name, values)
    if 0 in axes:
        raise BadArgument(f"{name} does not take {x} along its rows", hint=_HINT)
    inner = tuple([a - 1 for a in axes if a > 1])
    if 1 not in axes:
        return x.of(values=r.operation(name, values, inner))
    if inner:
        values = r.operation(name, values, inner)
    z = r.operation(f"segment_{name}", values, _rows(x), length(x))
    if name != "mean":
        return z
    empty = r.operation("equal", r.operation("diff", x["row_splits"]), 0)
    return r.operation("where", unsqueeze(empty, tuple(range(1, z.ndim))), math.nan, z)


def _summed(r: Recorder, x: Sparse, axes: tuple[int, ...]) -> Any:
    """The dense sum of a sparse tensor along ``axes``; along none, the tensor itself."""
    values, indices = x["values"], x["indices"]
    depth = indices.shape[1]
    slices = tuple([axis - depth + 1 for axis in axes if axis >= depth])
    if axes:
        values = r.operation("sum", values, slices)  # along none of its axes for the dtype alone
    kept = [axis for axis in range(depth) if axis not in axes]
    if not kept:
        return r.operation("sum", values, 0)
    pattern = (ARRAY,) * len(kept) + (FULL,) * (values.ndim - 1)
    places = [picked(indices, 1, axis) for axis in kept]
    return ScatterAdd(pattern, without(x.shape, axes))(values, *places)


def _rows(x: Ragged) -> Var:
    """The row of each value."""
    numbers = arange(x["values"].builder, x["values"].shape[0])
    return SearchSorted("right")(x["row_splits"], numbers) - 1


def _refusal(name: str, x: Composite) -> BadArgument:
    return BadArgument(f"{name} does not take {x}", hint=_HINT)
