"""Masks: which steps of sequences count, carried by the tensors that layers give."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf


def mask_of(value: Any) -> Any:
    """The mask of a tensor, or None."""
    return getattr(value, "_keras_mask", None)


def masks_of(value: Any) -> Any:
    """The masks of nested tensors, nested alike."""
    return tf.nest.map_structure(mask_of, value)


def set_mask(value: Any, mask: Any) -> None:
    """Let a tensor carry a mask, or None."""
    if isinstance(value, tf.Tensor):
        value._keras_mask = mask


def is_masked(masks: Any) -> bool:
    """True if any of nested masks is not None."""
    return any(mask is not None for mask in tf.nest.flatten(masks))
