"""Blocks of pixels: moved into channels, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import moveaxis, reshape, transpose
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static, macro

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _operand(b: Builder, x: Any, block: Any, name: str) -> tuple[Var, int]:
    var, size = b.array(x), integer(block, "the block's length")
    if var.ndim < 3:
        raise ShapeMismatch(f"{name} needs at least 3 axes, got {var.type}")
    if size < 1:
        raise BadArgument(f"{name} needs blocks of at least 1, not {size}")
    return var, size


def _gathered(x: Var, block: int, *, channels_first: bool) -> Var:
    """Blocks of (..., h, w, c) as channels, the old channels before or after the block's places."""
    *front, h, w, c = x.type.shape
    if h % block or w % block:
        raise ShapeMismatch(f"blocks of {block} do not fill {h} by {w}")
    n = len(front)
    apart = reshape(x, (*front, h // block, block, w // block, block, c))
    inner = (n + 4, n + 1, n + 3) if channels_first else (n + 1, n + 3, n + 4)
    moved = transpose(apart, (*range(n), n, n + 2, *inner))
    return reshape(moved, (*front, h // block, w // block, block * block * c))


def _scattered(x: Var, block: int, *, channels_first: bool) -> Var:
    """The opposite of ``_gathered``."""
    *front, h, w, channels = x.type.shape
    c, left = divmod(channels, block * block)
    if left:
        raise ShapeMismatch(f"{channels} channels do not make up blocks of {block} by {block}")
    n = len(front)
    inner = (c, block, block) if channels_first else (block, block, c)
    apart = reshape(x, (*front, h, w, *inner))
    first = n + 3 if channels_first else n + 2
    last = n + 2 if channels_first else n + 4
    moved = transpose(apart, (*range(n), n, first, n + 1, first + 1, last))
    return reshape(moved, (*front, h * block, w * block, c))


@macro("pixel_shuffle")
def pixel_shuffle(b: Builder, input: Any, upscale_factor: Static) -> Any:
    """Channels as blocks of pixels: (..., c r², h, w) to (..., c, h r, w r).

    Source: Shi et al., Real-Time Single Image and Video Super-Resolution (2016).
    """
    x, block = _operand(b, input, upscale_factor, "pixel_shuffle")
    last = moveaxis(b, x, -3, -1)
    return moveaxis(b, _scattered(last, block, channels_first=True), -1, -3)


@macro("pixel_unshuffle")
def pixel_unshuffle(b: Builder, input: Any, downscale_factor: Static) -> Any:
    """Blocks of pixels as channels: (..., c, h r, w r) to (..., c r², h, w)."""
    x, block = _operand(b, input, downscale_factor, "pixel_unshuffle")
    last = moveaxis(b, x, -3, -1)
    return moveaxis(b, _gathered(last, block, channels_first=True), -1, -3)


def _is_channels_first(data_format: Any) -> bool:
    if data_format not in ("NHWC", "NCHW"):
        raise BadArgument("data_format is 'NHWC' or 'NCHW'")
    return bool(data_format == "NCHW")


@macro("space_to_depth")
def space_to_depth(b: Builder, input: Any, block_size: Static, data_format: Static = "NHWC") -> Any:
    """Blocks of pixels as channels: (n, h r, w r, c) to (n, h, w, r² c), block before channel."""
    x, block = _operand(b, input, block_size, "space_to_depth")
    if _is_channels_first(data_format):
        last = moveaxis(b, x, -3, -1)
        return moveaxis(b, _gathered(last, block, channels_first=False), -1, -3)
    return _gathered(x, block, channels_first=False)


@macro("depth_to_space")
def depth_to_space(b: Builder, input: Any, block_size: Static, data_format: Static = "NHWC") -> Any:
    """Channels as blocks of pixels: (n, h, w, r² c) to (n, h r, w r, c), block before channel."""
    x, block = _operand(b, input, block_size, "depth_to_space")
    if _is_channels_first(data_format):
        last = moveaxis(b, x, -3, -1)
        return moveaxis(b, _scattered(last, block, channels_first=False), -1, -3)
    return _scattered(x, block, channels_first=False)
