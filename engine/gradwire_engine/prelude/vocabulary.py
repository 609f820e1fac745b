"""Names in the prelude: operators, operations, and words that programs do not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwire_engine.errors import BadArgument, DomainError, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import diagonal_length, embedded, nearest_offset
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import listed
from gradwire_engine.ops.arrays.segments import added_at_ids, check_ids
from gradwire_engine.ops.arrays.shape import reshape, swap_last, transpose, unsqueeze
from gradwire_engine.ops.arrays.slicing import few_parts, of_lengths, picked, sliced
from gradwire_engine.ops.arrays.windows import bordered, borders, per_axis, span, window_counts
from gradwire_engine.ops.axes import (
    axes_of,
    axis_of,
    choice,
    counts,
    flag,
    integer,
    integers,
    lengths,
    number,
    range_of,
    reshaped,
)
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES, SINGLETONS
from gradwire_engine.ops.builder import Builder, Var, check_nesting, describe
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import (
    broadcast_shapes,
    conj,
)
from gradwire_engine.ops.images.interpolation import BORDERS, SPLINES, inside, sampled, within
from gradwire_engine.ops.images.resampling import cubic, hat, nearest, stretched
from gradwire_engine.ops.linalg.coordinates import check_places, check_values
from gradwire_engine.ops.linalg.matrix_functions import Expm
from gradwire_engine.ops.linalg.products import times
from gradwire_engine.ops.linalg.singular import completed
from gradwire_engine.ops.linalg.solving import adjoint
from gradwire_engine.ops.linalg.sparse import matrix_parts, sparse_of
from gradwire_engine.ops.linalg.structured import moved
from gradwire_engine.ops.networks.attention import attention_weights
from gradwire_engine.ops.patterns import ARRAY, Span, complete_pattern
from gradwire_engine.ops.promotion import (
    dtype_of,
    finfo,
    inexact_promoted,
    real_of,
    special_promoted,
)
from gradwire_engine.ops.random.keys import (
    drawn_dtype,
    shape_for,
)
from gradwire_engine.ops.reductions.norms import Norm
from gradwire_engine.ops.reductions.order_statistics import QUANTILE_METHODS, known_place
from gradwire_engine.ops.reductions.reductions import Sum, spread
from gradwire_engine.ops.rules import by_formula
from gradwire_engine.ops.sequences.cumulative import shifted
from gradwire_engine.ops.signals.convolution import reversed_conj
from gradwire_engine.ops.signals.pooling import pooled_axes
from gradwire_engine.prelude.compiler import OPERATORS, TRUE
from gradwire_engine.tape import FLOATING, ArrayType, kind_of

#: Those that record one instruction on two arrays of one floating dtype.
_ALONE = frozenset(
    "add subtract multiply divide equal not_equal less less_equal greater greater_equal".split()
)
#: Types of values that become constants of an operand's floating dtype.
_REAL = (float, int, bool)
#: Types that Python computes with, and compares, known while recording.
_NUMBERS = (int, float, complex, np.ndarray)
_COMPARED = (*_NUMBERS, str, tuple, np.dtype, type(None))


def _binary(name: str) -> Callable[..., Any]:
    """An operator: Python's on what is known while recording, else the operation."""
    record, known = FUNCTIONS[name].record, OPERATORS[name]
    op: Any = SINGLETONS[name] if name in _ALONE else None
    kinds = _COMPARED if name in ("equal", "not_equal") else (*_NUMBERS, str)

    def apply(b: Builder, x: Any, y: Any) -> Any:
        if type(x) is Var:
            of_x = x.type
            if op is not None and of_x.dtype.kind in FLOATING:
                if type(y) is Var:
                    if y.type.dtype is of_x.dtype:
                        return b.emit(op, x, y)
                elif type(y) in _REAL and not of_x.weak:
                    return b.emit(op, x, b.scalar(y, of_x.dtype))
        elif type(y) is Var:
            of_y = y.type
            if (
                op is not None
                and of_y.dtype.kind in FLOATING
                and type(x) in _REAL
                and not of_y.weak
            ):
                return b.emit(op, b.scalar(x, of_y.dtype), y)
        elif isinstance(x, kinds) and isinstance(y, kinds):
            return known(x, y)
        return record(b, x, y)

    return apply


