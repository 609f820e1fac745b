"""First values of weights: Keras's own numbers for their seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import random
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import Configured, resolved
from gradwire.tf.keras.seeds import SeedGenerator, checked, default_seed
from gradwire.tf.keras.settings import floatx

Shape: TypeAlias = Sequence[int]
Axes: TypeAlias = Sequence[int] | None

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("uniform", "truncated_normal", "untruncated_normal")
#: The standard deviation of what is left of a normal distribution within two of its own.
_TRUNCATED_DEVIATION = 0.87962566103423978


class Initializer(Configured):
    """Makes a tensor of a shape and a dtype."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        """The first value of a weight."""
        raise NotImplementedError(f"{type(self).__name__} must have a method __call__")

    def clone(self) -> Self:
        """Another one like this one, with a new seed if this one was given none."""
        made: Self = type(self).from_config(self.get_config())
        return made


class Zeros(Initializer):
    """All zeros."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return tf.zeros(_lengths(shape), _kind(dtype))


class Ones(Initializer):
    """All ones."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return tf.ones(_lengths(shape), _kind(dtype))


@configurable
class Constant(Initializer):
    """The same value everywhere, or that of an array."""

    value: Any = 0.0

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        value = tf.cast(self.value, _kind(dtype))  # Python's numbers are float32 before that
        return tf.broadcast_to(value, _lengths(shape))


@configurable
class Identity(Initializer):
    """``gain`` times the identity matrix."""

    gain: float = 1.0

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        lengths, kind = _lengths(shape), _kind(dtype)
        if len(lengths) != 2:
            raise ValueError(f"an identity matrix has two axes; got shape {shape}")
        return tf.constant((self.gain * np.eye(*lengths)).astype(kind.as_numpy_dtype), dtype=kind)


class RandomInitializer(Initializer):
    """Draws the same numbers each time; without a seed, Python's ``random`` gives it one."""

    def __init__(self, seed: Any = None) -> None:
        self._given: Any = checked(seed)
        self.seed: Any = default_seed() if seed is None else seed

    def get_config(self) -> dict[str, Any]:
        given = self._given
        seed = given.get_config() if isinstance(given, SeedGenerator) else given
        return {**super().get_config(), "seed": seed}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        seed = config.get("seed")
        return cls(**{**config, "seed": SeedGenerator(**seed) if isinstance(seed, dict) else seed})


@configurable
class RandomNormal(RandomInitializer):
    """Normally distributed."""

    mean: float = 0.0
    stddev: float = 0.05
    seed: Any = None

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.normal(_lengths(shape), self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normally distributed, drawn anew beyond two standard deviations."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.truncated_normal(_lengths(shape), self.mean, self.stddev, dtype, self.seed)


@configurable
class RandomUniform(RandomInitializer):
    """Evenly distributed from ``minval`` to ``maxval``."""

    minval: float = -0.05
    maxval: float = 0.05
    seed: Any = None

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.uniform(_lengths(shape), self.minval, self.maxval, dtype, self.seed)


@configurable
class Orthogonal(RandomInitializer):
    """Orthonormal rows or columns, whichever are fewer."""

    gain: float = 1.0
    seed: Any = None

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        lengths, kind = _lengths(shape), _kind(dtype)
        if len(lengths) < 2:
            raise ValueError(f"an orthogonal matrix needs two axes or more; got shape {shape}")
        rows, columns = math.prod(lengths[:-1]), lengths[-1]
        tall = (max(rows, columns), min(rows, columns))
        drawn = random.normal(tall, dtype=kind, seed=self.seed).numpy()
        q, r = np.linalg.qr(drawn.astype(np.promote_types(drawn.dtype, np.float32)))
        q = q * np.sign(np.diagonal(r))
        values = self.gain * (q if rows >= columns else q.T).reshape(lengths)
        return tf.constant(values.astype(drawn.dtype), dtype=kind)


@configurable
class VarianceScaling(RandomInitializer):
    """Of a variance of ``scale`` by the number of inputs, outputs, or their mean.

    The axes of inputs and of outputs are the last two, as often as the others have places,
    unless ``input_axes`` and ``output_axes`` say which.
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "truncated_normal"
    seed: Any = None
    input_axes: Axes = None
    output_axes: Axes = None

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"`scale` must be above 0; got {self.scale}")
        if self.mode not in _MODES:
            raise ValueError(f"`mode` must be one of {_MODES}; got {self.mode!r}")
        distribution = self.distribution.lower()
        self.distribution = "truncated_normal" if distribution == "normal" else distribution
        if self.distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"`distribution` must be one of {_DISTRIBUTIONS}; got {distribution!r}"
            )

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        lengths = _lengths(shape)
        inputs, outputs = _fans(lengths, self.input_axes, self.output_axes)
        fans = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}
        variance = self.scale / max(1.0, fans[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return random.uniform(lengths, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(lengths, 0.0, math.sqrt(variance), dtype, self.seed)
        deviation = math.sqrt(variance) / _TRUNCATED_DEVIATION
        return random.truncated_normal(lengths, 0.0, deviation, dtype, self.seed)

    def along(self, input_axes: Axes, output_axes: Axes) -> VarianceScaling:
        """The same initialiser, seed and all, with these axes unless it has its own."""
        if self.input_axes is not None and self.output_axes is not None:
            return self
        axes = {"input_axes": input_axes, "output_axes": output_axes}
        return type(self).from_config({**self.get_config(), "seed": self.seed, **axes})


class _Scaled(VarianceScaling):
    """A variance scaling of which only the seed and the axes are chosen."""

    _chosen: ClassVar[tuple[float, str, str]] = (1.0, "fan_in", "truncated_normal")

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(*self._chosen, seed, input_axes, output_axes)


class GlorotUniform(_Scaled):
    """Glorot and Bengio's, evenly distributed."""

    _chosen = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """Glorot and Bengio's, normally distributed."""

    _chosen = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """He's, evenly distributed."""

    _chosen = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """He's, normally distributed."""

    _chosen = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """LeCun's, evenly distributed."""

    _chosen = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """LeCun's, normally distributed."""


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

_BY_NAME = {
    snake_case(kind.__name__): kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Initializer)
} | {"zero": Zeros, "one": Ones, "normal": RandomNormal, "uniform": RandomUniform}


def get(identifier: Any) -> Callable[..., Any] | None:
    """An initialiser by its name, its class, its configuration, or as it is."""
    found: Callable[..., Any] | None = resolved(identifier, "initializer", _BY_NAME)
    return found


def _lengths(shape: Shape) -> tuple[int, ...]:
    return tuple(int(length) for length in shape)


def _kind(dtype: Any) -> Any:
    return tf.as_dtype(floatx() if dtype is None else dtype)


def _fans(
    shape: tuple[int, ...], input_axes: Axes = None, output_axes: Axes = None
) -> tuple[float, float]:
    if input_axes is not None and output_axes is not None:
        inputs, outputs = ([shape[axis] for axis in axes] for axes in (input_axes, output_axes))
        return float(math.prod(inputs)), float(math.prod(outputs))
    if len(shape) < 2:
        return (float(shape[0]), float(shape[0])) if shape else (1.0, 1.0)
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)
