"""Keras's small functions on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf

__all__ = ["normalize", "pad_sequences", "to_categorical"]


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Integers as rows of zeros and a one; a last axis of length 1 is left out.

    Raises:
        IndexError: for an integer that is not less than ``num_classes``.
    """
    classes = np.asarray(x.numpy() if hasattr(x, "numpy") else x).astype(np.int64)
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    return np.eye(num_classes or int(classes.max()) + 1)[classes]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """``x / |x|`` along an axis, by the norm of an order; zeros stay zeros.

    Of an array an array, of a tensor a tensor.
    """
    if not isinstance(x, tf.Tensor):
        array = np.asarray(x)
        norms = np.atleast_1d(np.linalg.norm(array, order, axis))
        # As Keras, where 0 is taken for the last axis here.
        return array / np.expand_dims(np.where(norms == 0, 1, norms), axis or -1)
    length = tf.norm(x, ord=order, axis=axis, keepdims=True)
    return x / tf.where(length == 0.0, tf.ones_like(length), length)


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Sequences as the rows of an array, cut or filled with ``value`` to one length.

    ``padding`` and ``truncating`` say which end is filled and cut, ``"pre"`` or ``"post"``;
    the length is that of the longest sequence unless ``maxlen`` says it.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError(f"`sequences` must be a list of sequences; got {sequences}")
    for name, end in (("truncating", truncating), ("padding", padding)):
        if end not in ("pre", "post"):
            raise ValueError(f"`{name}` is 'pre' or 'post', not {end!r}")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` contains {each}, which has no length")
    texts = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.bytes_)
    if isinstance(value, str) and dtype is not object and not texts:
        raise ValueError(
            f"`value` {value!r} does not fit `dtype` {dtype}; texts need `dtype=object`"
        )
    length = max(map(len, sequences)) if maxlen is None else maxlen
    inner = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    rows = np.full((len(sequences), length, *inner), value, dtype=dtype)
    for index, each in enumerate(sequences):
        if len(each):
            _fill(rows[index], each, index, padding == "post", truncating == "post")
    return rows


def _fill(row: Any, sequence: Sequence[Any], index: int, leading: bool, first: bool) -> None:
    length = len(row)
    kept = np.asarray(sequence[:length] if first else sequence[-length:], dtype=row.dtype)
    if kept.shape[1:] != row.shape[1:]:
        raise ValueError(
            f"sequence {index} has elements of shape {kept.shape[1:]}, not {row.shape[1:]}"
        )
    row[slice(0, len(kept)) if leading else slice(length - len(kept), length)] = kept
