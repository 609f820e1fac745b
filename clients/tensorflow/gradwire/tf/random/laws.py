"""Distributions of the generator's words, as TensorFlow makes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.tf.random.philox import RESERVED, Philox, Words

#: What stands for 0, which has no logarithm.
_LEAST = 1e-7


def uniform(source: Philox, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Numbers from 0 to below 1: the bits of a mantissa."""
    if dtype == np.float64:
        return _doubles(source.words(2 * size).reshape(-1, 2))
    if dtype == np.float16:
        bits = (source.words(size) & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
        return bits.view(np.float16) - np.float16(1)
    drawn: NDArray[Any] = _floats(source.words(size)).astype(dtype, copy=False)
    return drawn


def normal(source: Philox, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Standard normal numbers, by the method of Box and Muller."""
    if dtype == np.float64:
        pairs = -(-size // 2)
        return _box_muller(_doubles(source.words(4 * pairs).reshape(-1, 2)).reshape(-1, 2))[:size]
    pairs = -(-size // 2)
    words = source.words(2 * pairs).reshape(-1, 2)
    return _box_muller(_floats(words))[:size].astype(dtype, copy=False)


def truncated_normal(source: Philox, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Standard normal numbers, those beyond 2 drawn again."""
    group = 2 if dtype == np.float64 else 4
    found = np.zeros((-(-size // group), group), np.float64 if group == 2 else np.float32)
    for row, numbers in enumerate(found):
        taken, place = 0, source.skip(row * group * RESERVED // 4)
        while taken < group:
            words = place.blocks(8)
            place = place.skip(8)
            drawn = _box_muller(
                _doubles(words.reshape(-1, 2)).reshape(-1, 2)
                if group == 2
                else _floats(words.reshape(-1, 2))
            )
            kept = drawn[np.abs(drawn) < 2][: group - taken]
            numbers[taken : taken + len(kept)] = kept
            taken += len(kept)
    return found.reshape(-1)[:size].astype(dtype, copy=False)


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


def _doubles(pairs: Words) -> NDArray[np.float64]:
    high = (pairs[:, 0] & np.uint32(0xFFFFF)).astype(np.uint64) << np.uint64(32)
    bits = high | pairs[:, 1].astype(np.uint64) | np.uint64(1023 << 52)
    return bits.view(np.float64) - 1.0


def _box_muller(pairs: NDArray[Any]) -> NDArray[Any]:
    kind = pairs.dtype.type
    radius = np.sqrt(kind(-2) * np.log(np.maximum(pairs[:, 0], kind(_LEAST))))
    angle = kind(2 * math.pi) * pairs[:, 1]
    return np.stack((np.sin(angle) * radius, np.cos(angle) * radius), axis=1).reshape(-1)


def classes(source: Philox, logits: NDArray[Any], count: int) -> NDArray[np.int64]:
    """So many classes for each row of ``logits``: the inverse of the distribution function."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    totals = np.cumsum(weights, axis=1)
    drawn = uniform(source, count * len(logits), np.dtype(np.float64)).reshape(-1, count)
    pairs = zip(totals, drawn, strict=True)
    found = [np.searchsorted(row, place * row[-1], side="right") for row, place in pairs]
    return np.array(found, np.int64).reshape(len(logits), count)


def words_of(source: Philox) -> tuple[int, int]:
    """Two numbers that seed another generator."""
    a, b = source.words(2)
    return int(a), int(b)


def generator(source: Philox) -> np.random.Generator:
    """NumPy's generator, for laws that TensorFlow draws in ways of its own."""
    return np.random.Generator(np.random.Philox(words_of(source)))
