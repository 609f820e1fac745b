"""``tf.lookup``: tables from texts or integers to values, looked up here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf import lookup_experimental as experimental
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, as_dtype, int64
from gradwire.tf.errors import FailedPreconditionError
from gradwire.tf.lookup_experimental import Table
from gradwire.tf.tensors import Tensor

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
    "TextFileInitializer", "experimental",
]  # fmt: skip


class KeyValueTensorInitializer:
    """The keys of a table with their values."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._keys: Tensor = convert_to_tensor(keys, key_dtype)
        self._values: Tensor = convert_to_tensor(values, value_dtype)
        self.key_dtype: DType = self._keys.dtype
        self.value_dtype: DType = self._values.dtype


class TextFileIndex:
    """The part of a line that is a key or a value, besides the number of a column."""

    WHOLE_LINE: int = -2
    LINE_NUMBER: int = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """The keys of a table with their values, from the lines of a file."""

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        path = convert_to_tensor(filename).numpy().decode()
        lines = Path(path).read_text(encoding="utf-8").splitlines()[:vocab_size]

        def column(index: int, dtype: Any) -> Any:
            if index == TextFileIndex.LINE_NUMBER:
                return np.arange(len(lines))
            parts = lines if index < 0 else [line.split(delimiter)[index] for line in lines]
            return parts if as_dtype(dtype).name == "string" else [float(part) for part in parts]

        values = column(value_index, value_dtype)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = values + value_index_offset
        super().__init__(
            _typed(column(key_index, key_dtype), key_dtype), _typed(values, value_dtype)
        )


class StaticHashTable(Table):
    """A table that does not change: ``table.lookup(keys)``, ``default_value`` for other keys."""

    def __init__(
        self,
        initializer: KeyValueTensorInitializer,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value, name)
        self._fill(initializer)

    @property
    def default_value(self) -> Any:
        """The value of keys that the table has not."""
        return self._default

    def _fill(self, initializer: KeyValueTensorInitializer) -> None:
        pairs = zip(initializer._keys.numpy(), initializer._values.numpy(), strict=True)
        for key, value in pairs:
            if self._held.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    None,
                    None,
                    f"HashTable has different value for same key. Key {_shown(key)} has "
                    f"{_shown(self._held[key])} and trying to add value {_shown(value)}",
                )


class StaticVocabularyTable(StaticHashTable):
    """The places of words in a vocabulary; of others, places after it.

    Raises:
        NotImplementedError: Another word than those of the vocabulary, and several places.
    """

    def __init__(
        self,
        initializer: KeyValueTensorInitializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if initializer is None:
            initializer = KeyValueTensorInitializer([], [], lookup_key_dtype or "string", int64)
        if initializer.value_dtype != int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected {int64!r} but got {initializer.value_dtype!r}."
            )
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; got {num_oov_buckets}.")
        super().__init__(initializer, len(initializer._keys), name)
        self._buckets = num_oov_buckets

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys and of buckets for other words."""
        return tensor_of(np.int64(len(self._held) + self._buckets), int64)

    def _missing(self, key: Any) -> Any:
        if self._buckets > 1:
            raise NotImplementedError(
                "tf.lookup.StaticVocabularyTable does not implement words outside of its "
                "vocabulary with num_oov_buckets > 1"
            )
        return super()._missing(key)


def _typed(values: Any, dtype: Any) -> Any:
    if as_dtype(dtype).name == "string":
        return [str(value) for value in values]
    return np.asarray(values, as_dtype(dtype).as_numpy_dtype)


def _shown(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
