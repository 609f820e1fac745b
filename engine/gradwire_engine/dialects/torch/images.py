"""PyTorch's ``torch.nn.functional``: images of another size, normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.images.resampling import (
    centre,
    chosen,
    cubic,
    hat,
    kernel_weights,
    weighed,
)
from gradwire_engine.ops.promotion import DTYPES, finfo

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_F = "nn.functional"
TORCH.entry(f"pixel_shuffle {_F}.pixel_shuffle", "", "input upscale_factor")
TORCH.entry(f"pixel_unshuffle {_F}.pixel_unshuffle", "", "input downscale_factor")
TORCH.entry(
    f"{_F}.grid_sample", "", "input grid mode='bilinear' padding_mode='zeros' align_corners=False"
)
TORCH.entry(f"{_F}.affine_grid", "", "theta size align_corners=False")
TORCH.entry(f"{_F}.local_response_norm", "", "input:x size alpha=1e-4 beta=0.75 k=1.0")
TORCH.entry(
    f"{_F}.group_norm", "", "input:x num_groups:groups weight=None bias=None eps:epsilon=1e-5"
)

#: The number of axes of each mode besides examples and channels.
_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_ELSE = ("nearest", "nearest-exact", "area", "bicubic")


def _sizes(
    spatial: tuple[int, ...], size: Any, scale_factor: Any
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """New lengths, and the old elements that each new one is worth."""
    if (size is None) == (scale_factor is None):
        raise BadArgument("interpolate needs either size or scale_factor")
    if size is not None:
        counts = integers(size, "size") * (1 if isinstance(size, list | tuple) else len(spatial))
        factors: list[Any] = [None] * len(counts)
    else:
        listed = isinstance(scale_factor, list | tuple)
        factors = [*scale_factor] if listed else [scale_factor] * len(spatial)
        if not all(_is_positive(factor) for factor in factors):
            raise BadArgument("scale_factor is a positive number, or one for each axis")
        wanted = [n * f for n, f in zip(spatial, factors, strict=False)]
        if not all(map(math.isfinite, wanted)):
            raise BadArgument("scale_factor makes images larger than any number")
        counts = tuple(map(math.floor, wanted))
    if len(counts) != len(spatial) or len(factors) != len(spatial) or min(counts, default=0) < 1:
        raise BadArgument(f"interpolate needs a positive length for each of {len(spatial)} axes")
    steps = [
        n / count if factor is None else 1 / factor
        for n, count, factor in zip(spatial, counts, factors, strict=True)
    ]
    return counts, tuple(steps)


def _is_positive(factor: Any) -> bool:
    number = isinstance(factor, int | float) and not isinstance(factor, bool)
    return number and 0 < factor < math.inf


@TORCH.macro(f"{_F}.interpolate")
def interpolate(
    b: Builder,
    input: Any,
    size: Static = None,
    scale_factor: Static = None,
    mode: Static = "nearest",
    align_corners: Static = None,
    recompute_scale_factor: Static = None,
    antialias: Static = False,
) -> Any:
    """Images (n, channels, ...) of another ``size``, or ``scale_factor`` times as large.

    ``mode`` is ``nearest`` (rounded down), ``nearest-exact``, ``linear``, ``bilinear``,
    ``trilinear``, ``bicubic`` (Keys, ``a = -3/4``, and -1/2 with ``antialias``) or ``area``.
    With ``align_corners`` the outermost elements stay where they are, else the outer edges do.
    """
    x = b.array(input)
    spatial = x.type.shape[2:]
    if mode not in (*_LINEAR, *_ELSE) or not spatial:
        raise BadArgument(f"interpolate knows the modes {', '.join([*_LINEAR, *_ELSE])}")
    wanted = _LINEAR.get(mode, 2 if mode == "bicubic" else len(spatial))
    if wanted != len(spatial):
        raise ShapeMismatch(f"mode {mode} takes {wanted + 2} axes, got {x.type}")
    smooth, corners = flag(antialias, "antialias"), flag(align_corners or False, "align_corners")
    if smooth and mode not in ("bilinear", "bicubic"):
        raise BadArgument("antialias is for the modes bilinear and bicubic")
    counts, steps = _sizes(spatial, size, scale_factor)
    if recompute_scale_factor:
        steps = tuple([n / count for n, count in zip(spatial, counts, strict=True)])
    for axis, (count, step) in enumerate(zip(counts, steps, strict=True), 2):
        x = _resized(x, axis, count, step, mode, corners=corners, smooth=smooth)
    return x


def _resized(
    x: Var, axis: int, count: int, step: float, mode: str, *, corners: bool, smooth: bool
) -> Var:
    b = x.builder
    if mode.startswith("nearest"):
        middle = 0.5 if mode == "nearest-exact" else 0.0

        def index(i: Any, length: int) -> Any:
            return np.floor((i + middle) * step).astype("int64").clip(0, length - 1)

        return chosen(x, axis, count, index)
    if mode == "area":
        return weighed(b.inexact(x), axis, count, lambda i, n: _area_weights(i, count, n))

    def weights(i: Any, length: int) -> Any:
        scale = step
        if corners:
            scale = (length - 1) / (count - 1) if count > 1 else 0.0
        positions = i * scale if corners and not smooth else centre(i, scale)
        if smooth:
            kernel = cubic(-0.5) if mode == "bicubic" else hat
            return kernel_weights(positions, length, kernel, max(scale, 1.0))
        if mode == "bicubic":
            return kernel_weights(positions, length, cubic(-0.75), border=2)
        return kernel_weights(positions.clip(0, length - 1), length, hat)

    return weighed(b.inexact(x), axis, count, weights)


def _area_weights(i: Any, count: int, length: int) -> Any:
    """Means of all elements that lie in stretch ``i``, also in part."""
    index = np.arange(length)
    covered = (index >= i * length // count) & (index * count < (i + 1) * length)
    return covered / covered.sum(1, keepdims=True)


@TORCH.macro(f"{_F}.batch_norm")
def batch_norm(
    b: Builder,
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: Static = False,
    momentum: Static = 0.1,
    eps: Any = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) weight + bias`` for each channel, along axis 1.

    The statistics are those given, or of ``input`` itself when ``training``.  What is running is
    not updated: a program has no state, and ``momentum`` no effect.
    """
    given = (None, None) if flag(training, "training") else (running_mean, running_var)
    if given == (None, None) and not training:
        raise BadArgument("batch_norm needs running_mean and running_var, unless training")
    return recorded("batch_norm")(b, input, *given, weight, bias, 1, eps)


@TORCH.macro(f"{_F}.rms_norm")
def rms_norm(
    b: Builder, input: Any, normalized_shape: Static, weight: Any = None, eps: Any = None
) -> Any:
    """``z = x / sqrt(mean(x²) + eps) weight`` over the last axes.

    ``eps`` is by default the dtype's own, of half precision that of float32.
    """
    x = b.inexact(input)
    shape = integers(normalized_shape, "normalized_shape")
    if not shape or x.type.shape[-len(shape) :] != shape:
        raise ShapeMismatch(f"rms_norm over {shape} of an array of shape {x.type.shape}")
    computed = DTYPES["float32"] if x.dtype.itemsize == 2 else x.dtype
    least = float(finfo(computed).eps) if eps is None else eps
    return recorded("rms_norm")(b, x, weight, tuple(range(-len(shape), 0)), least)
