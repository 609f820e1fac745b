"""Callbacks that set the rate, stop at a loss that is not finite, and write figures to a file."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from gradwire.tf.keras.callbacks.base import Callback, Logs
from gradwire.tf.keras.configurable import configurable

__all__ = ["CSVLogger", "LearningRateScheduler", "TerminateOnNaN"]


@configurable
class LearningRateScheduler(Callback):
    """Sets the rate before each epoch: ``schedule(epoch, rate)``, or ``schedule(epoch)``."""

    schedule: Callable[..., Any]
    verbose: int = 0

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(optimizer.learning_rate.numpy()))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError(f"`schedule` must return a float; got {rate}")
        optimizer.learning_rate = rate
        if self.verbose > 0:
            print(  # noqa: T201
                f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}."
            )

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if isinstance(logs, dict):
            logs["learning_rate"] = float(self.model.optimizer.learning_rate.numpy())


@configurable
class TerminateOnNaN(Callback):
    """Stops training at a loss that is not finite."""

    raise_error: bool = False

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(f"training stops at batch {batch}, whose loss is {loss}")
        print(f"Training stops at batch {batch}, whose loss is {loss}")  # noqa: T201
        self.model.stop_training = True


class CSVLogger(Callback):
    """Writes a line of figures to a file after each epoch."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename: str = os.fspath(filename)
        self.sep: str = separator
        self.append: bool = append
        self.keys: list[str] | None = None
        self._file: TextIO | None = None
        self._writer: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        self._close()
        self.keys = None
        self._file = Path(self.filename).open("a" if self.append else "w", newline="")  # noqa: SIM115

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if self._file is None:
            raise RuntimeError("CSVLogger.on_epoch_end was called before on_train_begin")
        figures = dict(logs or {})
        if self.keys is None:
            self.keys = sorted(figures)
            if not any(key.startswith("val_") for key in self.keys):
                self.keys += [f"val_{key}" for key in self.keys]
            self._writer = csv.DictWriter(self._file, ["epoch", *self.keys], delimiter=self.sep)
            if self._file.tell() == 0:
                self._writer.writeheader()
        row = {key: figures.get(key, "NA") for key in self.keys}
        self._writer.writerow({"epoch": epoch} | row)
        self._file.flush()

    def on_train_end(self, logs: Logs = None) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
