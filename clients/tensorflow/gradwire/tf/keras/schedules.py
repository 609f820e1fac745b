"""Learning rates that depend on the step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.objects import Configured
from gradwire.tf.steps import again


class LearningRateSchedule(Configured):
    """A function of the step that gives the rate."""

    @again(effect=False)
    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        return tf.constant(self.rate(_number(step)), dtype=tf.float32)

    def rate(self, step: float) -> float:
        """The same of a number."""
        raise NotImplementedError(f"{type(self).__name__} must have a method rate or __call__")


class _Decay(LearningRateSchedule):
    """A decay by the number of times that ``decay_steps`` have passed, whole ones if wanted."""

    initial_learning_rate: float
    decay_steps: float
    decay_rate: float
    staircase: bool

    def _passed(self, step: float) -> float:
        passed = step / self.decay_steps
        return math.floor(passed) if self.staircase else passed


@configurable
class ExponentialDecay(_Decay):
    """``initial * decay_rate ** (step / decay_steps)``."""

    initial_learning_rate: float
    decay_steps: float
    decay_rate: float
    staircase: bool = False
    name: str = "ExponentialDecay"

    def rate(self, step: float) -> float:
        return float(self.initial_learning_rate * self.decay_rate ** self._passed(step))


@configurable
class InverseTimeDecay(_Decay):
    """``initial / (1 + decay_rate * step / decay_steps)``."""

    initial_learning_rate: float
    decay_steps: float
    decay_rate: float
    staircase: bool = False
    name: str = "InverseTimeDecay"

    def rate(self, step: float) -> float:
        return float(self.initial_learning_rate / (1.0 + self.decay_rate * self._passed(step)))


@configurable
class PolynomialDecay(LearningRateSchedule):
    """From the initial to the end rate within ``decay_steps``, by a power."""

    initial_learning_rate: float
    decay_steps: float
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    name: str = "PolynomialDecay"

    def rate(self, step: float) -> float:
        steps = self.decay_steps
        if self.cycle:
            steps *= max(1.0, math.ceil(step / steps))
        left = 1.0 - min(step, steps) / steps
        span = self.initial_learning_rate - self.end_learning_rate
        return float(span * left**self.power + self.end_learning_rate)


@configurable
class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate to ``alpha`` times it, within ``decay_steps``.

    With a ``warmup_target`` the rate first goes in a line from the initial one to the target, in
    ``warmup_steps``, and the cosine falls from there.
    """

    initial_learning_rate: float
    decay_steps: float
    alpha: float = 0.0
    name: str = "CosineDecay"
    warmup_target: float | None = None
    warmup_steps: float = 0

    def __post_init__(self) -> None:
        if self.decay_steps <= 0:
            raise ValueError(f"`decay_steps` must be above 0; got {self.decay_steps}")

    def rate(self, step: float) -> float:
        top, first = self.initial_learning_rate, 0.0
        if self.warmup_target is not None:
            top, first = self.warmup_target, self.warmup_steps
            if step < first:
                start = self.initial_learning_rate
                return float(start + (top - start) * step / first)
        passed = min(step - first, self.decay_steps) / self.decay_steps
        cosine = 0.5 * (1.0 + math.cos(math.pi * passed))
        return float(top * ((1.0 - self.alpha) * cosine + self.alpha))


@configurable
class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after another, each ``t_mul`` times as long and ``m_mul`` times as high."""

    initial_learning_rate: float
    first_decay_steps: float
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str = "SGDRDecay"

    def __post_init__(self) -> None:
        if self.first_decay_steps <= 0:
            raise ValueError(f"`first_decay_steps` must be above 0; got {self.first_decay_steps}")

    def rate(self, step: float) -> float:
        passed = step / self.first_decay_steps
        if self.t_mul == 1.0:
            period = math.floor(passed)
            passed -= period
        else:
            grown = np.float32(1.0 - passed * (1.0 - self.t_mul))
            # In single precision, as TensorFlow does: it decides on which side a restart falls.
            period = int(np.floor(np.log(grown) / np.log(np.float32(self.t_mul))))
            before = (1.0 - self.t_mul**period) / (1.0 - self.t_mul)
            passed = (passed - before) / self.t_mul**period
        cosine = 0.5 * self.m_mul**period * (1.0 + math.cos(math.pi * passed))
        return float(self.initial_learning_rate * ((1.0 - self.alpha) * cosine + self.alpha))


@configurable
class PiecewiseConstantDecay(LearningRateSchedule):
    """One of ``values`` up to each of ``boundaries``, and the last beyond."""

    boundaries: Sequence[float]
    values: Sequence[float]
    name: str = "PiecewiseConstant"

    def __post_init__(self) -> None:
        if len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                f"`values` needs one entry more than `boundaries`; got {self.values} and "
                f"{self.boundaries}"
            )
        self.boundaries, self.values = list(self.boundaries), list(self.values)

    def rate(self, step: float) -> float:
        return float(self.values[sum(step > boundary for boundary in self.boundaries)])


def _number(step: Any) -> float:
    return float(step.numpy()) if hasattr(step, "numpy") else float(step)
