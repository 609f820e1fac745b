"""Texts as lists of the ranks of their words: which are kept, and from where these count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def numbered(
    texts: Iterable[Any], start_char: int | None, index_from: int | None
) -> list[list[Any]]:
    """Ranks counted from ``index_from``, after a number that begins each text."""
    begin = [] if start_char is None else [start_char]
    more = index_from or 0
    return [[*begin, *(word + more for word in text)] for text in texts]


def shorter(
    texts: Sequence[Any], labels: Sequence[Any], maxlen: int
) -> tuple[list[Any], list[Any]]:
    """The texts of less than so many words, and their labels."""
    kept = [i for i, text in enumerate(texts) if len(text) < maxlen]
    return [texts[i] for i in kept], [labels[i] for i in kept]


def limited(
    texts: Sequence[Any], num_words: int | None, skip_top: int, oov_char: int | None
) -> list[list[Any]]:
    """Words from ``skip_top`` up to ``num_words``; ``oov_char`` stands for others, if it is any."""
    most = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[word for word in text if skip_top <= word < most] for text in texts]
    return [[word if skip_top <= word < most else oov_char for word in text] for text in texts]
