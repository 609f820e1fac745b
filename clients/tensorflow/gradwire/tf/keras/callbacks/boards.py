"""A callback that writes figures to files that TensorBoard shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.callbacks.base import Callback, Logs
from gradwire.tf.keras.configurable import configurable

__all__ = ["TensorBoard"]


@configurable
class TensorBoard(Callback):
    """Writes figures of epochs, and with ``update_freq`` of batches, as ``tf.summary`` does.

    ``histogram_freq``: each so many epochs, histograms of the weights. There is no graph to show.
    """

    log_dir: Any = "logs"
    histogram_freq: int = 0
    write_graph: bool = True
    write_images: bool = False
    write_steps_per_second: bool = False
    update_freq: int | str = "epoch"
    profile_batch: Any = 0
    embeddings_freq: int = 0
    embeddings_metadata: Any = None

    def __post_init__(self) -> None:
        only(
            "TensorBoard",
            write_images=(self.write_images, False),
            write_steps_per_second=(self.write_steps_per_second, False),
            profile_batch=(self.profile_batch or 0, 0),
            embeddings_freq=(self.embeddings_freq, 0),
            embeddings_metadata=(self.embeddings_metadata, None),
        )
        self._every: Any = 1 if self.update_freq == "batch" else self.update_freq
        self._writers: dict[str, Any] = {}
        self._batches: int = 0

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        if self._every != "epoch" and self._batches % self._every == 0:
            self._write("train", "batch_", dict(logs or {}), self._batches)
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        given = dict(logs or {})
        rate = {"learning_rate": float(self.model.optimizer.learning_rate)}
        seen = {
            name.removeprefix("val_"): value
            for name, value in given.items()
            if name.startswith("val_")
        }
        own = {name: value for name, value in given.items() if not name.startswith("val_")}
        self._write("train", "epoch_", own | rate, epoch)
        if seen:
            self._write("validation", "epoch_", seen, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            with self._writer("train").as_default():
                for layer in self.model.layers:
                    for weight in layer.weights:
                        tf.summary.histogram(f"{weight.path}/histogram", weight, step=epoch)

    def on_train_end(self, logs: Logs = None) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def _write(self, part: str, stem: str, figures: dict[str, Any], step: int) -> None:
        with self._writer(part).as_default():
            for name, value in figures.items():
                tf.summary.scalar(stem + name, value, step=step)

    def _writer(self, part: str) -> Any:
        if part not in self._writers:
            path = Path(str(self.log_dir)) / part
            self._writers[part] = tf.summary.create_file_writer(str(path))
        return self._writers[part]
