"""Distributions of the generator's words, as TensorFlow makes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.tf.dtypes import DType, float64
from gradwire.tf.philox import RESERVED, Philox, Words

#: The number in place of 0, which has no logarithm.
_LEAST = 1e-7
#: Blocks of which four numbers are certainly within 2.
_ENOUGH = 64


def uniform(source: Philox, size: int, dtype: DType) -> NDArray[Any]:
    """Numbers from 0 to below 1: the bits of a mantissa."""
    if dtype.name == "float64":
        return doubles(source.words(2 * size).reshape(-1, 2))
    words = source.words(size)
    if dtype.name == "bfloat16":
        return _floats((words & np.uint32(0x7F)) << np.uint32(16)).astype(dtype.storage)
    if dtype.name == "float16":
        bits = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
        return bits.view(np.float16) - np.float16(1)
    return _floats(words)


def normal(source: Philox, size: int, dtype: DType) -> NDArray[Any]:
    """Standard normal numbers, by the method of Box and Muller."""
    pairs = -(-size // 2)
    if dtype.name == "float64":
        return double_normals(source.words(4 * pairs).reshape(-1, 2))[:size]
    words = source.words(2 * pairs).reshape(-1, 2)
    return _box_muller(_floats(words))[:size].astype(dtype.storage)


def truncated_normal(source: Philox, size: int, dtype: DType) -> NDArray[Any]:
    """Standard normal numbers, those beyond 2 drawn again."""
    group = 2 if dtype.name == "float64" else 4
    rows, apart = -(-size // group), group * RESERVED // 4
    # Two blocks of each row hold four (two) numbers within 2 nearly always.
    words = source.blocks_at(np.add.outer(np.arange(rows) * apart, np.arange(2)).reshape(-1))
    drawn = _normals(words.reshape(rows * 4, 2), group).reshape(rows, 2 * group)
    kept = np.abs(drawn) < 2
    first = np.argsort(~kept, axis=1, kind="stable")[:, :group]
    found = np.take_along_axis(drawn, first, axis=1)
    for row in np.flatnonzero(kept.sum(axis=1) < group):
        words = source.skip(int(row) * apart).blocks(_ENOUGH)
        again = _normals(words.reshape(-1, 2), group)
        found[row] = again[np.abs(again) < 2][:group]
    return found.reshape(-1)[:size].astype(dtype.storage)


def _normals(pairs: Words, group: int) -> NDArray[Any]:
    """The normal numbers of words, in single precision by fours, in double by twos."""
    return _box_muller(_floats(pairs)) if group == 4 else double_normals(pairs)


def integers(source: Philox, size: int, low: int, high: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Integers from ``low`` to below ``high``."""
    span, found = high - low, np.zeros(size, dtype)
    if dtype.itemsize == 8:
        pairs = source.words(2 * size).reshape(-1, 2).astype(np.uint64)
        bits = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
        found[:] = (bits % np.uint64(span)).astype(dtype) + dtype.type(low)
    else:
        found[:] = (source.words(size) % np.uint32(span)).astype(np.int64) + low
    return found


def any_integers(source: Philox, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Integers of which every bit is random."""
    if dtype.itemsize == 8:
        pairs = source.words(2 * size).reshape(-1, 2).astype(np.uint64)
        return (pairs[:, 0] | pairs[:, 1] << np.uint64(32)).view(dtype)
    return source.words(size).view(dtype)


def permutation(source: Philox, size: int) -> NDArray[np.int64]:
    """An order of ``size`` things: each in turn changes places with one that follows, or itself."""
    order = np.arange(size)
    for place, word in enumerate(source.words(max(size - 1, 0))):
        other = place + int(word) % (size - place)
        order[[place, other]] = order[[other, place]]
    return order


def _floats(words: Words) -> NDArray[np.float32]:
    bits = words & np.uint32(0x7FFFFF) | np.uint32(127 << 23)
    return bits.view(np.float32) - np.float32(1)


def doubles(pairs: Words) -> NDArray[np.float64]:
    """Numbers from 0 to below 1 of pairs of words."""
    high = (pairs[:, 0] & np.uint32(0xFFFFF)).astype(np.uint64) << np.uint64(32)
    bits = high | pairs[:, 1].astype(np.uint64) | np.uint64(1023 << 52)
    return bits.view(np.float64) - 1.0


def double_normals(pairs: Words) -> NDArray[np.float64]:
    """Standard normal numbers of pairs of words, as many as pairs."""
    found: NDArray[np.float64] = _box_muller(doubles(pairs).reshape(-1, 2))
    return found


def _box_muller(pairs: NDArray[Any]) -> NDArray[Any]:
    kind = pairs.dtype.type

    # Functions in double precision, rounded once: NumPy's in single precision are further off.
    logarithms = np.log(np.maximum(pairs[:, 0], kind(_LEAST)).astype(np.float64))
    radius = np.sqrt(kind(-2) * logarithms.astype(kind))
    angle = (2 * math.pi * pairs[:, 1].astype(np.float64)).astype(kind).astype(np.float64)
    sine, cosine = np.sin(angle).astype(kind), np.cos(angle).astype(kind)
    return np.stack((sine * radius, cosine * radius), axis=1).reshape(-1)


def classes(source: Philox, logits: NDArray[Any], count: int) -> NDArray[np.int64]:
    """So many classes for each row of ``logits``: the inverse of the distribution function."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    totals = np.cumsum(weights, axis=1)
    drawn = uniform(source, count * len(logits), float64).reshape(-1, count)
    pairs = zip(totals, drawn, strict=True)
    found = [np.searchsorted(row, place * row[-1], side="right") for row, place in pairs]
    return np.array(found, np.int64).reshape(len(logits), count)


def words_of(source: Philox) -> tuple[int, int]:
    """Two numbers that seed another generator."""
    a, b = source.words(2)
    return int(a), int(b)
