"""The inputs that a layer takes: numbers of axes, and lengths of some."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable

__all__ = ["InputSpec"]


@configurable
class InputSpec:
    """The dtype, the shape or the number of axes, and the lengths of axes of an input."""

    dtype: Any = None
    shape: Any = None
    ndim: int | None = None
    max_ndim: int | None = None
    min_ndim: int | None = None
    axes: Any = None
    allow_last_axis_squeeze: bool = False
    name: str | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.dtype is not None:
            self.dtype = getattr(self.dtype, "name", str(self.dtype))
        if self.shape is not None:
            self.shape = tuple(self.shape)
            self.ndim = len(self.shape)
        self.axes = {int(axis): length for axis, length in (self.axes or {}).items()}

    def __repr__(self) -> str:
        given = [f"{name}={value}" for name, value in vars(self).items() if value]
        return f"InputSpec({', '.join(given)})"

    def problem(self, value: Any) -> str | None:
        """The reason why an input does not fit, or None."""
        shape = tuple(value.shape)
        ndim = len(shape)
        if self.ndim is not None and ndim != self.ndim and not self.allow_last_axis_squeeze:
            return f"{self.ndim} axes are needed; got shape {shape}"
        if self.max_ndim is not None and ndim > self.max_ndim:
            return f"{self.max_ndim} axes at most are possible; got shape {shape}"
        if self.min_ndim is not None and ndim < self.min_ndim:
            return f"{self.min_ndim} axes at least are needed; got shape {shape}"
        if self.dtype is not None and value.dtype.name != self.dtype:
            return f"dtype {self.dtype} is needed; got {value.dtype.name}"
        for axis, length in self.axes.items():
            if length is not None and shape[axis] != length:
                return f"length {length} is needed along axis {axis}; got shape {shape}"
        return self._other_shape(shape)

    def _other_shape(self, shape: tuple[Any, ...]) -> str | None:
        if self.shape is None:
            return None
        wanted = self.shape
        if self.allow_last_axis_squeeze:
            shape = shape[:-1] if shape and shape[-1] == 1 else shape
            wanted = wanted[:-1] if wanted and wanted[-1] == 1 else wanted
        if any(a is not None and a != b for a, b in zip(wanted, shape, strict=False)):
            return f"shape {self.shape} is needed; got {shape}"
        return None


def check_inputs(spec: Any, inputs: Any, layer_name: str) -> None:
    """Refuse inputs that are not what a layer takes: an ``InputSpec``, or one for each input."""
    if not spec:
        return
    specs = [spec] if isinstance(spec, InputSpec) else tf.nest.flatten(spec)
    values = tf.nest.flatten(inputs)
    if len(specs) != len(values):
        raise ValueError(
            f"Layer '{layer_name}' takes {len(specs)} inputs; got {len(values)}: {values}"
        )
    for index, (each, value) in enumerate(zip(specs, values, strict=True)):
        if each is None or (value is None and each.optional):
            continue
        if not hasattr(value, "shape"):
            raise ValueError(
                f"Layer '{layer_name}' takes tensors; got {value!r} ({type(value).__name__})"
            )
        problem = each.problem(value)
        if problem is not None:
            named = f" ('{each.name}')" if each.name else ""
            raise ValueError(f"Input {index}{named} does not fit layer '{layer_name}': {problem}")
