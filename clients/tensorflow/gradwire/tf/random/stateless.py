"""Draws that a seed alone decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf import dtypes, errors, static
from gradwire.tf.arguments import only_philox
from gradwire.tf.conversion import constant, convert_to_tensor
from gradwire.tf.gathering import gather
from gradwire.tf.operations import rules
from gradwire.tf.operations.declaring import Operation
from gradwire.tf.operations.types import DTypeLike, Shape, TensorLike
from gradwire.tf.operators import add, multiply, subtract
from gradwire.tf.philox import Philox
from gradwire.tf.random import laws, rejection
from gradwire.tf.random.gammas import gamma_from
from gradwire.tf.seeds import SEEDS
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant

__all__ = [
    "fold_in", "split", "stateless_binomial", "stateless_categorical", "stateless_gamma",
    "stateless_normal", "stateless_parameterized_truncated_normal", "stateless_poisson",
    "stateless_truncated_normal", "stateless_uniform",
]  # fmt: skip

#: Draws so many numbers of a dtype.
Law = Callable[[Philox, int, dtypes.DType], Any]


def source_of(seed: TensorLike) -> Philox:
    """The generator of a stateless operation."""
    SEEDS.check()
    pair = static.array(seed)
    if pair.shape != (2,):
        shape = ",".join(map(str, pair.shape))
        raise errors.invalid(
            f"seed must have shape [2], not [{shape}] [Op:StatelessRandomGetKeyCounter]"
        )
    return Philox.scrambled(int(pair[0]), int(pair[1]))


@again(effect=False)
def stateless_uniform(
    shape: Shape,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Numbers evenly from ``minval`` to below ``maxval``; integers if ``dtype`` is of these."""
    only_philox("stateless_uniform", alg)
    return uniform_from(source_of(seed), shape, minval, maxval, dtype)


