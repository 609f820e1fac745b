"""Ragged tensors put together: one after another, side by side, as rows of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf.arrays import expand_dims
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.nodes import Spec
from gradwire.tf.ragged_parts import is_ragged, part, positions
from gradwire.tf.ragged_tensors import RaggedTensor
from gradwire.tf.tensors import METHODS


def stacked(values: Sequence[Any]) -> Any:
    """Tensors, ragged or not, as rows of one that is ragged."""
    given = [each if is_ragged(each) else convert_to_tensor(each) for each in values]
    lengths = [len(each) if is_ragged(each) else each._lengths()[0] for each in given]
    return RaggedTensor.from_row_lengths(joined(given), lengths)


def joined(values: Sequence[Any]) -> Any:
    """Tensors, ragged or not, one after another."""
    if not any(is_ragged(each) for each in values):
        lengths = [each._lengths() for each in values]
        shape = (sum(length[0] for length in lengths), *lengths[0][1:])
        if not values[0].dtype.is_numeric:
            arrays = [each._value() for each in values]
            return tensor_of(np.concatenate(arrays), values[0].dtype)
        return call("np.concatenate", list(values), spec=Spec(values[0].dtype, shape))
    rows = [each if is_ragged(each) else RaggedTensor.from_tensor(each) for each in values]
    lengths_of = np.concatenate([each._lengths() for each in rows])
    return RaggedTensor.from_row_lengths(joined([each.values for each in rows]), lengths_of)


def concatenated(values: Sequence[Any], axis: int) -> Any:
    """The same along any axis."""
    given = [each if is_ragged(each) else convert_to_tensor(each) for each in values]
    if axis < 0:
        axis += len(next(each for each in given if is_ragged(each)).shape)
    if axis == 0:
        return joined(given)
    rows: list[Any] = [
        each if is_ragged(each) else RaggedTensor.from_tensor(each) for each in given
    ]
    if axis > 1:
        return rows[0].with_values(concatenated([each.values for each in rows], axis - 1))
    lengths = np.stack([each._lengths() for each in rows])
    starts = (
        np.cumsum([0, *lengths.sum(axis=1)])[:-1, None]
        + np.cumsum(np.pad(lengths, [(0, 0), (1, 0)]), axis=1)[:, :-1]
    )
    each_length, each_start = lengths.T.ravel(), starts.T.ravel()
    order = np.repeat(each_start, each_length) + positions(each_length)
    values_of = part(joined([each.values for each in rows]), order)
    return RaggedTensor.from_row_lengths(values_of, lengths.sum(axis=0))


def expanded(rows: Any, axis: int) -> Any:
    """One more axis, of length 1."""
    place = axis + len(rows.shape) + 1 if axis < 0 else axis
    if place == 0:
        return RaggedTensor.from_uniform_row_length(rows, len(rows))
    if place == 1:
        return RaggedTensor.from_uniform_row_length(rows, 1)
    return rows.with_values(expand_dims(rows.values, place - 1))


METHODS.update(stack_rows=stacked, concatenate_rows=concatenated, expand_rows=expanded)
