"""The parts of ragged tensors.

``rows`` is a ragged tensor, ``values`` one or a tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.scatter_host import Integers, integers, taken
from gradwire.tf.tensors import Operand, Tensor


def is_ragged(value: Any) -> bool:
    """True if it has rows of any lengths."""
    return hasattr(value, "_elementwise")


def count(values: Any) -> int:
    """The length of the first axis."""
    return len(values) if is_ragged(values) else int(values._lengths()[0])


def part(values: Any, places: Integers) -> Any:
    """Those at places along the first axis."""
    return values._rows(places) if is_ragged(values) else taken(values, places)


def positions(lengths: Integers) -> Integers:
    """The place within its row of each value of rows of some lengths."""
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths))


def check_splits(op: str, splits: Integers, values: int) -> None:
    """Raise unless splits divide so many values into rows."""
    wrong = f"Arguments to {op} do not form a valid RaggedTensor:"
    if not len(splits) or splits[0] != 0:
        raise invalid(f"{wrong}zero")
    if (np.diff(splits) < 0).any():
        raise invalid(f"{wrong}monotonic")
    if splits[-1] != values:
        raise invalid(f"{wrong}nvals: {splits[-1]} and {values}")


def bounds(values: Any) -> tuple[int, ...]:
    """The lengths of the smallest tensor that has room for all."""
    if not is_ragged(values):
        lengths: tuple[int, ...] = values._lengths()
        return lengths
    longest = int(values._lengths().max(initial=0))
    return (len(values), longest, *bounds(values._values)[1:])


def coordinates(values: Any) -> Integers:
    """The place of each element in that tensor."""
    if not is_ragged(values):
        return np.argwhere(np.ones(values._lengths(), bool))
    inner = coordinates(values._values)
    places = np.stack([values._rowids(), positions(values._lengths())], axis=-1)
    return np.concatenate([places[inner[:, 0]], inner[:, 1:]], axis=1)


def merged(tensor: Tensor) -> Tensor:
    """A tensor whose first two axes are one."""
    lengths = tensor._lengths()
    shape = (lengths[0] * lengths[1], *lengths[2:])
    return call("np.reshape", tensor, shape, spec=Spec(tensor.dtype, shape))


def from_tensor(kind: Any, tensor: Tensor, lengths: Any, padding: Any) -> Any:
    """A tensor's rows, of given lengths or without the padding at their ends."""
    rows, width = tensor._lengths()[:2]
    if lengths is not None:
        of = integers(lengths)
    elif padding is not None:
        given = tensor._value() != convert_to_tensor(padding, tensor.dtype)._value()
        given = given.any(axis=tuple(range(2, given.ndim)))
        of = np.where(given.any(axis=1), width - given[:, ::-1].argmax(axis=1), 0)
    else:
        return kind.from_uniform_row_length(merged(tensor), width, rows)
    of = np.clip(of, 0, width)
    places = np.repeat(np.arange(rows) * width, of) + positions(of)
    return kind.from_row_lengths(taken(merged(tensor), places), of)


def same_rows(first: Any, second: Any) -> bool:
    """True if both have rows of the same lengths, all the way down."""
    if is_ragged(first) != is_ragged(second):
        return False
    if not is_ragged(first):
        return True
    return np.array_equal(first._splits, second._splits) and same_rows(
        first._values, second._values
    )


def flat_beside(rows: Any, operand: Any) -> Any:
    """The elements of an operand that go with the flat values of ragged rows."""
    if is_ragged(operand):
        if not same_rows(rows, operand):
            raise invalid(
                "Incompatible shapes: the rows of ragged operands are of other lengths: "
                f"{rows._lengths().tolist()} and {operand._lengths().tolist()}"
            )
        return operand.flat_values
    if not isinstance(operand, (Operand, np.ndarray, list)):
        return operand
    tensor = convert_to_tensor(operand)
    lengths = tensor._lengths()
    within = len(rows.flat_values._lengths()) - 1
    if len(lengths) <= within:
        return tensor
    if is_ragged(rows._values):
        return flat_beside(rows._values, _beside_rows(rows, tensor))
    return _beside_rows(rows, tensor)


def _beside_rows(rows: Any, tensor: Tensor) -> Tensor:
    """The element of a dense operand that goes with each value of rows."""
    lengths = tensor._lengths()
    of = rows._lengths()
    rank = len(rows.shape)
    shape = (1,) * (rank - len(lengths)) + lengths
    fits = shape[0] in (1, len(rows)) and (shape[1] == 1 or (of == shape[1]).all())
    if len(lengths) > rank or not fits:
        raise invalid(
            f"Incompatible shapes: a dense operand of shape {list(lengths)} does not go with rows "
            f"of lengths {of.tolist()}"
        )
    row = rows._rowids() if shape[0] > 1 else np.zeros_like(rows._rowids())
    column = positions(of) if shape[1] > 1 else np.zeros_like(row)
    flat = (shape[0] * shape[1], *shape[2:])
    every = call("np.reshape", tensor, flat, spec=Spec(tensor.dtype, flat))
    return taken(every, row * shape[1] + column)


def indexed(rows: Any, key: tuple[Any, ...]) -> Any:
    """Rows, a row, or parts of them."""
    if not key:
        return rows
    first, rest = key[0], key[1:]
    if first is Ellipsis:
        return indexed(rows, (slice(None),) * (len(rows.shape) - len(rest)) + rest)
    if isinstance(first, slice):
        which = np.arange(len(rows))[slice(*map(_whole, (first.start, first.stop, first.step)))]
        some = rows._rows(which)
        return _columns(some, rest) if rest else some
    number = int(first)
    if not -len(rows) <= number < len(rows):
        raise IndexError(f"Row key {number} out of bounds")
    start, stop = rows._splits[number % len(rows) :][:2]
    row = part(rows._values, np.arange(start, stop))
    return row[rest] if rest else row


def _columns(rows: Any, key: tuple[Any, ...]) -> Any:
    first, rest = key[0], key[1:]
    if not isinstance(first, slice):
        raise ValueError(f"a ragged axis after the first takes only slices, got {first!r}")
    bounds = slice(*map(_whole, (first.start, first.stop, first.step)))
    taken_from = [np.arange(start, stop)[bounds] for start, stop in rows._ranges()]
    places = np.concatenate([*taken_from, np.zeros(0, np.int64)]).astype(np.int64)
    values = part(rows._values, places)
    if rest:
        values = values[(slice(None), *rest)]
    return type(rows).from_row_lengths(values, [len(each) for each in taken_from])


def _whole(bound: Any) -> int | None:
    return None if bound is None else int(bound)
