"""Numbers of the generator Philox 4×32-10, drawn in the order that TensorFlow draws them.

Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011). A block of four 32-bit
words is a function of a 128-bit counter and a 64-bit key, so any block is found at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_ROUNDS = 10
#: Steps of the counter reserved for each number of a draw of unknown need.
RESERVED = 256
_MASK128 = (1 << 128) - 1
_MASK64 = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Philox:
    """A generator at one place of its sequence."""

    key: int
    counter: int

    @classmethod
    def of_seeds(cls, seed: int, seed2: int) -> Philox:
        """The generator that an operation with these two seeds has."""
        return cls(seed & _MASK64, (seed2 & _MASK64) << 64)

    @classmethod
    def scrambled(cls, seed: int, seed2: int) -> Philox:
        """The generator of a stateless operation, whose seeds need not be strong."""
        start = Philox(0x02461E293EC8F720, (seed & _MASK64) | (seed2 & _MASK64) << 64)
        a, b, c, d = (int(word) for word in start.blocks(1)[0])
        return cls(a | b << 32, c << 64 | d << 96)

    def skip(self, blocks: int) -> Philox:
        """The generator so many blocks further."""
        return Philox(self.key, (self.counter + blocks) & _MASK128)

    def blocks(self, count: int) -> Words:
        """The next blocks, as rows of four words."""
        return self.blocks_at(np.arange(count))

    def blocks_at(self, places: NDArray[np.int64]) -> Words:
        """The blocks at places from here on."""
        counters = self._counters(places.astype(np.uint64))
        low, high = np.uint32(self.key & 0xFFFFFFFF), np.uint32(self.key >> 32)
        with np.errstate(over="ignore"):
            for turn in range(_ROUNDS):
                if turn:
                    low, high = low + _WEYL[0], high + _WEYL[1]
                counters = _mixed(counters, low, high)
        return counters

    def words(self, count: int) -> Words:
        """The next words."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]

    def _counters(self, places: NDArray[np.uint64]) -> Words:
        with np.errstate(over="ignore"):
            low = np.uint64(self.counter & _MASK64) + places
            high = np.uint64(self.counter >> 64) + (low < places).astype(np.uint64)
        parts = (low & _LOW, low >> _SHIFT, high & _LOW, high >> _SHIFT)
        return np.stack(parts, axis=1).astype(np.uint32)


def _mixed(counters: Words, low: np.uint32, high: np.uint32) -> Words:
    first = counters[:, 0].astype(np.uint64) * _MULTIPLIERS[0]
    second = counters[:, 2].astype(np.uint64) * _MULTIPLIERS[1]
    return np.stack(
        (
            (second >> _SHIFT).astype(np.uint32) ^ counters[:, 1] ^ low,
            second.astype(np.uint32),
            (first >> _SHIFT).astype(np.uint32) ^ counters[:, 3] ^ high,
            first.astype(np.uint32),
        ),
        axis=1,
    )
