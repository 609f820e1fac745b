"""First values of weights: Keras's own numbers for their seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import random
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import deserialize_keras_object
from gradwire.tf.keras.seeds import SeedGenerator, checked, default_seed
from gradwire.tf.keras.settings import floatx

Shape: TypeAlias = Sequence[int]
Axes: TypeAlias = Sequence[int] | None

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("uniform", "truncated_normal", "untruncated_normal")
#: The standard deviation of what is left of a normal distribution within two of its own.
_TRUNCATED_DEVIATION = 0.87962566103423978


class Initializer:
    """Makes a tensor of a shape and a dtype."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        """The first value of a weight."""
        raise NotImplementedError(f"{type(self).__name__} must have a method __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments of another one like this one."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The initialiser that ``get_config`` describes."""
        return cls(**config)

    def clone(self) -> Self:
        """Another one like this one, with a new seed if this one was given none."""
        return type(self).from_config(self.get_config())


class Zeros(Initializer):
    """All zeros."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return tf.zeros(_lengths(shape), _kind(dtype))


class Ones(Initializer):
    """All ones."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return tf.ones(_lengths(shape), _kind(dtype))


class Constant(Initializer):
    """The same value everywhere, or that of an array."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value: Any = value

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        value = tf.cast(self.value, _kind(dtype))  # Python's numbers are float32 before that
        return tf.broadcast_to(value, _lengths(shape))

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class Identity(Initializer):
    """``gain`` times the identity matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain: float = gain

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        lengths, kind = _lengths(shape), _kind(dtype)
        if len(lengths) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. "
                f"Received: shape={shape} of rank {len(lengths)}."
            )
        return tf.constant((self.gain * np.eye(*lengths)).astype(kind.as_numpy_dtype), dtype=kind)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


class RandomInitializer(Initializer):
    """Draws the same numbers each time; without a seed, Python's ``random`` gives it one."""

    def __init__(self, seed: Any = None) -> None:
        self._given: Any = checked(seed)
        self.seed: Any = default_seed() if seed is None else seed

    def get_config(self) -> dict[str, Any]:
        seeded = isinstance(self._given, SeedGenerator)
        return {"seed": self._given.get_config() if seeded else self._given}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        seed = config.get("seed")
        return cls(**{**config, "seed": SeedGenerator(**seed) if isinstance(seed, dict) else seed})


class RandomNormal(RandomInitializer):
    """Normally distributed."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean: float = mean
        self.stddev: float = stddev

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.normal(_lengths(shape), self.mean, self.stddev, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, **super().get_config()}


class TruncatedNormal(RandomNormal):
    """Normally distributed, drawn anew beyond two standard deviations."""

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.truncated_normal(_lengths(shape), self.mean, self.stddev, dtype, self.seed)


class RandomUniform(RandomInitializer):
    """Evenly distributed from ``minval`` to ``maxval``."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.minval: float = minval
        self.maxval: float = maxval

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        return random.uniform(_lengths(shape), self.minval, self.maxval, dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, **super().get_config()}


class Orthogonal(RandomInitializer):
    """Orthonormal rows or columns, whichever are fewer."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        super().__init__(seed)
        self.gain: float = gain

    def __call__(self, shape: Shape, dtype: Any = None) -> tf.Tensor:
        lengths, kind = _lengths(shape), _kind(dtype)
        if len(lengths) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. "
                f"Received: shape={shape} of rank {len(lengths)}."
            )
        rows, columns = math.prod(lengths[:-1]), lengths[-1]
        tall = (max(rows, columns), min(rows, columns))
        drawn = random.normal(tall, dtype=kind, seed=self.seed).numpy()
        q, r = np.linalg.qr(drawn.astype(np.promote_types(drawn.dtype, np.float32)))
        q = q * np.sign(np.diagonal(r))
        values = self.gain * (q if rows >= columns else q.T).reshape(lengths)
        return tf.constant(values.astype(drawn.dtype), dtype=kind)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, **super().get_config()}


class VarianceScaling(RandomInitializer):
    """Of a variance of ``scale`` by the number of inputs, outputs, or their mean.

    The axes of inputs and of outputs are the last two, as often as the others have places,
    unless ``input_axes`` and ``output_axes`` say which.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
        input_axes: Axes = None,
        output_axes: Axes = None,
    ) -> None:
        if scale <= 0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in _MODES:
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of {_MODES}")
        distribution = distribution.lower()
        distribution = "truncated_normal" if distribution == "normal" else distribution
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}."
                f"Please use one of {_DISTRIBUTIONS}"
            )
        super().__init__(seed)
        self.scale: float = scale
        self.mode: str = mode
        self.distribution: str = distribution
        self.input_axes: Axes = input_axes
        self.output_axes: Axes = output_axes

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

    def get_config(self) -> dict[str, Any]:
        own = {"scale": self.scale, "mode": self.mode, "distribution": self.distribution}
        return {**own, **super().get_config(), **self._axes()}

    def along(self, input_axes: Axes, output_axes: Axes) -> VarianceScaling:
        """The same initialiser, seed and all, with these axes unless it has its own."""
        if self.input_axes is not None and self.output_axes is not None:
            return self
        axes = {"input_axes": input_axes, "output_axes": output_axes}
        return type(self).from_config({**self.get_config(), "seed": self.seed, **axes})

    def _axes(self) -> dict[str, Axes]:
        return {"input_axes": self.input_axes, "output_axes": self.output_axes}


class _Scaled(VarianceScaling):
    """A variance scaling of which only the seed and the axes are chosen."""

    def get_config(self) -> dict[str, Any]:
        return {**RandomInitializer.get_config(self), **self._axes()}


class GlorotUniform(_Scaled):
    """Glorot and Bengio's, evenly distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, input_axes, output_axes)


class GlorotNormal(_Scaled):
    """Glorot and Bengio's, normally distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, input_axes, output_axes)


class HeUniform(_Scaled):
    """He's, evenly distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed, input_axes, output_axes)


class HeNormal(_Scaled):
    """He's, normally distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(2.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)


class LecunUniform(_Scaled):
    """LeCun's, evenly distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed, input_axes, output_axes)


class LecunNormal(_Scaled):
    """LeCun's, normally distributed."""

    def __init__(self, seed: Any = None, input_axes: Axes = None, output_axes: Axes = None) -> None:
        super().__init__(1.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)


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
    """An initialiser by its name, its class, its configuration, or as it is."""
    if identifier is None or (callable(identifier) and not isinstance(identifier, type)):
        found: Callable[..., Any] | None = identifier
        return found
    if isinstance(identifier, Mapping):
        made: Callable[..., Any] | None = deserialize_keras_object(identifier)
        return made
    if isinstance(identifier, type):
        return identifier()  # type: ignore[no-any-return]  # a class of initialisers
    name = snake_case(str(identifier))
    if name not in _BY_NAME:
        raise ValueError(f"Could not interpret initializer identifier: {identifier}")
    return _BY_NAME[name]()


def cloned(initializer: Any) -> Any:
    """Another initialiser like one, with a new seed if that was given none."""
    return initializer.clone() if isinstance(initializer, Initializer) else initializer


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
