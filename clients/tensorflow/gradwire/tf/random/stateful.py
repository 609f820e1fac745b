"""Draws from the global seed: TensorFlow's own numbers, which ``tf.random.set_seed`` repeats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gradwire.tf import dtypes, static
from gradwire.tf.conversion import constant, convert_to_tensor
from gradwire.tf.gathering import gather
from gradwire.tf.nodes import paused
from gradwire.tf.operations.types import DTypeLike, Shape, TensorLike
from gradwire.tf.random import laws, stateless
from gradwire.tf.random.gammas import gamma_from
from gradwire.tf.seeds import SEEDS
from gradwire.tf.steps import again, once
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant

__all__ = [
    "categorical", "gamma", "normal", "poisson", "set_seed", "shuffle", "truncated_normal",
    "uniform",
]  # fmt: skip

_FLOATING = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


def set_seed(seed: int) -> None:
    """Begin anew: what is drawn from here on is decided by ``seed``."""
    once()
    SEEDS.set(static.integer(seed))


@again()
def uniform(
    shape: Shape,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers evenly from ``minval`` to below ``maxval``, which integers need."""
    kind = dtypes.as_dtype(dtype)
    if kind.name not in _FLOATING:
        accepted = ", ".join(f"tf.{each}" for each in _FLOATING)
        raise ValueError(f"`dtype` must be one of {accepted}; got {kind}")
    if kind.is_integer and maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    op = f"RandomUniform{'Int' if kind.is_integer else ''}:{kind.name}"
    source = SEEDS.source(op, seed, math.prod(static.lengths(shape)))
    return stateless.uniform_from(source, shape, minval, maxval, kind)


def _scaled(
    shape: Shape,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Callable[..., Tensor]:
    def scaled(op: str, law: stateless.Law) -> Tensor:
        size = math.prod(static.lengths(shape))
        source = SEEDS.source(f"{op}:{dtypes.as_dtype(dtype).name}", seed, size)
        return stateless.scaled_from(law, source, shape, mean, stddev, dtype)

    return scaled


@again()
@variant(_scaled, "RandomStandardNormal", laws.normal)
def normal() -> Tensor:
    """Normal numbers."""


@again()
@variant(_scaled, "TruncatedNormal", laws.truncated_normal)
def truncated_normal() -> Tensor:
    """Normal numbers at most two standard deviations from the mean."""


@again()
def gamma(
    shape: Shape,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers, ``shape`` of them for each parameter, differentiable in the parameters."""
    batch = np.broadcast_shapes(static.array(alpha).shape, () if beta is None else np.shape(beta))
    whole = (*static.lengths(shape), *batch)
    op = f"RandomGamma:{dtypes.as_dtype(dtype).name}"
    source = SEEDS.source(op, seed, math.prod(whole))
    return gamma_from(source, whole, alpha, beta, dtype)


@again()
def poisson(
    shape: Shape,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers, ``shape`` of them for each parameter."""
    rates = convert_to_tensor(lam)
    whole = (*static.lengths(shape), *rates._lengths())
    op = f"RandomPoissonV2:{rates.dtype.name}:{dtypes.as_dtype(dtype).name}"
    source = SEEDS.source(op, seed, math.prod(whole))
    return stateless.poisson_from(source, whole, rates, dtype)


def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The elements along the first axis in a random order."""
    x = convert_to_tensor(value)
    with paused():  # it has no derivative
        shuffled: Tensor = gather(x, _order(len(x), seed, x.dtype.name))
    return shuffled


@again()
def _order(size: int, seed: int | None, dtype: str) -> Tensor:
    return constant(permutation(size, seed, dtype))


def permutation(size: int, seed: int | None = None, dtype: str = "int64") -> NDArray[np.int64]:
    """The numbers below ``size`` in the order that ``shuffle`` gives elements of a dtype."""
    # Each change of places takes a word, and four words are a block.
    source = SEEDS.source(f"RandomShuffle:{dtype}", seed, -(-max(size - 1, 0) // 4), blocks=1)
    return laws.permutation(source, size)


@again()
def categorical(
    logits: TensorLike,
    num_samples: int,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Classes for each row of ``logits``, a matrix."""
    tensor, kind = convert_to_tensor(logits), dtypes.as_dtype(dtype or dtypes.int64)
    rows, count = static.array(tensor), int(num_samples)
    # Each class takes a double, two words of which are a block's half.
    op = f"Multinomial:{tensor.dtype.name}:{kind.name}"
    source = SEEDS.source(op, seed, 2 * len(rows) * 4 * -(-count // 4))
    return constant(laws.classes(source, rows, count), kind)
