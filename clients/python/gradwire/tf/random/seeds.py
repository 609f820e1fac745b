"""What operations without a state of their own draw from: the global seed and theirs."""

from __future__ import annotations

import random
import secrets
import threading
from typing import Any

from gradwire.tf.random.philox import RESERVED, Philox

_LARGEST = 2**31 - 1
_DEFAULT_SEED = 87654321


class Seeds:
    """The seeds of operations, and how far each of them has drawn.

    An operation with a seed of its own goes on where it stopped when it was called last; one
    without has the next of a sequence that the global seed begins.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._global: int | None = None
        self._sequence: random.Random = random.Random(0)  # noqa: S311 - TensorFlow's, no secret
        self._drawn: dict[tuple[Any, ...], int] = {}

    def set(self, seed: int) -> None:
        """Begin anew from this global seed."""
        with self._lock:
            self._global = seed
            self._sequence = random.Random(seed)  # noqa: S311 - TensorFlow's, no secret
            self._drawn.clear()

    def pair(self, seed: int | None) -> tuple[int, int] | None:
        """Both seeds of an operation; ``None`` where nothing says what to draw."""
        with self._lock:
            if self._global is None and seed is None:
                return None
            first = _DEFAULT_SEED if self._global is None else self._global
            second = self._sequence.randint(0, _LARGEST) if seed is None else seed
        pair = first % _LARGEST, second % _LARGEST
        return (0, _LARGEST) if pair == (0, 0) else pair

    def source(self, op: str, seed: int | None, count: int, blocks: int = RESERVED) -> Philox:
        """A generator for ``count`` numbers of an operation, each of so many blocks at most."""
        pair = self.pair(seed)
        if pair is None:
            return Philox(secrets.randbits(64), secrets.randbits(128))
        if seed is None:
            return Philox.of_seeds(*pair)
        with self._lock:
            drawn = self._drawn.get((op, *pair), 0)
            self._drawn[(op, *pair)] = drawn + count * blocks
        return Philox.of_seeds(*pair).skip(drawn)


SEEDS = Seeds()
