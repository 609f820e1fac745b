"""Standardisation: channels and their groups scaled by their own or by given statistics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import Pad, sliced
from gradwire_engine.ops.axes import axes_of, axis_of, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.networks.losses import layer_norm
from gradwire_engine.ops.pointwise.arithmetic import Power, Sqrt, Square
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _along(part: Var, x: Var, axis: int, name: str) -> Var:
    """A number for each channel, aligned with ``x``."""
    count = x.type.shape[axis]
    if part.type.shape not in ((), (count,)):
        raise ShapeMismatch(f"{name} needs a number for each of {count} channels, got {part.type}")
    places = [count if place == axis else 1 for place in range(x.ndim)]
    return reshape(part, tuple(places)) if part.ndim else part


def _affine(b: Builder, x: Any, weight: Any, bias: Any, axis: int, name: str) -> Any:
    """``weight x + bias``, one of each for a channel."""
    given = [part for part in (weight, bias) if part is not None]
    z, *parts = b.promote(x, *given, rule=inexact_promoted)
    if weight is not None:
        z = z * _along(parts[0], z, axis, name)
    return z if bias is None else z + _along(parts[-1], z, axis, name)


def _real(b: Builder, x: Any, name: str) -> Var:
    var = floating(b, x)
    if var.dtype.kind != "f":
        raise DtypeMismatch(f"{name} takes real numbers, got {var.type}")
    return var


@macro("batch_norm")
def batch_norm(
    b: Builder,
    x: Any,
    mean: Any = None,
    variance: Any = None,
    weight: Any = None,
    bias: Any = None,
    axis: Static = 1,
    epsilon: Any = 1e-5,
) -> Any:
    """``z = weight (x - mean) / sqrt(variance + epsilon) + bias`` for each channel along ``axis``.

    Without ``mean`` and ``variance`` they are those of ``x`` over all other axes, and gradients
    flow through them.  Source: Ioffe and Szegedy, Batch Normalization (2015).
    """
    x = _real(b, x, "batch_norm")
    channel = axis_of(axis, x.ndim, "batch_norm")
    if (mean is None) != (variance is None):
        raise BadArgument("batch_norm needs both mean and variance, or neither")
    if mean is None:
        others = [place for place in range(x.ndim) if place != channel]
        z = layer_norm(b, x, axis=others, epsilon=epsilon)
    else:
        x, centre, spread, least = b.promote(x, mean, variance, epsilon, rule=inexact_promoted)
        deviation = Sqrt()(spread + least)
        z = x - _along(centre, x, channel, "batch_norm")
        z = z / _along(deviation, x, channel, "batch_norm")
    return _affine(b, z, weight, bias, channel, "batch_norm")


@macro("group_norm")
def group_norm(
    b: Builder,
    x: Any,
    groups: Static,
    weight: Any = None,
    bias: Any = None,
    axis: Static = 1,
    epsilon: Static = 1e-5,
) -> Any:
    """Mean 0 and variance 1 for each example and group of channels, then ``weight`` and ``bias``.

    Shapes: examples along axis 0, channels along ``axis``, as many in each of the ``groups``.
    Source: Wu and He, Group Normalization (2018).
    """
    x = _real(b, x, "group_norm")
    channel, count = axis_of(axis, x.ndim, "group_norm"), integer(groups, "groups")
    shape = x.type.shape
    if not channel or count < 1 or shape[channel] % count:
        raise ShapeMismatch(f"group_norm cannot part axis {channel} of {x.type} in {count} groups")
    apart = (*shape[:channel], count, shape[channel] // count, *shape[channel + 1 :])
    others = [place for place in range(1, len(apart)) if place != channel]
    z = layer_norm(b, reshape(x, apart), axis=others, epsilon=epsilon)
    return _affine(b, reshape(z, shape), weight, bias, channel, "group_norm")


@macro("instance_norm")
def instance_norm(
    b: Builder,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    axis: Static = 1,
    epsilon: Static = 1e-5,
) -> Any:
    """Mean 0 and variance 1 for each example and channel, then ``weight`` and ``bias``.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance Normalization (2016).
    """
    x = _real(b, x, "instance_norm")
    channel = axis_of(axis, x.ndim, "instance_norm")
    others = [place for place in range(1, x.ndim) if place != channel]
    z = layer_norm(b, x, axis=others, epsilon=epsilon)
    return _affine(b, z, weight, bias, channel, "instance_norm")


@macro("rms_norm")
def rms_norm(b: Builder, x: Any, weight: Any = None, axis: Static = -1, epsilon: Any = 1e-5) -> Any:
    """``z = weight x / sqrt(mean(x²) + epsilon)``, the mean over ``axis``.

    Source: Zhang and Sennrich, Root Mean Square Layer Normalization (2019).
    """
    x, least = b.promote(_real(b, x, "rms_norm"), epsilon, rule=inexact_promoted)
    axes = axes_of(axis, x.ndim, "rms_norm")
    count = math.prod([x.type.shape[place] for place in axes])
    mean = Sum.over(Square()(x), axes, keepdims=True) / count
    z = x / Sqrt()(mean + least)
    if weight is None:
        return z
    z, scale = b.promote(z, weight)
    return z * scale


@macro("local_response_norm")
def local_response_norm(
    b: Builder,
    x: Any,
    size: Static,
    alpha: Any = 1e-4,
    beta: Any = 0.75,
    k: Any = 1.0,
    axis: Static = 1,
) -> Any:
    """``z = x / (k + alpha / size sum(x²))^beta``, the sum over ``size`` channels around each.

    Beyond the first and the last are zeros; of an even number more are before than after.
    Source: Krizhevsky, Sutskever and Hinton, ImageNet Classification (2012).
    """
    x = _real(b, x, "local_response_norm")
    count, channel = integer(size, "size"), axis_of(axis, x.ndim, "local_response_norm")
    if count < 1:
        raise BadArgument(f"local_response_norm needs a size of at least 1, not {count}")
    x, scale, power, least = b.promote(x, alpha, beta, k, rule=inexact_promoted)
    total = _window_sum(Square()(x), channel, count)
    return x / Power()(least + scale * total / count, power)


def _window_sum(x: Var, axis: int, size: int) -> Var:
    """Sums of ``size`` elements around each along ``axis``."""
    length = x.type.shape[axis]
    reach = min(size // 2, length), min((size - 1) // 2, length)
    before, after = ([n if place == axis else 0 for place in range(x.ndim)] for n in reach)
    padded = Pad(tuple(before), tuple(after))(x)
    total = sliced(padded, axis, 0, length)
    for start in range(1, sum(reach) + 1):
        total = total + sliced(padded, axis, start, start + length)
    return total