def _negative(b: Builder, x: Any) -> Any:
    return FUNCTIONS["negative"].record(b, x) if isinstance(x, Var) else -x


def _extreme(along: str, pairwise: str, known: Callable[..., Any]) -> Callable[..., Any]:
    """Of two positional arguments the one, else that of an array's elements."""

    def apply(b: Builder, *args: Any, **named: Any) -> Any:
        if args and all(isinstance(x, int | float) for x in args):
            return known(args)
        return FUNCTIONS[pairwise if len(args) == 2 else along].record(b, *args, **named)

    return apply


def _len(x: Any) -> int:
    return x.shape[0] if isinstance(x, Var) else len(x)


def _true(b: Builder, x: Any) -> bool:
    if isinstance(x, Var):
        raise BadArgument(
            f"a parameter that decides what is computed must be a number, got {describe(x)}",
            hint="write a literal, or give an integer variable",
        )
    return bool(x)


def _flat(*parts: Any) -> tuple[Any, ...]:
    """Lengths and sequences of them as one shape."""
    return tuple([n for p in parts for n in (p if isinstance(p, list | tuple | range) else (p,))])


def held(value: float, dtype: np.dtype[Any]) -> float:
    """``value``, or for an infinite one that integers are to hold the outermost of these."""
    if dtype.kind not in "iu" or math.isfinite(value):
        return value
    bounds = np.iinfo(dtype)
    return int(bounds.max if value > 0 else bounds.min)


def _table(b: Builder, shape: Any, rule: Any, dtype: Any, *given: Any) -> Var:
    """The constant that has ``rule(i, j, …, *given)`` at ``i, j, …``, which are arrays of NumPy."""
    return b.table(shape, lambda *at: rule(b, *at, *given), dtype_of(dtype))


def _indexed(x: Var, items: Any) -> Var:
    """``x[items]``: index arrays, and integers, spans, None and ``...``."""
    arrays = [item for item in items if isinstance(item, Var)]
    pattern = [ARRAY if isinstance(item, Var) else item for item in items]
    return GetItem(complete_pattern(tuple(pattern), x.ndim))(x, *arrays)


def _refuse(why: str, message: str, *shown: Any, hint: str | None = None) -> None:
    """Raise an error; each {} of its message is a parameter, or the type of an array."""
    words = [str(x.type) if isinstance(x, Var) else str(x) for x in shown]
    raise _REFUSALS[why](message.format(*words), hint=hint)


