"""Images at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import moveaxis, reshape, swap_last
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.images.interpolation import BORDERS, SPLINES, Stencil, clipped, sampled
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.selection import Rint
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

#: Cubic convolution with slope -3/4.  Source: Keys (1981), equation 4.
_KEYS: Stencil = (
    (0.0, -0.75, 1.5, -0.75),
    (1.0, 0.0, -2.25, 1.25),
    (0.0, 0.75, 1.5, -1.25),
    (0.0, 0.0, -0.75, 0.75),
)
_PADDING = {"border": "nearest", "zeros": "grid-constant"}
_MODES = {"bilinear": SPLINES[1], "nearest": SPLINES[0], "bicubic": _KEYS}


@macro("grid_sample")
def grid_sample(
    b: Builder,
    input: Any,
    grid: Any,
    mode: Static = "bilinear",
    padding_mode: Static = "zeros",
    align_corners: Static = False,
) -> Any:
    """Images at the points of ``grid``, which run from -1 to 1 along each axis.

    Shapes: (n, channels, h, w) at (n, ..., 2), whose last axis has x before y, give (n, channels,
    ...); volumes at (n, ..., 3) likewise.  With ``align_corners`` -1 and 1 are the middles of the
    outermost elements, else their outer edges.  ``mode`` is ``bilinear``, ``nearest`` (halves to
    even) or ``bicubic``; ``padding_mode`` puts ``zeros`` outside, repeats the ``border``, or
    mirrors (``reflection``).  Convention: where the slope jumps, that towards larger indices,
    but 0 on a border that is repeated or mirrored.
    Source: Jaderberg et al., Spatial Transformer Networks (2015).
    """
    x, points = b.promote(input, grid, rule=inexact_promoted)
    axes, batch = x.ndim - 2, x.type.shape[:1]
    if axes < 1 or points.ndim < 2 or points.type.shape[-1] != axes:
        raise ShapeMismatch(f"grid_sample of {x.type} needs {axes} coordinates, got {points.type}")
    if points.type.shape[:1] != batch:
        raise ShapeMismatch(f"grid_sample needs as many grids as images, got {points.type}")
    if points.dtype.kind == "c":
        raise DtypeMismatch(f"coordinates are real numbers, got {points.type}")
    if mode not in tuple(_MODES) or padding_mode not in ("zeros", "border", "reflection"):
        raise BadArgument(
            "mode is bilinear, nearest or bicubic, padding_mode zeros, border or reflection"
        )
    corners = flag(align_corners, "align_corners")
    border = _PADDING.get(padding_mode, "mirror" if corners else "reflect")
    positions = []
    edge = 0 if corners else 1
    for place, length in enumerate(x.type.shape[2:]):
        unit = picked(points, points.ndim - 1, axes - 1 - place)
        position = ((unit + 1) * (length - 1 + edge) - edge) * 0.5
        if mode != "bicubic" and padding_mode != "zeros":
            position = clipped(BORDERS[border](position, length), length)
        positions.append(Rint()(position) if mode == "nearest" else position)
    fill = b.scalar(0, x.dtype) if padding_mode == "zeros" else None
    last = moveaxis(b, x, 1, -1)
    numbers = b.numbers(x.type.shape[0], 0, points.ndim - 1)
    z = sampled(last, positions, _MODES[mode], border, fill, [numbers])
    return moveaxis(b, z, -1, 1)


@macro("affine_grid")
def affine_grid(b: Builder, theta: Any, size: Static, align_corners: Static = False) -> Any:
    """Points of images of ``size`` (n, channels, h, w), from -1 to 1, mapped by ``theta``.

    Shapes: matrices (n, 2, 3) of x, y and the offset give (n, h, w, 2) for ``grid_sample``;
    volumes take (n, 3, 4).  Source: Jaderberg et al., Spatial Transformer Networks (2015).
    """
    matrices, shape = b.inexact(theta), lengths(size, "size")
    axes = len(shape) - 2
    if axes < 1 or matrices.type.shape != (shape[0], axes, axes + 1):
        expected = (*shape[:1], axes, axes + 1)
        raise ShapeMismatch(f"affine_grid to {shape} needs matrices {expected}, got {theta}")
    corners = flag(align_corners, "align_corners")
    spatial = shape[2:]

    def coordinate(point: Any, column: Any) -> Any:
        rest = point
        found: Any = 1.0
        for place, n in enumerate(reversed(spatial)):
            rest, at = np.divmod(rest, n)
            found = np.where(column == place, (2 * at - (n - 1)) / max(n - corners, 1), found)
        return found

    points = b.table((math.prod(spatial), axes + 1), coordinate, matrices.dtype)
    z = MatMul()(points, swap_last(matrices))
    return reshape(z, (shape[0], *shape[2:], axes))
