"""``tf.lookup.experimental``: tables that change."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, as_dtype, int64
from gradwire.tf.errors import invalid
from gradwire.tf.ragged_tensors import RaggedTensor
from gradwire.tf.sparse_tensors import SparseTensor
from gradwire.tf.tensors import Tensor

__all__ = ["DenseHashTable", "MutableHashTable"]


class Table:
    """Values by keys, and one for keys that are not there."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: Any) -> None:
        self.key_dtype: DType = as_dtype(key_dtype)
        self.value_dtype: DType = as_dtype(value_dtype)
        self.name: str = name or "table"
        self._default: Tensor = convert_to_tensor(default_value, self.value_dtype)
        self._held: dict[Any, Any] = {}

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, in the structure of these."""
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        keys = self._keys(keys)
        asked = np.asarray(keys.numpy())
        values = [
            self._held[key] if key in self._held else self._missing(key)
            for key in asked.ravel().tolist()
        ]
        dtype = object if self.value_dtype.name == "string" else self.value_dtype.as_numpy_dtype
        rows = np.array(values, dtype).reshape((*asked.shape, *self._default.shape))
        return tensor_of(rows, self.value_dtype)

    __getitem__ = lookup

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys."""
        return tensor_of(np.int64(len(self._held)), int64)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values."""
        keys = convert_to_tensor(list(self._held), self.key_dtype)
        return keys, convert_to_tensor(list(self._held.values()), self.value_dtype)

    def _missing(self, key: Any) -> Any:
        return self._default.numpy()

    def _keys(self, keys: Any) -> Tensor:
        found = convert_to_tensor(keys)
        if found.dtype != self.key_dtype:
            raise TypeError(
                f"the table's keys are {self.key_dtype!r}, but `keys` has {found.dtype!r}"
            )
        return found


class MutableHashTable(Table):
    """A table that changes: ``insert``, ``remove``."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Give keys their values, new or not."""
        asked = np.asarray(self._keys(keys).numpy())
        given = np.asarray(convert_to_tensor(values, self.value_dtype).numpy())
        rows = given.reshape(asked.size, *self._default.shape)
        self._held.update(zip(asked.ravel().tolist(), rows, strict=True))

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Forget keys."""
        for key in np.asarray(self._keys(keys).numpy()).ravel().tolist():
            self._held.pop(key, None)


class DenseHashTable(MutableHashTable):
    """The same; ``empty_key`` and ``deleted_key`` are keys that it never holds."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)
        reserved = (convert_to_tensor(key, self.key_dtype) for key in (empty_key, deleted_key))
        self._reserved: set[Any] = {np.asarray(key.numpy()).item() for key in reserved}

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Give keys their values, new or not."""
        self.insert(keys, values)

    def erase(self, keys: Any, name: str | None = None) -> None:
        """Forget keys."""
        self.remove(keys)

    def _keys(self, keys: Any) -> Tensor:
        found = super()._keys(keys)
        if self._reserved & set(np.asarray(found.numpy()).ravel().tolist()):
            raise invalid("Using the empty_key or the deleted_key as a table key is not allowed")
        return found
