"""Keras's operations that make, arrange and choose elements, in NumPy's manner."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.ops.promotion import pair, tensor, together


def reshape(x: Any, newshape: Any) -> Any:
    """The same elements in other lengths."""
    return tf.reshape(tensor(x), newshape)


def ravel(x: Any) -> Any:
    """All elements in one axis."""
    return tf.reshape(tensor(x), [-1])


def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order, by default the reverse."""
    return tf.transpose(tensor(x), axes)


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes in each other's place."""
    x = tensor(x)
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes in other places."""
    x = tensor(x)
    axes = np.moveaxis(np.empty([0] * len(x.shape)), source, destination).ndim
    order = [each for each in range(axes) if each not in np.atleast_1d(source) % axes]
    moves = zip(np.atleast_1d(destination) % axes, np.atleast_1d(source) % axes, strict=True)
    for to, axis in sorted(moves):
        order.insert(to, axis)
    return tf.transpose(x, [int(axis) for axis in order])


def expand_dims(x: Any, axis: Any) -> Any:
    """Another axis of length 1, or several."""
    x = tensor(x)
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = len(x.shape) + len(axes)
    for each in sorted(each % rank for each in axes):
        x = tf.expand_dims(x, each)
    return x


def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of length 1."""
    return tf.squeeze(tensor(x), axis)


def broadcast_to(x: Any, shape: Any) -> Any:
    """Repeated along axes of length 1."""
    return tf.broadcast_to(tensor(x), shape)


def concatenate(xs: Sequence[Any], axis: int | None = 0) -> Any:
    """One after another along an axis."""
    found = together(xs)
    if axis is None:
        return tf.concat([tf.reshape(x, [-1]) for x in found], 0)
    return tf.concat(found, axis)


def stack(x: Sequence[Any], axis: int = 0) -> Any:
    """One after another along a new axis."""
    return tf.stack(together(x), axis)


def vstack(xs: Sequence[Any]) -> Any:
    """Rows below each other."""
    return tf.concat([x if len(x.shape) > 1 else x[tf.newaxis] for x in together(xs)], 0)


def hstack(xs: Sequence[Any]) -> Any:
    """Columns beside each other."""
    found = together(xs)
    return tf.concat(found, 0 if len(found[0].shape) == 1 else 1)


def unstack(x: Any, num: int | None = None, axis: int = 0) -> Any:
    """The parts along an axis."""
    return tf.unstack(tensor(x), num, axis)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts, or those between indices."""
    x = tensor(x)
    if isinstance(indices_or_sections, int):
        return tf.split(x, indices_or_sections, axis)
    ends = [*(int(each) for each in indices_or_sections), tuple(x.shape)[axis]]
    return tf.split(x, np.diff([0, *ends]).tolist(), axis)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times, of all in their order without an axis."""
    return tf.repeat(tensor(x), repeats, axis)


def tile(x: Any, repeats: Any) -> Any:
    """The whole several times along its axes."""
    x = tensor(x)
    times = [repeats] if isinstance(repeats, int) else list(repeats)
    rank = max(len(times), len(x.shape))
    x = tf.reshape(x, [1] * (rank - len(x.shape)) + list(x.shape))
    return tf.tile(x, [1] * (rank - len(times)) + times)


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Moved along axes, what leaves comes in at the other end."""
    x = tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), x.shape)
    return tf.roll(x, shift, axis)


def flip(x: Any, axis: Any = None) -> Any:
    """In reverse order along axes, all by default."""
    x = tensor(x)
    axes = list(range(len(x.shape))) if axis is None else axis
    return tf.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """With borders: pairs by axis; for a vector also a pair or a number."""
    x = tensor(x)
    if mode != "constant" and constant_values is not None:
        raise ValueError(f"only mode 'constant' takes `constant_values`; got mode {mode!r}")
    widths = np.broadcast_to(pad_width, (1, 2)) if np.ndim(pad_width) < 2 else pad_width
    return tf.pad(x, widths, mode.upper(), 0 if constant_values is None else constant_values)


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements by their places, of all in their order without an axis; the last are below 0."""
    x = tensor(x)
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    indices = tf.convert_to_tensor(indices)
    length = tf.cast(tuple(x.shape)[axis], indices.dtype)
    return tf.gather(x, tf.where(indices < 0, indices + length, indices), axis=axis)


