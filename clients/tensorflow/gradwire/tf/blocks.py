"""Blocks of pictures that become examples, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf import static
from gradwire.tf.arrays import pad, reshape, transpose
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.operations.layers import conv2d, conv2d_transpose
from gradwire.tf.operations.types import Ints, Padding, TensorLike
from gradwire.tf.tensors import Tensor


def space_to_batch(
    input: TensorLike, block_shape: Ints, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Blocks of the axes after the first, each place in a block an example of its own."""
    x, borders = convert_to_tensor(input), static.array(paddings).tolist()
    blocks = list(static.lengths(block_shape))
    if len(blocks) == 1:
        blocks = blocks * len(borders)
    rest = len(x._lengths()) - 1 - len(blocks)
    x = pad(x, [[0, 0], *borders, *[[0, 0]] * rest])
    batch, *lengths = x._lengths()
    inner = lengths[: len(blocks)]
    if any(length % block for length, block in zip(inner, blocks, strict=True)):
        raise invalid(
            f"padded_shape={inner} is not divisible by block_shape={blocks} [Op:SpaceToBatchND]"
        )
    parts = [part for n, b in zip(inner, blocks, strict=True) for part in (n // b, b)]
    count = len(blocks)
    x = reshape(x, [batch, *parts, *lengths[count:]])
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2)]
    x = transpose(x, [*order, *range(2 * count + 1, 2 * count + 1 + rest)])
    return reshape(x, [batch * math.prod(blocks), *parts[::2], *lengths[count:]])


def batch_to_space(
    input: TensorLike, block_shape: Ints, crops: TensorLike, name: str | None = None
) -> Tensor:
    """The inverse of ``space_to_batch``: the blocks put together again and cropped."""
    x, borders = convert_to_tensor(input), static.array(crops).tolist()
    blocks = list(static.lengths(block_shape))
    if len(blocks) == 1:
        blocks = blocks * len(borders)
    count = len(blocks)
    whole, *lengths = x._lengths()
    batch = whole // math.prod(blocks)
    x = reshape(x, [*blocks, batch, *lengths])
    order: list[int] = [count]
    for place in range(count):
        order += [count + 1 + place, place]
    x = transpose(x, [*order, *range(2 * count + 1, count + 1 + len(lengths))])
    inner = [n * b for n, b in zip(lengths, blocks, strict=False)]
    x = reshape(x, [batch, *inner, *lengths[count:]])
    items: list[Any] = [slice(None)]
    items += [slice(a, n - b) for (a, b), n in zip(borders, inner, strict=True)]
    return x[tuple(items)]  # type: ignore[no-any-return]


def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: Ints,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The paddings that make lengths divisible by the blocks, and the crops that undo them."""
    lengths = np.array(static.lengths(input_shape), np.int32)
    blocks = np.array(static.lengths(block_shape), np.int32)
    base = np.zeros((len(blocks), 2), np.int32)
    if base_paddings is not None:
        base = static.array(base_paddings)
    extra = -(lengths + base.sum(1)) % blocks
    paddings = np.stack([base[:, 0], base[:, 1] + extra], 1)
    crops = np.stack([np.zeros_like(extra), extra], 1)
    return tensor_of(paddings.astype(np.int32)), tensor_of(crops.astype(np.int32))


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: Padding, name: str | None = None
) -> Tensor:
    """A convolution whose filters have holes."""
    return conv2d(value, filters, 1, padding, dilations=rate)


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: Ints,
    rate: int,
    padding: Padding,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution whose filters have holes."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)
