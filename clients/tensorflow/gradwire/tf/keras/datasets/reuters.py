"""News, 11,228 of them, as ranks of words; which of 46 subjects they are about."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.keras.datasets.sources import ORIGIN, Split, arrays_of, shuffled, word_index
from gradwire.tf.keras.datasets.words import limited, numbered, shorter


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
) -> Split:
    """``(x_train, y_train), (x_test, y_test)``, shuffled by a seed as Keras does.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    found = arrays_of(path, origin=f"{ORIGIN}reuters.npz")
    x, y = shuffled(seed, found["x"], found["y"])
    texts: Any = numbered(x, start_char, index_from)
    if maxlen:
        texts, y = shorter(texts, y, maxlen)
    texts = limited(texts, num_words, skip_top, oov_char)
    first = int(len(texts) * (1 - test_split))
    return (
        (np.array(texts[:first], dtype="object"), np.array(y[:first])),
        (np.array(texts[first:], dtype="object"), np.array(y[first:])),
    )


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The rank of each word.

    Raises:
        FileNotFoundError: says which file has to be put where.
    """
    return word_index("reuters", path)


def get_label_names() -> tuple[str, ...]:
    """The names of the subjects, by their numbers."""
    return (
        "cocoa", "grain", "veg-oil", "earn", "acq", "wheat", "copper", "housing", "money-supply",
        "coffee", "sugar", "trade", "reserves", "ship", "cotton", "carcass", "crude", "nat-gas",
        "cpi", "money-fx", "interest", "gnp", "meal-feed", "alum", "oilseed", "gold", "tin",
        "strategic-metal", "livestock", "retail", "ipi", "iron-steel", "rubber", "heat", "jobs",
        "lei", "bop", "zinc", "orange", "pet-chem", "dlr", "gas", "silver", "wpi", "hog", "lead",
    )  # fmt: skip
