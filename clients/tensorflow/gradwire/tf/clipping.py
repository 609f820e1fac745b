"""Values and norms within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire.tf import checks
from gradwire.tf.calls import argument, call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import operands
from gradwire.tf.operations.types import Axis, TensorLike
from gradwire.tf.operators import multiply
from gradwire.tf.slices import IndexedSlices
from gradwire.tf.static import listed
from gradwire.tf.tensors import Operand, Tensor


def clip_by_value(
    t: Any, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """Each element, or the bound that it exceeds."""
    if isinstance(t, IndexedSlices):
        values = clip_by_value(t.values, clip_value_min, clip_value_max)
        return IndexedSlices(values, t.indices, t.dense_shape)
    x = convert_to_tensor(t)
    bounds = [_beside(bound, x) for bound in (clip_value_min, clip_value_max)]
    shape = x._lengths()
    for position, bound in enumerate(bounds):
        if isinstance(bound, Tensor):
            if bound.dtype != x.dtype:
                raise checks.mismatch("Minimum", x.dtype, bound.dtype, position + 1)
            shape = checks.broadcast("Minimum", shape, bound._lengths()) or ()
    if shape != x._lengths():
        raise ValueError(f"Shapes {listed(x._lengths())} and {listed(shape)} are incompatible")
    return call("tf.formulas.clip_by_value", x, *bounds, spec=Spec(x.dtype, shape))


def clip_by_norm(t: Any, clip_norm: TensorLike, axes: Axis = None, name: str | None = None) -> Any:
    """The tensor, scaled down to a Euclidean norm of at most ``clip_norm`` over ``axes``."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_norm(t.values, clip_norm, axes), t.indices, t.dense_shape)
    x = convert_to_tensor(t)
    given: dict[str, Any] = {} if axes is None else {"axes": operands.axes(axes)}
    spec = Spec(x.dtype, x._node.shape)
    return call("tf.clip_by_norm", x, _beside(clip_norm, x), **given, spec=spec)


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all tensors together; those that are None count nothing."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` is a {type(t_list).__name__}; pass a list or tuple of tensors")
    parts = [
        convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
        for t in t_list
        if t is not None
    ]
    return call("tf.formulas.global_norm", parts, spec=Spec(parts[0].dtype, ()))


def clip_by_global_norm(
    t_list: Sequence[Any],
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
    name: str | None = None,
) -> tuple[list[Any], Tensor]:
    """The tensors, scaled down to a norm of at most ``clip_norm`` together; and that before."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` is a {type(t_list).__name__}; pass a list or tuple of tensors")
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    bound = _beside(clip_norm, norm)
    scale = call("tf.formulas.global_norm_scale", norm, bound, spec=Spec(norm.dtype, ()))
    clipped: list[Any] = []
    for t in t_list:
        if t is None:
            clipped.append(None)
        elif isinstance(t, IndexedSlices):
            clipped.append(IndexedSlices(multiply(t.values, scale), t.indices, t.dense_shape))
        else:
            clipped.append(multiply(convert_to_tensor(t), scale))
    return clipped, norm


def _beside(value: Any, tensor: Tensor) -> Any:
    if isinstance(value, Operand):
        return convert_to_tensor(value)
    return argument(value, tensor.dtype)
