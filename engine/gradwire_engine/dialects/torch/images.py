"""PyTorch's ``torch.nn.functional``: images of another size, normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

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
