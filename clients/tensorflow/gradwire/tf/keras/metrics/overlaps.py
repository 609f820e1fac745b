"""Metrics of overlap: intersection over union of classes, by a table of truth and prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.metrics.base import Metric, numbers
from gradwire.tf.keras.settings import epsilon

__all__ = ["BinaryIoU", "IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU"]


class _Overlap(Metric):
    """The mean of the chosen classes' overlaps; a class that never occurs does not count."""

    _direction = "up"
    num_classes: int
    target_class_ids: Any
    ignore_class: int | None = None
    sparse_y_true: bool = True
    sparse_y_pred: bool = True
    axis: int = -1

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__("int32" if dtype is None else dtype, name)

    def __post_init__(self) -> None:
        self._chosen: list[int] = list(self.target_class_ids)
        if max(self._chosen) >= self.num_classes:
            raise ValueError(
                f"`target_class_ids` names class {max(self._chosen)}, but the last one is "
                f"{self.num_classes - 1}"
            )
        self.reset_state()

    def reset_state(self) -> None:
        self._table = np.zeros((self.num_classes, self.num_classes))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        truth = self._classes(y_true, self.sparse_y_true)
        said = self._classes(y_pred, self.sparse_y_pred)
        weight = self._cast(1 if sample_weight is None else numbers(sample_weight))
        weight = np.broadcast_to(weight.ravel() if weight.ndim > 1 else weight, truth.shape)
        counts = (truth >= 0) & (truth < self.num_classes) & (said >= 0)
        counts &= said < self.num_classes
        if self.ignore_class is not None:
            counts &= truth != self.ignore_class
        np.add.at(self._table, (truth[counts], said[counts]), weight[counts])

    def _classes(self, value: Any, is_sparse: bool) -> Any:
        array = np.asarray(numbers(value))
        classes = self._cast(array if is_sparse else array.argmax(self.axis))
        return np.int64(classes).ravel()

    def _cast(self, value: Any) -> Any:
        return np.asarray(value).astype(tf.as_dtype(self.dtype).as_numpy_dtype)

    def result(self) -> Any:
        both = np.diag(self._table)
        either = self._table.sum(axis=0) + self._table.sum(axis=1) - both
        both, either = both[self._chosen], either[self._chosen]
        occurs = either > 1e-9
        overlaps = np.where(occurs, both / (either + epsilon()), 0.0)
        return tf.constant(overlaps.sum() / (occurs.sum() + epsilon()), tf.float32)


@configurable
class IoU(_Overlap):
    """The mean overlap of some classes."""

    num_classes: int
    target_class_ids: Any
    name: Any = None
    dtype: Any = None
    ignore_class: int | None = None
    sparse_y_true: bool = True
    sparse_y_pred: bool = True
    axis: int = -1


class _OfAll(_Overlap):
    """The mean overlap of all classes."""

    @property
    def target_class_ids(self) -> list[int]:
        """Each class."""
        return list(range(self.num_classes))


@configurable
class MeanIoU(_OfAll):
    """The mean overlap of all classes."""

    num_classes: int
    name: Any = None
    dtype: Any = None
    ignore_class: int | None = None
    sparse_y_true: bool = True
    sparse_y_pred: bool = True
    axis: int = -1


@configurable
class BinaryIoU(_Overlap):
    """The mean overlap of no and yes: of scores below a threshold and of others."""

    num_classes = 2
    target_class_ids: Any = (0, 1)
    threshold: float = 0.5
    name: Any = None
    dtype: Any = None

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        said = np.float32(numbers(y_pred)) >= np.float32(self.threshold)
        super().update_state(y_true, said, sample_weight)


@configurable
class OneHotIoU(_Overlap):
    """The mean overlap of some classes, given as rows of a one."""

    sparse_y_true = False
    num_classes: int
    target_class_ids: Any
    name: Any = None
    dtype: Any = None
    ignore_class: int | None = None
    sparse_y_pred: bool = False
    axis: int = -1


@configurable
class OneHotMeanIoU(_OfAll):
    """The mean overlap of all classes, given as rows of a one."""

    sparse_y_true = False
    num_classes: int
    name: Any = None
    dtype: Any = None
    ignore_class: int | None = None
    sparse_y_pred: bool = False
    axis: int = -1
