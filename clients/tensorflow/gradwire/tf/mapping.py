"""Functions of rows: each in turn, or with what came of those before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor, filled
from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.graphs import one_operation
from gradwire.tf.joining import stack, unstack
from gradwire.tf.ragged_joining import stacked
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant


@one_operation(loop=True)
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """The results of ``fn`` for each row, stacked."""
    if not callable(fn):
        raise TypeError(f"The provided function {fn} is not callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    rows, kinds = _rows(elems)
    if not rows:
        return _empty(kinds if signature is None else signature)
    results = [fn(row) for row in rows]
    wanted = signature
    if hasattr(signature, "ragged_rank") or (signature is None and hasattr(elems, "row_splits")):
        return stacked(results)
    if wanted is None:
        wanted = kinds if nest.is_nested(elems) else next(iter(nest.flatten(kinds)))
        if nest.is_nested(results[0]) != nest.is_nested(wanted):
            nest.assert_same_structure(wanted, results[0])
    nest.assert_same_structure(wanted, results[0], check_types=False)
    return _stacked(
        [nest.map_structure(_typed, wanted, each, check_types=False) for each in results]
    )


def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """The results of ``fn`` for each row, stacked."""
    lengths = {len(convert_to_tensor(each)) for each in nest.flatten(elems)}
    most = max(lengths)
    if lengths - {1, most}:
        raise ValueError(f"rows of {sorted(lengths)} cannot be mapped together")
    rows = [
        nest.map_structure(lambda each, place=place: _row(each, place), elems)
        for place in range(most)
    ]
    results = [nest.map_structure(convert_to_tensor, fn(row)) for row in rows]
    return _stacked(results)


@one_operation(loop=True)
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All that ``fn`` makes of what came before and a row, stacked."""
    _check(fn)
    rows, _ = _rows(elems)
    order: Iterable[Any] = rows[::-1] if reverse else rows
    results = []
    state, pending = _start(order, initializer)
    if initializer is None:
        results.append(state)
    for row in pending:
        state = _next(fn, state, row)
        results.append(state)
    return _stacked(results[::-1] if reverse else results)


def _folded(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Callable[..., Any]:
    def folded(step: int) -> Any:
        _check(fn)
        state, pending = _start(_rows(elems)[0][::step], initializer)
        for row in pending:
            state = _next(fn, state, row)
        return state

    return folded


@one_operation(loop=True)
@variant(_folded, 1)
def foldl() -> Any:
    """The result of ``fn`` applied to its last result and each row, from the first to the last."""


@one_operation(loop=True)
@variant(_folded, -1)
def foldr() -> Any:
    """The result of ``fn`` applied to its last result and each row, from the last to the first."""


def _check(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{getattr(fn, '__name__', fn)} is not callable.")


def _rows(elems: Any) -> tuple[list[Any], Any]:
    """The rows of nested tensors, nested alike, and their dtypes."""
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError(f"`elems` holds no tensor: {elems}")
    columns = []
    for each in flat:
        if hasattr(each, "row_splits"):
            columns.append(list(each))
            continue
        tensor = convert_to_tensor(each)
        if not tensor._lengths():
            raise ValueError(f"`elems` needs a first axis to go along, got the scalar {tensor}")
        columns.append(unstack(tensor))
    count = len(columns[0])
    for column in columns:
        if len(column) != count:
            raise ValueError(f"Dimensions {count} and {len(column)} are not compatible")
    rows = [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]
    return rows, nest.map_structure(_kind, elems)


def _kind(each: Any) -> DType:
    kind: DType = each.dtype if hasattr(each, "row_splits") else convert_to_tensor(each).dtype
    return kind


def _row(each: Any, place: int) -> Tensor:
    tensor = convert_to_tensor(each)
    row: Tensor = tensor[place if len(tensor) > 1 else 0]
    return row


def _start(rows: Any, initializer: Any) -> tuple[Any, Any]:
    if initializer is None:
        return rows[0], rows[1:]
    return nest.map_structure(convert_to_tensor, initializer), rows


def _next(fn: Any, state: Any, row: Any) -> Any:
    result = fn(state, row)
    nest.assert_same_structure(state, result, check_types=False)
    return nest.map_structure(
        lambda before, after: convert_to_tensor(after, preferred_dtype=before.dtype),
        state,
        result,
        check_types=False,
    )


def _typed(wanted: Any, value: Any) -> Any:
    if hasattr(wanted, "_components") or (not hasattr(wanted, "dtype") and wanted is None):
        return value
    kind = as_dtype(wanted.dtype if hasattr(wanted, "dtype") else wanted)
    tensor = convert_to_tensor(value, preferred_dtype=kind)
    if tensor.dtype != kind:
        raise invalid(f"the function returned {tensor.dtype.name} where {kind.name} was declared")
    return tensor


def _stacked(results: list[Any]) -> Any:
    columns = zip(*[nest.flatten(each) for each in results], strict=True)
    return nest.pack_sequence_as(results[0], [stack(list(column)) for column in columns])


def _empty(signature: Any) -> Any:
    def none(wanted: Any) -> Tensor:
        kind: DType = as_dtype(wanted.dtype if hasattr(wanted, "dtype") else wanted)
        lengths = wanted.shape.as_list() if hasattr(wanted, "shape") and wanted.shape.rank else []
        return filled((0, *[length or 0 for length in lengths]), 0, kind)

    return nest.map_structure(none, signature)
