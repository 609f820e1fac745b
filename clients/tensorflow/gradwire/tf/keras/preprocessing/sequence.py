"""Sequences of numbers: of one length, and how likely the words of a rank are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.utils.arrays import pad_sequences


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """The probability of drawing the word of each rank, by Zipf's law: ``min(1, sqrt(s f))``.

    ``f`` is ``rank (log rank + 0.577) + 1/2 - 1/(12 rank)``, the inverse of a word's share.
    """
    rank = np.maximum(np.arange(size), 1)
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * inverse))


__all__ = ["make_sampling_table", "pad_sequences"]
