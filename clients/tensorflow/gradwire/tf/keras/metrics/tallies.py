"""Tables of truth and prediction, counted at many thresholds at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.metrics.base import numbers
from gradwire.tf.keras.settings import epsilon

__all__: list[str] = []

#: Below every score: what is not among the greatest ``top_k`` scores, and their own threshold.
NO_SCORE = -1e10
#: The cells of a table, in the order in which ``tally`` counts them.
CELLS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


def in_range(thresholds: Any) -> list[float]:
    """One threshold or several as a list.

    Raises:
        ValueError: One is not in [0, 1].
    """
    given = list(thresholds) if np.ndim(thresholds) else [thresholds]
    invalid = [each for each in given if each is None or each < 0 or each > 1]
    if invalid:
        raise ValueError(f"thresholds must lie between 0 and 1; got {invalid}")
    return [float(each) for each in given]


def evenly(count: int) -> list[float]:
    """Thresholds from 0 to 1 in equal steps."""
    return [step / (count - 1) for step in range(count)]


def tally(
    thresholds: Sequence[float],
    y_true: Any,
    y_pred: Any,
    sample_weight: Any = None,
    top_k: int | None = None,
    class_id: int | None = None,
    label_weights: Any = None,
    by_label: bool = False,
) -> Any:
    """The weighted counts of all cells at each threshold: an array of cells by thresholds.

    ``by_label`` counts each column of the prediction by itself, along a last axis.
    """
    said, truth = same_rank(np.float32(numbers(y_pred)), np.float32(numbers(y_true)))
    if top_k is not None:
        said = _greatest(said, top_k)
    if class_id is not None:
        if said.ndim == 1:
            raise ValueError(
                f"`class_id` picks a column, so `y_pred` must be a matrix; got shape {said.shape}"
            )
        truth, said = truth[..., class_id, None], said[..., class_id, None]
    truth = truth.reshape(said.shape) != 0
    weight = np.broadcast_to(_weights(said, sample_weight, label_weights), said.shape)
    places = _places(said, thresholds)
    ranks = np.argsort(np.argsort(thresholds))
    if by_label:
        columns = zip(truth.T, places.T, weight.T, strict=True)
        return np.stack([_counted(*each, len(ranks))[:, ranks] for each in columns], axis=-1)
    return _counted(truth.ravel(), places.ravel(), weight.ravel(), len(ranks))[:, ranks]


def _greatest(scores: Any, count: int) -> Any:
    """The greatest scores of each row, the first of equal ones; no score in place of the rest."""
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :count]
    kept = np.zeros(scores.shape, bool)
    np.put_along_axis(kept, order, True, axis=-1)
    return np.where(kept, scores, np.float32(NO_SCORE))


def _weights(said: Any, sample_weight: Any, label_weights: Any) -> Any:
    """The weight of each element: of its example, times that of its label."""
    of_labels = 1.0 if label_weights is None else np.asarray(label_weights, np.float32)
    if sample_weight is None:
        return of_labels
    _, weight = same_rank(said, np.float32(numbers(sample_weight)))
    return weight.reshape(weight.shape + (1,) * (said.ndim - weight.ndim)) * of_labels


def _places(said: Any, thresholds: Sequence[float]) -> Any:
    """The number of thresholds below each score.

    Of even thresholds it is computed, as in Keras, which decides about scores at a threshold.
    """
    count = len(thresholds)
    if is_even(thresholds):
        steps = np.ceil(np.clip(said, 0.0, 1.0) * np.float32(count - 1))
        beyond = thresholds[0] < 0.0 or thresholds[-1] > 1.0
        return np.int64(np.maximum(steps, 1.0) if beyond else steps)
    known = np.where(np.isnan(said), -np.inf, said)
    return np.searchsorted(np.sort(np.asarray(thresholds, np.float32)), known, side="left")


def is_even(thresholds: Sequence[float]) -> bool:
    """True if thresholds lead from 0 to 1 in equal steps, three at least."""
    count = len(thresholds)
    return count > 2 and np.allclose(thresholds, evenly(count), atol=epsilon())


def _counted(truth: Any, places: Any, weight: Any, count: int) -> Any:
    positive, negative = (
        np.bincount(places, weights=np.where(chosen, weight, 0.0), minlength=count + 1)
        for chosen in (truth, ~truth)
    )
    true, false = (np.cumsum(each[::-1])[::-1][1:] for each in (positive, negative))
    return np.stack([true, false, negative.sum() - false, positive.sum() - true])
