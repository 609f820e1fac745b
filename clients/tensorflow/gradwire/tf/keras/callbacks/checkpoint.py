"""The callback that saves models, or their weights."""

from __future__ import annotations

import os
import warnings
from typing import Any

from gradwire.tf.keras.callbacks.base import Logs
from gradwire.tf.keras.callbacks.monitoring import MonitorCallback
from gradwire.tf.keras.configurable import configurable

__all__ = ["ModelCheckpoint"]


@configurable
class ModelCheckpoint(MonitorCallback):
    """Saves a model after epochs, or each ``save_freq`` batches; maybe only better ones.

    ``filepath`` may name figures, as ``{epoch:02d}-{val_loss:.2f}.keras``. With
    ``save_weights_only=True`` it ends in ``.weights.h5``, as Keras asks for; that file is NumPy's,
    which ``Model.load_weights`` reads.
    """

    filepath: Any
    monitor: str = "val_loss"
    verbose: int = 0
    save_best_only: bool = False
    save_weights_only: bool = False
    mode: str = "auto"
    save_freq: str | int = "epoch"
    initial_value_threshold: float | None = None

    def __post_init__(self) -> None:
        if self.save_freq != "epoch" and not isinstance(self.save_freq, int):
            raise ValueError(f"`save_freq` counts batches, or is 'epoch'; got {self.save_freq!r}")
        self.filepath = os.fspath(self.filepath)
        if not self.save_weights_only and not self.filepath.endswith((".h5", ".keras")):
            raise ValueError(
                f"the name of a model's file ends in .keras; got `filepath` {self.filepath}"
            )
        if self.save_weights_only and not self.filepath.endswith(".weights.h5"):
            raise ValueError(
                "weights alone are saved to a file named .weights.h5; got `filepath` "
                f"{self.filepath}"
            )
        self.best = self.initial_value_threshold
        self._epoch: int = 0
        self._batches: int = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        if isinstance(self.save_freq, int):
            self._batches += 1
            if self._batches >= self.save_freq:
                self._batches = 0
                self._save(self._epoch, {"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, dict(logs or {}))

    def _save(self, epoch: int, figures: dict[str, Any]) -> None:
        try:
            path = self.filepath.format(epoch=epoch + 1, **figures)
        except KeyError as error:
            raise KeyError(f"`filepath` is {self.filepath!r}, but {error} was not logged") from None
        if not self._is_wanted(figures):
            return
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)  # noqa: PTH103, PTH120
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")  # noqa: T201

    def _is_wanted(self, figures: dict[str, Any]) -> bool:
        if not self.save_best_only:
            return True
        current = figures.get(self.monitor)
        if current is None:
            warnings.warn(
                f"{self.monitor} was not logged, so no model counts as the best and none is saved",
                stacklevel=2,
            )
            return True
        if not self._improves(current, self.best):
            return False
        self.best = current
        return True
