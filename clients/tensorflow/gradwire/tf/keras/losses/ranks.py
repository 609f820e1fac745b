"""Shapes of truth, prediction and weights that differ by an axis of length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf


def same_rank(first: Any, second: Any) -> tuple[Any, Any]:
    """Give two tensors or arrays the same number of axes, if one has a last axis of 1 more.

    A vector gets the axis; of more axes than one, the last is taken away.
    """
    if _ndim(first) < _ndim(second):
        second, first = same_rank(second, first)
        return first, second
    if _ndim(first) != _ndim(second) + 1 or tuple(first.shape)[-1] != 1:
        return first, second
    if _ndim(second) == 1:
        return first, _expanded(second)
    return _squeezed(first), second


def _ndim(value: Any) -> int:
    return len(value.shape)


def _expanded(value: Any) -> Any:
    return value[:, None] if isinstance(value, np.ndarray) else tf.expand_dims(value, -1)


def _squeezed(value: Any) -> Any:
    return value[..., 0] if isinstance(value, np.ndarray) else tf.squeeze(value, axis=-1)
