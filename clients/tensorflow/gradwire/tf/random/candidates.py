"""Samplers of classes: TensorFlow's own draws, with how often each class is expected among them.

A class of probability p is expected p n times among n draws; among so many distinct ones as t
draws gave, 1 - (1 - p)^t times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.conversion import tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.operations.types import TensorLike
from gradwire.tf.philox import Philox
from gradwire.tf.seeds import SEEDS
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor

__all__ = ["log_uniform_candidate_sampler", "uniform_candidate_sampler"]

Floats = np.ndarray[Any, np.dtype[Any]]
_BLOCKS = 512
_UINT64 = 1 << 64


class Candidates(NamedTuple):
    """Classes that were drawn, and how often these and the true ones are expected."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Classes with the probabilities ``log((k + 2) / (k + 1)) / log(range_max + 1)``."""
    width = math.log1p(range_max)

    def drawn(words: Iterator[int]) -> int:
        high, low = next(words) & 0xFFFFF, next(words)
        evenly = (high << 32 | low) / (1 << 52)
        return (int(math.exp(evenly * width)) - 1) % range_max

    return _candidates(
        "LogUniformCandidateSampler",
        (true_classes, num_true, num_sampled, unique, range_max, seed),
        drawn,
        lambda classes: np.log((classes + 2.0) / (classes + 1.0)) / width,
    )


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Classes that are all as probable."""
    least = (_UINT64 - 1) % range_max + 1

    def drawn(words: Iterator[int]) -> int:
        number = next(words) | next(words) << 32
        if range_max & (range_max - 1) == 0:
            return number & (range_max - 1)
        while number < least:
            number = next(words) | next(words) << 32
        return number % range_max

    return _candidates(
        "UniformCandidateSampler",
        (true_classes, num_true, num_sampled, unique, range_max, seed),
        drawn,
        lambda classes: np.full(classes.shape, 1.0 / range_max),
    )


@again()
def _candidates(
    op: str,
    arguments: tuple[TensorLike, int, int, bool, int, int | None],
    drawn: Callable[[Iterator[int]], int],
    probabilities: Callable[[Floats], Floats],
) -> Candidates:
    true_classes, num_true, count, unique, range_max, seed = arguments
    true = static.array(true_classes).astype(np.int64)
    if true.ndim != 2 or true.shape[1] != num_true:
        raise invalid(
            f"true_classes must have num_true columns, expected: {true.shape[-1]} was: {num_true}"
        )
    if unique and count > range_max:
        raise invalid("Sampler's range is too small.")
    key = f"{op}:{num_true}:{count}:{unique}:{range_max}"
    words = _words(SEEDS.source(key, seed, count, _BLOCKS))
    sampled: list[int] = []
    tries = 0
    while len(sampled) < count:
        tries += 1
        one = drawn(words)
        if not unique or one not in sampled:
            sampled.append(one)
    classes = np.asarray(sampled, np.int64)

    def expected(classes: Floats) -> Tensor:
        p = probabilities(classes).astype(np.float32)
        often = p * count if tries == count else -np.expm1(tries * np.log1p(-p))
        return tensor_of(often.astype(np.float32), dtypes.float32)

    return Candidates(tensor_of(classes, dtypes.int64), expected(true), expected(classes))


def _words(source: Philox) -> Iterator[int]:
    while True:
        yield from source.words(256).tolist()
        source = source.skip(64)
