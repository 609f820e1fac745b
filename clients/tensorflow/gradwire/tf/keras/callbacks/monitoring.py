"""Callbacks that watch a figure and act when it has not improved, or has."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradwire.tf.keras.callbacks.base import Callback, Logs
from gradwire.tf.keras.configurable import configurable

__all__ = ["EarlyStopping", "ReduceLROnPlateau"]


class MonitorCallback(Callback):
    """Knows whether a figure improved: ``mode`` is min, max, or auto, which asks the metric."""

    #: By how much a figure has to be better.
    min_delta: float = 0

    def __init__(self, monitor: str = "val_loss", mode: str = "auto") -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(
                f"{type(self).__name__} has no mode '{mode}' and uses 'auto'",
                stacklevel=3,
            )
            mode = "auto"
        self.monitor: str = monitor
        self.mode: str = mode
        self.best: float | None = None
        self._wants_more: bool | None = None

    def _more_is_better(self) -> bool:
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.removeprefix("val_")
        each = [
            part for metric in self.model.metrics for part in getattr(metric, "metrics", [metric])
        ]
        found = [metric for metric in each if metric.name == name]
        direction = getattr(found[0], "_direction", None) if found else None
        if direction is None and name != "loss":
            raise ValueError(
                f"{type(self).__name__} cannot know whether {self.monitor} should rise or fall; "
                "pass `mode='max'` or `mode='min'`"
            )
        return direction == "up"

    def _improves(self, value: float, reference: float | None) -> bool:
        if self._wants_more is None:
            self._wants_more = self._more_is_better()
        if reference is None:
            return True
        if self._wants_more:
            return bool(np.greater(value - self.min_delta, reference))
        return bool(np.less(value + self.min_delta, reference))

    def _current(self, logs: Logs, purpose: str) -> Any:
        value = (logs or {}).get(self.monitor)
        if value is None:
            warnings.warn(
                f"{purpose} needs `{self.monitor}`, which was not logged; the logs have "
                f"{list(logs or ())}",
                stacklevel=3,
            )
        return value


@configurable
class EarlyStopping(MonitorCallback):
    """Stops when a figure has not improved for ``patience`` epochs."""

    monitor: str = "val_loss"
    min_delta: float = 0
    patience: int = 0
    verbose: int = 0
    mode: str = "auto"
    baseline: float | None = None
    restore_best_weights: bool = False
    start_from_epoch: int = 0

    def __post_init__(self) -> None:
        self.min_delta = abs(self.min_delta)
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:
        self.wait: int = 0
        self.stopped_epoch: int = 0
        self.best = None
        self.best_weights: list[Any] | None = None
        self.best_epoch: int = 0

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        current = self._current(logs, "Early stopping")
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._improves(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._improves(current, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Logs = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")  # noqa: T201
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(  # noqa: T201
                    f"Restored the weights of epoch {self.best_epoch + 1}, the best."
                )
            self.model.set_weights(self.best_weights)


@configurable
class ReduceLROnPlateau(MonitorCallback):
    """Multiplies the rate by ``factor`` when a figure has not improved for ``patience`` epochs."""

    monitor: str = "val_loss"
    factor: float = 0.1
    patience: int = 10
    verbose: int = 0
    mode: str = "auto"
    min_delta: float = 0.0001
    cooldown: int = 0
    min_lr: float = 0.0

    def __post_init__(self) -> None:
        if self.factor >= 1.0:
            raise ValueError(f"`factor` must be below 1, to lower the rate; got {self.factor}")
        self.min_delta = abs(self.min_delta)
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:
        self.best = None
        self.cooldown_counter: int = 0
        self.wait: int = 0

    def in_cooldown(self) -> bool:
        """True if the rate was reduced a short time ago."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        rate = float(self.model.optimizer.learning_rate.numpy())
        if isinstance(logs, dict):
            logs["learning_rate"] = rate
        current = self._current(logs, "Lowering the rate")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._improves(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                self._reduce(epoch, max(rate * self.factor, self.min_lr))

    def _reduce(self, epoch: int, rate: float) -> None:
        self.model.optimizer.learning_rate = rate
        if self.verbose > 0:
            print(  # noqa: T201
                f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}."
            )
        self.cooldown_counter, self.wait = self.cooldown, 0
