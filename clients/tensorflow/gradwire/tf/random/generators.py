"""``tf.random.Generator``: a generator whose state is its own."""

from __future__ import annotations

import enum
import math
import secrets
from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arguments import only_philox
from gradwire.tf.conversion import constant
from gradwire.tf.operations.types import DTypeLike, Shape, TensorLike
from gradwire.tf.philox import RESERVED, Philox
from gradwire.tf.random import laws, stateless
from gradwire.tf.seeds import SEEDS
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor
from gradwire.tf.variables import Variable

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator",
]  # fmt: skip


class Algorithm(enum.Enum):
    """The algorithm of a generator; here it is always Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def create_rng_state(seed: Any, alg: Any = "philox") -> Tensor:
    """The state of a generator that begins at a seed: two words of its counter, and its key."""
    only_philox("create_rng_state", alg)
    if isinstance(seed, int) or not static.array(seed).ndim:
        # One integer of three words, a negative one in two's complement.
        state = [int(seed) >> shift for shift in (0, 64, 128)]
    else:
        numbers = [int(word) for word in static.array(seed)]
        if len(numbers) > 3:
            raise ValueError("a seed has three numbers at most")
        state = [0] * (3 - len(numbers)) + numbers
    return constant(np.array([_signed(word) for word in state], np.int64))


class Generator:
    """Draws numbers, each call going on where the last one stopped."""

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        only_philox("Generator", alg)
        self.algorithm: int = Algorithm.PHILOX.value
        if copy_from is None and isinstance(state, Variable):
            self._state: Variable = state  # which both generators go on from
            return
        start = copy_from.state if copy_from is not None else state
        self._state = Variable(
            static.array(start).astype(np.int64), name="StateVar", trainable=False
        )

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """The generator that begins at a seed."""
        return cls(state=create_rng_state(seed), alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any = None) -> Generator:
        """The generator in a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any = None) -> Generator:
        """The generator at a counter, two numbers, under a key."""
        return cls(state=np.array([*static.array(counter), static.array(key)], np.int64), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that nobody can foresee."""
        return cls(state=np.array([_signed(secrets.randbits(64)) for _ in range(3)]), alg=alg)

    @property
    def state(self) -> Variable:
        """Two words of the counter, and the key."""
        return self._state

    @property
    def key(self) -> Tensor:
        """The key."""
        return constant(np.int64(self._words()[2]))

    @again()
    def reset(self, state: Any) -> None:
        """Go on from another state."""
        self._state.assign(static.array(state).astype(np.int64))

    @again()
    def reset_from_seed(self, seed: Any) -> None:
        """Begin at a seed."""
        self._state.assign(create_rng_state(seed))

    @again()
    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go on at a counter under a key."""
        self._state.assign(np.array([*static.array(counter), static.array(key)], np.int64))

    @again()
    def skip(self, delta: Any) -> Tensor:
        """Leave out as many numbers as ``delta`` have a place."""
        return constant(self._moved(int(static.array(delta)) * RESERVED)[1])

    @again()
    def uniform(
        self,
        shape: Shape,
        minval: TensorLike | None = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers evenly from ``minval`` to below ``maxval``."""
        return stateless.uniform_from(self._source(shape), shape, minval, maxval, dtype)

    @again()
    def uniform_full_int(
        self, shape: Shape, dtype: DTypeLike = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers of which every bit is random."""
        return stateless.uniform_from(self._source(shape), shape, None, None, dtype)

    @again()
    def normal(
        self,
        shape: Shape,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers."""
        source = self._source(shape)
        return stateless.scaled_from(laws.normal, source, shape, mean, stddev, dtype)

    @again()
    def truncated_normal(
        self,
        shape: Shape,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers at most two standard deviations from the mean."""
        source = self._source(shape)
        return stateless.scaled_from(laws.truncated_normal, source, shape, mean, stddev, dtype)

    @again()
    def binomial(
        self,
        shape: Shape,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """The number of ``counts`` trials that succeed."""
        lengths = static.lengths(shape)
        trials, chances = static.array(counts), static.array(probs)
        width = max(math.prod(np.broadcast_shapes(trials.shape, chances.shape)), 1)
        # Room for a hundred attempts, two numbers each, rounded as TensorFlow does.
        room = width * 200 * (math.prod(lengths) // width + 3) // 4
        source = self._moved(room * RESERVED)[0]
        return stateless.binomial_from(source, lengths, trials, chances, dtype)

    @again()
    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for stateless operations, one in each column."""
        keys = self.uniform_full_int([count], dtypes.int64).numpy()
        return constant(np.stack([keys, np.zeros_like(keys)]))

    def split(self, count: int = 1) -> list[Generator]:
        """Generators that are independent of one another and of this one."""
        keys = self.uniform_full_int([count], dtypes.int64).numpy()
        return [Generator(state=np.array([0, 0, key], np.int64)) for key in keys]

    def _source(self, shape: Shape) -> Philox:
        return self._moved(math.prod(static.lengths(shape)) * RESERVED)[0]

    def _moved(self, blocks: int) -> tuple[Philox, Any]:
        SEEDS.check()
        words = self._words()
        source = Philox(words[2] & _MASK64, (words[0] & _MASK64) | (words[1] & _MASK64) << 64)
        counter = source.skip(blocks).counter
        state = [_signed(counter & _MASK64), _signed(counter >> 64), words[2]]
        if not SEEDS.is_scratch:
            self._state.assign(np.array(state, np.int64))
        return source, np.array(words, np.int64)

    def _words(self) -> list[int]:
        return [int(word) for word in self._state.numpy()]


class _Global:
    generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator that all may use, made when it is first asked for."""
    if _Global.generator is None:
        _Global.generator = Generator.from_non_deterministic_state()
    return _Global.generator


def set_global_generator(generator: Generator) -> None:
    """Have another generator be the one that all may use."""
    _Global.generator = generator


_MASK64 = (1 << 64) - 1


def _signed(word: int) -> int:
    word &= _MASK64
    return word - (1 << 64) if word >> 63 else word
