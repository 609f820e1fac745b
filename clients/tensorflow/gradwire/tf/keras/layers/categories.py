"""Layers that encode integers: rows of ones, counts, bins."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer

__all__ = ["CategoryEncoding", "Discretization"]

_MODES = ("int", "one_hot", "multi_hot", "count")


def mode_of(name: str, owner: str, allowed: tuple[str, ...] = _MODES) -> str:
    """The name of a way to encode, of which two have earlier names.

    Raises:
        ValueError: There is no such way.
    """
    mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(name, name)
    if mode not in allowed:
        raise ValueError(
            f"`output_mode` of {owner} must be one of {', '.join(allowed)}; got {name!r}"
        )
    return mode


def encoded(indices: Any, mode: str, depth: int, dtype: Any, weights: Any = None) -> Any:
    """Indices as they are, as rows of a one, as those in a row, or as their counts in a row.

    An index that is not below ``depth`` counts nowhere.
    """
    indices = tf.convert_to_tensor(indices)
    if mode == "int":
        return tf.cast(indices, dtype)
    if not len(indices.shape):
        indices = tf.expand_dims(indices, -1)
    if mode == "one_hot":
        if len(indices.shape) > 1 and indices.shape[-1] == 1:
            indices = tf.squeeze(indices, axis=-1)
        return tf.one_hot(indices, depth, dtype=dtype)
    axis = 1 if len(indices.shape) > 1 else 0
    rows = tf.one_hot(indices, depth, dtype=dtype)
    if mode == "multi_hot":
        return tf.reduce_max(rows, axis=axis)
    if weights is not None:
        rows = rows * tf.cast(tf.expand_dims(tf.convert_to_tensor(weights), -1), dtype)
    return tf.reduce_sum(rows, axis=axis)


class CategoryEncoding(Layer):
    """Integers below ``num_tokens`` as rows of a one, as all in a row, or as their counts."""

    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: str = "multi_hot",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        only("CategoryEncoding", sparse=(sparse, False))
        if num_tokens is None:
            raise ValueError(
                "CategoryEncoding needs `num_tokens`; IntegerLookup can find the tokens from data"
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be at least 1; got {num_tokens}")
        self.num_tokens: int = num_tokens
        self.output_mode: str = mode_of(output_mode, "CategoryEncoding", _MODES[1:])
        self.sparse: bool = sparse

    def call(self, inputs: Any, count_weights: Any = None) -> Any:
        if count_weights is not None and self.output_mode != "count":
            raise ValueError(
                "`count_weights` needs `output_mode='count'`; got "
                f"output_mode={self.output_mode!r} with count_weights={count_weights}"
            )
        indices = tf.cast(tf.convert_to_tensor(inputs), tf.int64)
        return encoded(
            indices, self.output_mode, self.num_tokens, self.compute_dtype, count_weights
        )


class Discretization(Layer):
    """The bin of each number: how many of the boundaries are not above it.

    The boundaries are given, or computed from data by ``adapt`` for bins of equal counts.
    """

    def __init__(
        self,
        bin_boundaries: Any = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        sparse: bool = False,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        only("Discretization", sparse=(sparse, False))
        if num_bins is not None and num_bins < 0:
            raise ValueError(f"`num_bins` cannot be negative; got {num_bins}")
        if (num_bins is None) == (bin_boundaries is None):
            raise ValueError(
                "Discretization takes either `num_bins` or `bin_boundaries`; "
                f"got num_bins={num_bins}, bin_boundaries={bin_boundaries}"
            )
        self.bin_boundaries: Any = bin_boundaries
        self.num_bins: int | None = num_bins
        self.epsilon: float = epsilon
        self.output_mode: str = mode_of(output_mode, "Discretization")
        self.sparse: bool = sparse

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Compute the boundaries from an array, a tensor, or batches of a data set."""
        if self.num_bins is None:
            raise ValueError(
                "The boundaries are fixed by `bin_boundaries`; for `adapt` to find them, make "
                "Discretization with `num_bins`"
            )
        summary = np.zeros((2, 0), np.float32)
        whole = hasattr(data, "__array__")
        for step, batch in enumerate([data] if whole else data):
            if steps is not None and step >= steps:
                break
            own = _summary(np.asarray(batch, np.float32), self.epsilon)
            merged = np.concatenate([own, summary], axis=1)
            merged = np.take(merged, np.argsort(merged[0]), axis=1)
            summary = _compressed(merged, self.epsilon)
        self.bin_boundaries = _compressed(summary, 1.0 / self.num_bins)[0, :-1].tolist()

    def call(self, inputs: Any) -> Any:
        if self.bin_boundaries is None:
            raise ValueError(
                "Discretization has no boundaries yet: give `bin_boundaries`, or call `adapt` first"
            )
        numbers = tf.convert_to_tensor(inputs).numpy()
        bins = np.digitize(numbers, np.asarray(self.bin_boundaries, numbers.dtype))
        dtype = tf.int32 if self.output_mode == "int" else self.compute_dtype
        return encoded(np.int32(bins), self.output_mode, len(self.bin_boundaries) + 1, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another, with the boundaries that data gave."""
        known = self.bin_boundaries is not None
        basic = self._basic_config()
        return {
            "name": basic["name"],
            "dtype": basic["dtype"],
            "bin_boundaries": self.bin_boundaries,
            "num_bins": None if known else self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
        }


def _summary(values: Any, epsilon: float) -> Any:
    """Some of the sorted values, evenly spread, and the number that each stands for."""
    ordered = np.sort(values.ravel())
    step = max(ordered.size * epsilon, 1)
    chosen = ordered[int(step - 1) :: int(step)]
    return np.stack([chosen, np.full_like(chosen, step)])


def _compressed(summary: Any, epsilon: float) -> Any:
    """A summary with ``1 / epsilon`` values, between the given ones."""
    if summary.shape[1] * epsilon < 1:
        return summary
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    counts = summary[1].cumsum()
    of_all = counts / counts[-1]
    values = np.interp(shares, of_all, summary[0])
    counts = np.interp(shares, of_all, counts)
    return np.stack([values, np.diff(counts, prepend=0)]).astype(np.float32)
