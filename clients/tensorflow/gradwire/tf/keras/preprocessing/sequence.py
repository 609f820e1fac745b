"""Sequences of numbers: of one length, and how likely the words of a rank are drawn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from gradwire.tf.keras.utils.arrays import pad_sequences

# Of Python's own sequence, as Keras draws: reproducible, no secret.
_share, _integer = random.random, random.randint


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """The probability of drawing the word of each rank, by Zipf's law: ``min(1, sqrt(s f))``.

    ``f`` is ``rank (log rank + 0.577) + 1/2 - 1/(12 rank)``, the inverse of a word's share.
    """
    rank = np.maximum(np.arange(size), 1)
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * inverse))


def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words that are near each other, pairs with drawn words, and labels of both.

    Words of number 0 are left out, and others by the probabilities in ``sampling_table``.
    """
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    couples: list[list[int]] = []
    for place, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < _share()):
            continue
        near = [
            *sequence[max(0, place - window_size) : place],
            *sequence[place + 1 : place + window_size + 1],
        ]
        couples += [[word, other] for other in near if other]
    labels: list[Any] = [yes] * len(couples)
    if negative_samples > 0:
        words = [word for word, _ in couples]
        random.shuffle(words)
        count = int(len(labels) * negative_samples)
        couples += [[words[i % len(words)], _integer(1, vocabulary_size - 1)] for i in range(count)]
        labels += [no] * count
    if shuffle:
        chosen = _integer(0, 10_000_000) if seed is None else seed
        for each in (couples, labels):
            random.seed(chosen)
            random.shuffle(each)
    return couples, labels


__all__ = ["make_sampling_table", "pad_sequences", "skipgrams"]