def take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements by their places along an axis, other places elsewhere."""
    x, indices = tensor(x), tf.convert_to_tensor(indices)
    if axis is None:
        return tf.gather(tf.reshape(x, [-1]), tf.reshape(indices, [-1]))
    axis %= len(x.shape)
    lengths = tuple(
        tuple(indices.shape)[i] if i == axis else builtins.max(a, b)
        for i, (a, b) in enumerate(zip(tuple(x.shape), tuple(indices.shape), strict=True))
    )
    length = tuple(x.shape)[axis]
    x = tf.broadcast_to(x, [length if i == axis else n for i, n in enumerate(lengths)])
    indices = tf.broadcast_to(indices, lengths)
    indices = tf.where(indices < 0, indices + tf.cast(length, indices.dtype), indices)
    order = [i for i in range(len(lengths)) if i != axis] + [axis]
    found = tf.gather(
        tf.transpose(x, order), tf.transpose(indices, order), batch_dims=len(order) - 1
    )
    return tf.transpose(found, np.argsort(order).tolist())


def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """A part, by where it begins and its lengths."""
    return tf.slice(tensor(inputs), start_indices, shape)


def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """Another part in place of one, by where it begins."""
    inputs, updates = tensor(inputs), tensor(updates)
    starts = tf.cast(start_indices, tf.int32)
    places = np.moveaxis(np.indices(tuple(updates.shape)), 0, -1).astype(np.int32)
    return tf.tensor_scatter_nd_update(inputs, places + starts, updates)


def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Any:
    """Other values at places."""
    only("keras.ops.scatter_update", reduction=(reduction, None))
    inputs = tensor(inputs)
    return tf.tensor_scatter_nd_update(inputs, indices, tf.cast(updates, inputs.dtype))


def nonzero(x: Any) -> Any:
    """The places of elements that are not 0, by axis."""
    places = tf.where(tf.cast(tensor(x), tf.bool))
    return tuple(tf.cast(each, tf.int32) for each in tf.unstack(places, axis=1))


def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Values at places in zeros; what meets is added."""
    return tf.scatter_nd(tf.convert_to_tensor(indices), tensor(values), shape)


def sort(x: Any, axis: int = -1) -> Any:
    """In order along an axis."""
    return tf.sort(tensor(x), axis)


def argsort(x: Any, axis: int = -1) -> Any:
    """The places in order along an axis."""
    x = tensor(x)
    return tf.argsort(tf.cast(x, tf.uint8) if x.dtype == tf.bool else x, axis)


def top_k(x: Any, k: int, sorted: bool = True) -> Any:
    """The largest of the last axis, and their places."""
    return tf.math.top_k(tensor(x), k, sorted)


def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    """True for targets among the ``k`` largest predictions."""
    return tf.math.in_top_k(tf.convert_to_tensor(targets), tensor(predictions), k)


def meshgrid(*x: Any, indexing: str = "xy") -> Any:
    """The coordinates of a grid."""
    return tf.meshgrid(*(tensor(each) for each in x), indexing=indexing)


def diag(x: Any, k: int = 0) -> Any:
    """The matrix with a diagonal, or the diagonal of a matrix."""
    x = tensor(x)
    if len(x.shape) == 1:
        return tf.linalg.diag(x, k=k)
    return diagonal(x, k)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of matrices."""
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    rows, columns = tuple(x.shape)[-2:]
    count = builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0))
    return tf.linalg.diag_part(x, k=offset)[..., :count]


def tril(x: Any, k: int = 0) -> Any:
    """The elements up to a diagonal, else 0."""
    return _part(x, lambda rows, columns: columns <= rows + k)


def triu(x: Any, k: int = 0) -> Any:
    """The elements from a diagonal on, else 0."""
    return _part(x, lambda rows, columns: columns >= rows + k)


def _part(x: Any, chosen: Callable[[Any, Any], Any]) -> Any:
    x = tensor(x)
    rows, columns = tuple(x.shape)[-2:]
    mask = chosen(np.arange(rows)[:, None], np.arange(columns)[None])
    return tf.where(tf.constant(mask), x, tf.zeros_like(x))


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """The places at which values keep a sequence in order."""
    sequence, found = pair(sorted_sequence, values)
    return tf.searchsorted(sequence, found, side)


def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """The count of each number from 0 on, or the sum of its weights."""
    only("keras.ops.bincount", sparse=(sparse, False))
    return tf.math.bincount(tf.cast(x, tf.int32), weights, minlength=minlength, axis=-1)


def unravel_index(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """Places in all elements, a vector of them, as indices along axes."""
    if not np.ndim(indices):
        raise NotImplementedError("keras.ops.unravel_index does not implement a single index")
    return tuple(tf.unstack(tf.unravel_index(indices, shape)))


def unique(x: Any) -> Any:
    """The different elements, in order."""
    return tf.sort(tf.unique(tf.reshape(tensor(x), [-1]))[0])


def saturate_cast(x: Any, dtype: Any) -> Any:
    """The elements in another dtype, limited to what it holds."""
    return tf.saturate_cast(tensor(x), dtype)
