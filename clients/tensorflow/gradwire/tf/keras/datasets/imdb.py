"""Reviews of films, 25,000 and 25,000, as ranks of words; whether they are good."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.datasets.sources import ORIGIN, Split, arrays_of, word_index
from gradwire.tf.keras.datasets.words import limited, numbered, shorter


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
) -> Split:
    """``(x_train, y_train), (x_test, y_test)``, shuffled by a seed as Keras does.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    found = arrays_of(path, origin=f"{ORIGIN}imdb.npz")
    texts: list[Any] = []
    labels: list[Any] = []
    counts: list[int] = []
    generator = np.random.RandomState(seed)
    for part in ("train", "test"):
        order = np.arange(len(found[f"x_{part}"]))
        generator.shuffle(order)
        x = numbered(found[f"x_{part}"][order], start_char, index_from)
        y: Any = found[f"y_{part}"][order]
        if maxlen:
            x, y = shorter(x, y, maxlen)
            if not x:
                raise ValueError(f"no review is shorter than `maxlen`, {maxlen}; raise it")
        texts, labels, counts = texts + x, [*labels, np.asarray(y)], [*counts, len(x)]
    texts, y = limited(texts, num_words, skip_top, oov_char), np.concatenate(labels)
    first = counts[0]
    return (
        (np.array(texts[:first], dtype="object"), y[:first]),
        (np.array(texts[first:], dtype="object"), y[first:]),
    )


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The rank of each word.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    return word_index("imdb", path)
