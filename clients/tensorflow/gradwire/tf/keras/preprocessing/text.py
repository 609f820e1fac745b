"""Texts as lists of numbers of their words."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwire.tf.keras.configurable import configurable

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    input_text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text, which ``split`` and the characters of ``filters`` are between."""
    text = input_text.lower() if lower else input_text
    parts = text.translate({ord(character): split for character in filters}).split(split)
    return [part for part in parts if part]


def one_hot(
    input_text: str,
    n: int,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable[[str], Sequence[str]] | None = None,
) -> list[int]:
    """A number from 1 to ``n - 1`` for each word: Python's hash, another in each process."""
    return hashing_trick(input_text, n, None, filters, lower, split, analyzer)


def hashing_trick(
    text: str,
    n: int,
    hash_function: str | Callable[[str], int] | None = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable[[str], Sequence[str]] | None = None,
) -> list[int]:
    """A number from 1 to ``n - 1`` for each word, by a hash: Python's, ``"md5"`` or a function."""
    words = (
        text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    )
    hashed: Any = hash if hash_function is None else hash_function
    if hashed == "md5":
        hashed = _md5
    return [hashed(word) % (n - 1) + 1 for word in words]


@configurable
class Tokenizer:
    """Numbers words by how often they occur, from 1 on, and texts by these.

    ``num_words``: only numbers below it are given; others are left out, or those of ``oov_token``,
    whose number is 1. ``char_level``: each character is a word.
    """

    num_words: int | None = None
    filters: str = _FILTERS
    lower: bool = True
    split: str = " "
    char_level: bool = False
    oov_token: str | None = None
    analyzer: Callable[[str], Sequence[str]] | None = None
    document_count: int = 0

    def __post_init__(self) -> None:
        #: The counts of words, and of texts with them; and the same by the words' numbers.
        self.word_counts: dict[str, int] = {}
        self.word_docs: dict[str, int] = Counter()
        self.index_docs: dict[int, int] = Counter()
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Sequence[str]:
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text  # type: ignore[no-any-return]  # a text or a list of words
            return [word.lower() for word in text]
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Count the words of texts, or of lists of words, and number them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] = self.word_docs.get(word, 0) + 1
        known = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        listed = known if self.oov_token is None else [self.oov_token, *known]
        self.word_index = {word: i for i, word in enumerate(listed, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Sequence[Iterable[int]]) -> None:
        """Count in how many lists numbers occur, for ``sequences_to_matrix``."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] = self.index_docs.get(number, 0) + 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """The numbers of the words of each text."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """The same, one after another."""
        for text in texts:
            numbers = [self.word_index.get(word) for word in self._words(text)]
            yield self._kept(numbers)

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """The words of each list of numbers, with blanks between."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Iterable[int]]) -> Iterator[str]:
        """The same, one after another."""
        for sequence in sequences:
            known = [number if number in self.index_word else None for number in sequence]
            yield " ".join(self.index_word[number] for number in self._kept(known))

    def _kept(self, numbers: Iterable[int | None]) -> list[int]:
        """Numbers below ``num_words``; that of ``oov_token``, if there is one, for others."""
        other = None if self.oov_token is None else self.word_index.get(self.oov_token)
        most = self.num_words or float("inf")
        found = [other if n is None or n >= most else n for n in numbers]
        return [number for number in found if number is not None]

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """A row for each text; see ``sequences_to_matrix``."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> Any:
        """A row for each list, with a column for each number.

        ``mode``: ``"binary"``, whether it occurs; ``"count"``, how often; ``"freq"``, the share;
        ``"tfidf"``, ``(1 + log count) log(1 + documents / (1 + documents with it))``.
        """
        columns = self.num_words or (len(self.word_index) + 1 if self.word_index else 0)
        if not columns:
            raise ValueError(
                "the number of columns is unknown; pass `num_words`, or fit on texts first"
            )
        if mode == "tfidf" and not self.document_count:
            raise ValueError("mode 'tfidf' counts texts; fit the Tokenizer on some first")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError(f"`mode` is 'binary', 'count', 'freq' or 'tfidf', not {mode!r}")
        matrix = np.zeros((len(sequences), columns))
        for row, sequence in zip(matrix, sequences, strict=True):
            for number, count in Counter(n for n in sequence if n < columns).items():
                rarity = np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
                row[number] = {
                    "binary": 1.0,
                    "count": count,
                    "freq": count / len(sequence),
                    "tfidf": (1 + np.log(count)) * rarity,
                }[mode]
        return matrix

    def get_config(self) -> dict[str, Any]:
        """The arguments of the tokenizer, and its counts as JSON."""
        plain = (
            "num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count",
        )  # fmt: skip
        counted = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        config = {name: getattr(self, name) for name in plain}
        return config | {name: json.dumps(getattr(self, name)) for name in counted}

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON, for ``tokenizer_from_json``."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """A tokenizer by the text that ``to_json`` gave."""
    config = json.loads(json_string)["config"]
    counted = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    made = Tokenizer(**config)
    for name, value in counted.items():
        by_number = name.startswith("index_")
        setattr(made, name, {int(key): v for key, v in value.items()} if by_number else value)
    return made


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
