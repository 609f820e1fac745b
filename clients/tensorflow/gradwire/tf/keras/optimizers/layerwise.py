"""Optimizers whose steps depend on the size of a whole weight: Adafactor and Lamb."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf import IndexedSlices as Slices
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.adam import Moments, complement
from gradwire.tf.keras.optimizers.base import After, Optimizer, Slots, of_each

__all__ = ["Adafactor", "Lamb"]


@configurable
class Adafactor(Optimizer):
    """Shazeer and Stern's: of a matrix's squared gradients, means along rows and columns are kept.

    With ``relative_step`` the rate is at most ``1 / sqrt(step)``; steps are in proportion to the
    size of the weight, and no larger than ``clip_threshold``.
    """

    learning_rate: Any = 0.001
    beta_2_decay: float = -0.8
    epsilon_1: float = 1e-30
    epsilon_2: float = 1e-3
    clip_threshold: float = 1.0
    relative_step: bool = True

    def _numbers(self, step: int, dtype: Any) -> tuple[float, ...]:
        return float(step) ** -0.5, float(step) ** self.beta_2_decay

    def _slots_of(self, variable: Any) -> dict[str, Any]:
        if id(variable) not in self._kept:
            shape = tuple(variable.shape)
            parts = {"rows": shape[:-1], "columns": (*shape[:-2], shape[-1])} if shape[1:] else {}
            self._kept[id(variable)] = {
                name: tf.Variable(
                    tf.zeros(lengths, variable.dtype),
                    trainable=False,
                    name=f"{variable.name.removesuffix(':0')}_{name}",
                )
                for name, lengths in (parts or {"velocity": shape}).items()
            }
        return self._kept[id(variable)]

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        most, share = numbers
        bounded = tf.minimum(rate, most)
        squares = of_each(tf.square, gradient) + self.epsilon_1
        after: dict[str, Any] = {}
        if "velocity" in slots:
            spread = after["velocity"] = slots["velocity"] * (1.0 - share) + squares * share
        else:
            for name, axis in (("rows", -1), ("columns", -2)):
                mean = tf.reduce_mean(squares, axis=axis)
                after[name] = slots[name] * (1.0 - share) + mean * share
            rows = after["rows"] / tf.reduce_mean(after["rows"], axis=-1, keepdims=True)
            spread = rows[..., None] * after["columns"][..., None, :]
        root = tf.sqrt(spread)
        if isinstance(gradient, Slices):
            rows = gradient.indices
            change = Slices(gradient.values / tf.gather(root, rows), rows, gradient.dense_shape)
        else:
            change = gradient / root
        least = tf.maximum(1.0, _size(change) / self.clip_threshold)
        change = tf.convert_to_tensor(change) / least
        return weight - bounded * tf.maximum(self.epsilon_2, _size(weight)) * change, after


class Lamb(Moments):
    """You's: Adam, with steps in proportion to the norm of the weight."""

    def _numbers(self, step: int, dtype: Any) -> tuple[float, ...]:
        return tuple(float(complement(beta, step, dtype)) for beta in (self.beta_1, self.beta_2))

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        first, second = slots["momentum"], slots["velocity"]
        first = first + (gradient - first) * (1.0 - self.beta_1)
        second = second + (of_each(tf.square, gradient) - second) * (1.0 - self.beta_2)
        of_first, of_second = numbers
        change = first / of_first / (tf.sqrt(second / of_second) + self.epsilon)
        norms = [tf.sqrt(tf.reduce_sum(tf.square(each))) for each in (weight, change)]
        both = tf.logical_and(norms[0] > 0.0, norms[1] > 0.0)
        ratio = tf.where(both, norms[0] / tf.where(both, norms[1], 1.0), 1.0)
        return weight - ratio * rate * change, {"momentum": first, "velocity": second}


def _size(tensor: Any) -> Any:
    """The root of the mean square; where slices repeat a row, of each of these, as in Keras."""
    return tf.sqrt(tf.reduce_mean(of_each(tf.square, tensor)))