_REFUSALS = {
    "argument": BadArgument,
    "shape": ShapeMismatch,
    "dtype": DtypeMismatch,
    "domain": DomainError,
}
#: By name, what is called with a builder first.
WORDS: dict[str, Callable[..., Any]] = {
    **{name: _binary(name) for name in OPERATORS if name != "negative"},
    "negative": _negative,
    TRUE: _true,
    "min": _extreme("min", "minimum", min),
    "max": _extreme("max", "maximum", max),
    # Operands as arrays of one dtype: a floating one, one that SciPy takes, or any.
    "promoted": partial(Builder.promote, rule=inexact_promoted),
    "special": partial(Builder.promote, rule=special_promoted),
    "together": Builder.promote,
    "variable": Builder.array,
    "inexact": Builder.inexact,
    "floating": floating,
    "broadcast": Builder.broadcast,
    "cast": lambda b, x, dtype: b.cast(x, dtype_of(dtype)),
    "scalar": Builder.scalar,
    "constant": lambda b, x, dtype: b.constant(np.asarray(x, dtype)),
    "numbers": Builder.numbers,
    # An operation by the name of its class, with its fields by keyword, on arrays as they are.
    "primitive": lambda b, name, *x, **fields: b.emit(PRIMITIVES[name](**fields), *x),
    # An array by its elements' indices, arrays of NumPy, and what a named rule differentiates.
    "table": _table,
    "by_formula": lambda b, rule, compute, *x: by_formula(rule, partial(compute, b), *x),
    "sparse_of": sparse_of,
    "few_parts": few_parts,
    "listed": listed,
    # Refuses integers of NumPy that no limit allows, before they are made for a table.
    "afford": lambda b, shape: b.afford(ArrayType(np.dtype(np.int64), shape)),
    "attention_weights": partial(attention_weights, is_causal=False, scale=None),
}
#: Constants, and by name what is called without a builder.
CONSTANTS: dict[str, Any] = {
    "pi": math.pi,
    "inf": math.inf,
    "nan": math.nan,
    "splines": SPLINES,
    "quantile_methods": QUANTILE_METHODS,
    # The element that stands for an index beyond the edges, by the names of ways to extend arrays.
    "border_modes": (*BORDERS,),
    "folded": lambda index, length, border: BORDERS[border](index, length),
    "len": _len,
    "range": range,
    "zip": partial(zip, strict=True),
    "enumerate": enumerate,
    "flat": _flat,
    "refuse": _refuse,
    # Parameters that are known while recording.
    "is_number": lambda x, n=None: isinstance(x, int | float) and n in (None, x),
    "is_bool": lambda x: isinstance(x, bool),
    "is_int": lambda x: isinstance(x, int),
    "is_list": lambda x: isinstance(x, list | tuple),
    "is_text": lambda x, word=None: isinstance(x, str) and word in (None, x),
    "is_array": lambda x: isinstance(x, Var),
    "is_sparse": lambda x: isinstance(x, Sparse),
    "name_of": lambda x: getattr(x, "name", ""),
    "lowered": lambda x: x.lower() if isinstance(x, str) else x,
    "root": math.sqrt,
    "exponential": np.exp,
    "size_of": math.prod,
    # Integers as an array of NumPy, for rules of tables; how many of them; the distinct ones.
    "whole": lambda x: np.asarray(x, np.int64),
    "counted": np.arange,
    "distinct": np.unique,
    # Arrays as they are, axes as ``axes_of`` gives them.
    "sum_over": Sum.over,
    "norm_over": Norm.over,
    "shaped": reshape,
    "transposed": transpose,
    "new_axes": unsqueeze,
    "swapped": swap_last,
    "conjugated": conj,
    "exponential_along": Expm().along,
    "indexed": _indexed,
    # Of dtypes.
    "kind": lambda x: kind_of(x.dtype),
    "tiny": lambda dtype: float(finfo(dtype).tiny),
    "eps": lambda dtype: float(finfo(dtype).eps),
    "largest": lambda dtype: float(finfo(dtype).max),
    **{
        function.__name__: function
        for function in (
            *(axes_of, axis_of, choice, counts, flag, integer, integers, lengths, number),
            *(broadcast_shapes, describe, picked, real_of, sliced, spread),
            *(drawn_dtype, shape_for),
            *(diagonal_length, matrix_parts, of_lengths, shifted),
            *(added_at_ids, inside, sampled, times, within),
            *(bordered, borders, per_axis, span, window_counts),
            *(range_of, reshaped, held, Span),
            *(adjoint, check_ids, check_nesting, completed, embedded, moved, nearest_offset),
            *(cubic, hat, nearest, reversed_conj, stretched),
            *(check_places, check_values, known_place, pooled_axes),
            *(bool, dtype_of, int),
        )
    },
}


def meaning(name: str) -> Callable[..., Any] | None:
    """The recorder of a call of ``name`` in a library's functions, unless it is its own."""
    if name in WORDS:
        return WORDS[name]
    function = FUNCTIONS.get(name.removeprefix("np."))
    return None if function is None else function.record
