"""The seeds of Keras's draws: each is a pair, a seed and how often it has been drawn from.

What has no seed of its own gets one from Python's ``random`` when it is made, so that
``keras.utils.set_random_seed`` and ``random.seed`` decide it, and ``tf.random.set_seed`` does not.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.seeds import SEEDS
from gradwire.tf.steps import again

#: Parts of seeds are taken modulo this number.
_MODULUS = 2**31 - 2
_GREATEST_DEFAULT = 10**9


class SeedGenerator:
    """Seeds ``[seed, 0]``, ``[seed, 1]`` and so on for draws without a state."""

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        checked(seed)
        self.name: str = "seed_generator" if name is None else name
        self._given: int = default_seed() if seed is None else int(seed)
        self._pair: tuple[int, int] = (self._given, 0)

    @property
    def state(self) -> tf.Tensor:
        """The next seed."""
        return tf.constant(self._pair, tf.int64)

    @again()
    def next(self, ordered: bool = True) -> tf.Tensor:
        """The next seed; with ``ordered=False``, of another sequence of Keras's."""
        seed = self.state
        first, second = self._pair
        if not SEEDS.is_scratch:
            if _SHARED.draws is not None:
                _SHARED.draws.append((self, ordered))
            self._pair = (first, second + 1) if ordered else (_unordered(first), _unordered(second))
        return seed

    def get_config(self) -> dict[str, Any]:
        """The arguments of another one that begins like this one."""
        return {"seed": self._given}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SeedGenerator:
        """The generator that ``get_config`` describes."""
        return cls(**config)


def _unordered(number: int) -> int:
    return (number + 1) * 5387 % 933199


def default_seed() -> int:
    """A seed for what is given none."""
    return random.randint(1, _GREATEST_DEFAULT)  # noqa: S311 - reproducible, no secret


def checked(seed: Any) -> Any:
    """A seed as it is, if it is one."""
    known = seed is None or isinstance(seed, SeedGenerator)
    if not known and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise ValueError(f"`seed` is an integer, a SeedGenerator or None, not {seed!r}")
    return seed


@again()
def drawn_seed(seed: Any) -> Any:
    """The pair that decides one draw: of a generator, of an integer, or of all without a seed."""
    if seed is None:
        if _SHARED.generator is None:
            _SHARED.generator = SeedGenerator()
        return _reduced(_SHARED.generator.next(ordered=False))
    checked(seed)
    return _reduced(seed.next() if isinstance(seed, SeedGenerator) else (seed, 0))


def _reduced(pair: Any) -> Any:
    return tf.constant([int(part) % _MODULUS for part in np.asarray(pair)], tf.int32)


def set_random_seed(seed: int) -> None:
    """Seed everything that draws: Python, NumPy, TensorFlow's names, and Keras."""
    if not isinstance(seed, int):
        raise ValueError(f"`seed` must be an integer; got {seed!r}")
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    forget()


def forget() -> None:
    """Begin anew with what is drawn without a seed."""
    _SHARED.generator = None


@contextlib.contextmanager
def noted() -> Iterator[list[tuple[SeedGenerator, bool]]]:
    """The draws in this context: from which generator, and whether ordered."""
    outer = _SHARED.draws
    draws: list[tuple[SeedGenerator, bool]] = []
    _SHARED.draws = draws
    try:
        yield draws
    finally:
        _SHARED.draws = outer


class _Shared:
    generator: SeedGenerator | None = None
    draws: list[tuple[SeedGenerator, bool]] | None = None


_SHARED = _Shared()
