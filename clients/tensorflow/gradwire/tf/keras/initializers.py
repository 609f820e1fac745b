"""First values of weights, drawn here by NumPy.

Seeded ones draw the same numbers each time; they are not the numbers that TensorFlow draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.seeds import generator

Shape: TypeAlias = Sequence[int]


class Initializer:
    """Makes a tensor of a shape and a dtype."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        """The first value of a weight."""
        kind = tf.as_dtype("float32" if dtype is None else dtype)
        lengths = tuple(int(length) for length in shape)
        return tf.constant(self.drawn(lengths).astype(kind.as_numpy_dtype), dtype=kind)

    def drawn(self, shape: tuple[int, ...]) -> Any:
        """The values as an array."""
        raise NotImplementedError(f"{type(self).__name__} must have a method drawn")


class Zeros(Initializer):
    """All zeros."""

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape)


class Ones(Initializer):
    """All ones."""

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return np.ones(shape)


class Constant(Initializer):
    """The same value everywhere, or that of an array."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value: Any = value

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(np.asarray(self.value), shape).copy()


class Identity(Initializer):
    """``gain`` times the identity matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain: float = gain

    def drawn(self, shape: tuple[int, ...]) -> Any:
        rows, columns = shape
        return self.gain * np.eye(rows, columns)


class RandomNormal(Initializer):
    """Normally distributed."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean: float = mean
        self.stddev: float = stddev
        self.seed: int | None = seed

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return _generator(self.seed).normal(self.mean, self.stddev, shape)


class TruncatedNormal(RandomNormal):
    """Normally distributed, drawn anew beyond two standard deviations."""

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return self.mean + self.stddev * _truncated(_generator(self.seed), shape)


class RandomUniform(Initializer):
    """Evenly distributed from ``minval`` to ``maxval``."""

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None
    ) -> None:
        self.minval: float = minval
        self.maxval: float = maxval
        self.seed: int | None = seed

    def drawn(self, shape: tuple[int, ...]) -> Any:
        return _generator(self.seed).uniform(self.minval, self.maxval, shape)


class Orthogonal(Initializer):
    """Orthonormal rows or columns, whichever are fewer."""

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain: float = gain
        self.seed: int | None = seed

    def drawn(self, shape: tuple[int, ...]) -> Any:
        rows, columns = math.prod(shape[:-1]), shape[-1]
        tall = (max(rows, columns), min(rows, columns))
        q, r = np.linalg.qr(_generator(self.seed).normal(size=tall))
        q = q * np.sign(np.diagonal(r))
        return self.gain * (q if rows >= columns else q.T).reshape(shape)


class VarianceScaling(Initializer):
    """Of a variance of ``scale`` by the number of inputs, outputs, or their mean."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ) -> None:
        self.scale: float = scale
        self.mode: str = mode
        self.distribution: str = distribution
        self.seed: int | None = seed

    def drawn(self, shape: tuple[int, ...]) -> Any:
        inputs, outputs = _fans(shape)
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        variance = self.scale / max(1.0, fans[self.mode])
        generator = _generator(self.seed)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return generator.uniform(-limit, limit, shape)
        if self.distribution == "untruncated_normal":
            return generator.normal(0.0, math.sqrt(variance), shape)
        # The standard deviation of what is left of a normal distribution within two of its own.
        return math.sqrt(variance) / 0.87962566103423978 * _truncated(generator, shape)


class GlorotUniform(VarianceScaling):
    """Glorot and Bengio's, evenly distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    """Glorot and Bengio's, normally distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


class HeUniform(VarianceScaling):
    """He's, evenly distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed)


class HeNormal(VarianceScaling):
    """He's, normally distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "truncated_normal", seed)


class LecunUniform(VarianceScaling):
    """LeCun's, evenly distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    """LeCun's, normally distributed."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "truncated_normal", seed)


#: Keras's names in lower case, which initialisers may be given by.
zeros = Zeros
ones = Ones
constant = Constant
identity = Identity
random_normal = RandomNormal
random_uniform = RandomUniform
truncated_normal = TruncatedNormal
orthogonal = Orthogonal
variance_scaling = VarianceScaling
glorot_uniform = GlorotUniform
glorot_normal = GlorotNormal
he_uniform = HeUniform
he_normal = HeNormal
lecun_uniform = LecunUniform
lecun_normal = LecunNormal

_BY_NAME: dict[str, type[Initializer]] = {
    "zeros": Zeros, "zero": Zeros, "ones": Ones, "one": Ones, "constant": Constant,
    "identity": Identity, "random_normal": RandomNormal, "normal": RandomNormal,
    "random_uniform": RandomUniform, "uniform": RandomUniform,
    "truncated_normal": TruncatedNormal, "orthogonal": Orthogonal,
    "variance_scaling": VarianceScaling, "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal, "he_uniform": HeUniform, "he_normal": HeNormal,
    "lecun_uniform": LecunUniform, "lecun_normal": LecunNormal,
}  # fmt: skip


def get(identifier: Any) -> Callable[..., Any] | None:
    """An initialiser by its name, its class, or as it is."""
    if identifier is None or (callable(identifier) and not isinstance(identifier, type)):
        found: Callable[..., Any] | None = identifier
        return found
    if isinstance(identifier, type):
        return identifier()  # type: ignore[no-any-return]  # a class of initialisers
    name = snake_case(str(identifier))
    if name not in _BY_NAME:
        raise ValueError(f"Could not interpret initializer identifier: {identifier}")
    return _BY_NAME[name]()


def _generator(seed: Any) -> np.random.Generator:
    return generator(seed)


def _truncated(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    drawn = generator.normal(size=shape)
    while (beyond := np.abs(drawn) > 2).any():
        drawn = np.where(beyond, generator.normal(size=shape), drawn)
    return drawn


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    if len(shape) < 2:
        return (float(shape[0]), float(shape[0])) if shape else (1.0, 1.0)
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)