def _scaled(
    shape: Shape,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Callable[..., Tensor]:
    def scaled(law: Law) -> Tensor:
        only_philox(f"stateless_{law.__name__}", alg)
        return scaled_from(law, source_of(seed), shape, mean, stddev, dtype)

    return scaled


@again(effect=False)
@variant(_scaled, laws.normal)
def stateless_normal() -> Tensor:
    """Normal numbers."""


@again(effect=False)
@variant(_scaled, laws.truncated_normal)
def stateless_truncated_normal() -> Tensor:
    """Normal numbers at most two standard deviations from the mean."""


@again(effect=False)
def stateless_categorical(
    logits: TensorLike,
    num_samples: int,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Classes for each row of ``logits``, a matrix."""
    return constant(laws.classes(source_of(seed), static.array(logits), int(num_samples)), dtype)


@again(effect=False)
def stateless_binomial(
    shape: Shape,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of ``counts`` trials that succeed."""
    return binomial_from(source_of(seed), static.lengths(shape), counts, probs, output_dtype)


@again(effect=False)
def stateless_poisson(
    shape: Shape,
    seed: TensorLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Poisson numbers."""
    return poisson_from(source_of(seed), static.lengths(shape), lam, dtype)


@again(effect=False)
def stateless_gamma(
    shape: Shape,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers, differentiable in their parameters."""
    source = source_of(seed)
    return gamma_from(source, static.lengths(shape), alpha, beta, dtype)


@again(effect=False)
def stateless_parameterized_truncated_normal(
    shape: Shape,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normal numbers between ``minvals`` and ``maxvals``; others than TensorFlow's."""
    key = np.array(laws.words_of(source_of(seed)), np.int64)
    operation = Operation(
        "tf.random.stateless_parameterized_truncated_normal",
        "StatelessParameterizedTruncatedNormal",
        places=("seed",),
    )
    drawn: Tensor = rules.like(
        operation,
        {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals, "seed": key},
        {"shape": static.lengths(shape)},
    )
    return drawn


@again(effect=False)
def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: str = "auto_select", name: str | None = None
) -> Tensor:
    """The elements along the first axis in a random order."""
    only_philox("stateless_shuffle", alg)
    x = convert_to_tensor(value)
    shuffled: Tensor = gather(x, laws.permutation(source_of(seed), len(x)))
    return shuffled


@again(effect=False)
def split(seed: TensorLike, num: int = 2, alg: str = "auto_select") -> Tensor:
    """``num`` seeds that are independent of one another, one per row."""
    only_philox("split", alg)
    kind = dtypes.of_numpy(static.array(seed).dtype)
    return uniform_from(source_of(seed), (num, 2), None, None, kind)


@again(effect=False)
def fold_in(seed: TensorLike, data: TensorLike, alg: str = "auto_select") -> Tensor:
    """Another seed, for ``data``."""
    only_philox("fold_in", alg)
    kind = static.array(seed).dtype
    first = laws.any_integers(source_of(seed), 1, kind)[0]
    return constant(np.array([first, static.array(data).astype(kind)], kind))


def uniform_from(
    source: Philox,
    shape: Shape,
    minval: TensorLike | None,
    maxval: TensorLike | None,
    dtype: DTypeLike,
) -> Tensor:
    """Uniform numbers of a generator."""
    kind, lengths = dtypes.as_dtype(dtype), static.lengths(shape)
    size = math.prod(lengths)
    if kind.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"for the integer `dtype` {kind!r} pass both `minval` and `maxval`, or neither"
            )
        if minval is not None and kind.is_unsigned:
            raise ValueError(
                f"a range of the unsigned `dtype` {kind!r} is not supported; leave out `minval` "
                "and `maxval`, or use a signed dtype"
            )
        if minval is None or maxval is None:
            return constant(laws.any_integers(source, size, kind.storage).reshape(lengths), kind)
        low, high = int(static.array(minval)), int(static.array(maxval))
        if low >= high:
            raise errors.invalid(f"Need minval < maxval, got {low} >= {high}")
        drawn = laws.integers(source, size, low, high, kind.storage)
        return constant(drawn.reshape(lengths), kind)
    unit = laws.uniform(source, size, kind).reshape(lengths)
    bounds: list[Any] = [0 if minval is None else minval, 1 if maxval is None else maxval]
    if all(_plain(bound) for bound in bounds):
        least, most = (np.asarray(bound, kind.storage) for bound in bounds)
        return constant(unit * (most - least) + least, kind)
    start, stop = (convert_to_tensor(bound, kind) for bound in bounds)
    return add(multiply(constant(unit, kind), subtract(stop, start)), start)


def scaled_from(
    law: Law,
    source: Philox,
    shape: Shape,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike,
) -> Tensor:
    """Numbers of a law, times ``stddev``, plus ``mean``."""
    kind, lengths = dtypes.as_dtype(dtype), static.lengths(shape)
    if not kind.is_floating:
        raise TypeError(f"Cannot convert {mean!r} to EagerTensor of dtype {kind.name}")
    drawn = law(source, math.prod(lengths), kind).reshape(lengths)
    if _plain(mean) and _plain(stddev):
        scale, offset = (np.asarray(part, kind.storage) for part in (stddev, mean))
        return constant(drawn * scale + offset, kind)
    scaled = multiply(constant(drawn, kind), convert_to_tensor(stddev, kind))
    return add(scaled, convert_to_tensor(mean, kind))


def poisson_from(
    source: Philox, shape: tuple[int, ...], lam: TensorLike, dtype: DTypeLike
) -> Tensor:
    """Poisson numbers of a generator, ``shape`` being the whole shape."""
    return constant(rejection.drawn(rejection.poisson, source, shape, static.array(lam)), dtype)


def binomial_from(
    source: Philox, shape: tuple[int, ...], counts: TensorLike, probs: TensorLike, dtype: DTypeLike
) -> Tensor:
    """Binomial numbers of a generator, ``shape`` being the whole shape."""
    parameters = static.array(counts), static.array(probs)
    return constant(rejection.drawn(rejection.binomial, source, shape, *parameters), dtype)


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float, np.generic)) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )
