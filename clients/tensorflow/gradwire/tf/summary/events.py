"""Events: scalars, histograms, pictures and texts, as TensorBoard's plugins read them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.pictures import encode_png
from gradwire.tf.resizing import convert_image_dtype
from gradwire.tf.scopes import scoped
from gradwire.tf.summary.writers import records, state
from gradwire.tf.tensors import Tensor

__all__ = ["histogram", "image", "scalar", "text", "write"]


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a number; true if it was written."""
    tensor = convert_to_tensor(data)
    if tensor.shape.rank != 0:
        raise ValueError(f"scalar {name!r} must have the shape (), not {tensor.shape}")

    def value(tag: str) -> Any:
        return _plugin("scalar").scalar_pb(tag, tensor.numpy(), description)

    return _written(name, step, value)


def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Write how many numbers are in each of ``buckets``, 30 by default, of the same width."""
    tensor = convert_to_tensor(data)

    def value(tag: str) -> Any:
        values = np.asarray(tensor.numpy(), np.float64)
        return _plugin("histogram").histogram_pb(tag, values, buckets, description)

    return _written(name, step, value)


def image(
    name: str,
    data: Any,
    step: Any = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> Tensor:
    """Write the first pictures of a batch, their channels last, floats from 0 to 1."""
    tensor = convert_to_tensor(data)
    if tensor.shape.rank != 4:
        raise ValueError(f"image {name!r} must have four axes, not the shape {tensor.shape}")

    def value(tag: str) -> Any:
        pixels = convert_image_dtype(tensor[:max_outputs], "uint8", saturate=True)
        height, width = tensor.shape[1:3]
        texts = [str(width).encode(), str(height).encode(), *encode_png(pixels).numpy()]
        metadata = _module("tensorboard.plugins.image.metadata")
        made = metadata.create_summary_metadata(display_name=None, description=description)
        return _summary(tag, np.asarray(texts, object), made)

    return _written(name, step, value)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Write a text, or an array of texts that is shown as a table."""
    tensor = convert_to_tensor(data)
    if tensor.dtype.name != "string":
        raise ValueError(f"text {name!r} must be of dtype string, not {tensor.dtype.name}")

    def value(tag: str) -> Any:
        metadata = _module("tensorboard.plugins.text.metadata")
        made = metadata.create_summary_metadata(display_name=None, description=description)
        return _summary(tag, np.asarray(tensor.numpy(), object), made)

    return _written(name, step, value)


def write(
    tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Write a tensor under a tag, with metadata for one of TensorBoard's plugins."""
    given = convert_to_tensor(tensor)
    return _write(tag, step, lambda tag: _summary(tag, given.numpy(), metadata))


def _written(name: str, step: Any, value: Callable[[str], Any]) -> Tensor:
    return _write(scoped(name), step, value)


def _write(tag: str, step: Any, value: Callable[[str], Any]) -> Tensor:
    """Write what a function makes of the tag, if summaries are recorded."""
    if state.writer is None:
        return convert_to_tensor(False)
    at = state.step if step is None else step
    if at is None:
        raise ValueError(
            "the step is unknown; pass `step`, or call tf.summary.experimental.set_step() before"
        )
    if not records():
        return convert_to_tensor(False)
    if state.writer.is_writing:
        events = _module("tensorboard.compat.proto.event_pb2")
        event = events.Event(wall_time=time.time(), step=int(at), summary=value(tag))
        state.writer.add(event)
    return convert_to_tensor(True)


def _summary(tag: str, array: Any, metadata: Any) -> Any:
    """A tensor as a summary of TensorBoard's."""
    summaries = _module("tensorboard.compat.proto.summary_pb2")
    summary = summaries.Summary()
    made = _module("tensorboard.util.tensor_util").make_tensor_proto(array)
    summary.value.add(tag=tag, metadata=metadata, tensor=made)
    return summary


def _plugin(name: str) -> Any:
    return _module(f"tensorboard.plugins.{name}.summary_v2")


def _module(name: str) -> Any:
    """A module of TensorBoard's, which is there where a file was opened."""
    return importlib.import_module(name)
