"""Assignments to some of a variable's elements."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.gathering import gather, gather_nd
from gradwire.tf.tensors import Operand


class Scattered(Operand):
    """An operand that is assigned to at indices; ``sparse_delta`` are ``tf.IndexedSlices``."""

    __slots__ = ()

    def assign(
        self, value: Any, use_locking: Any = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Give it another value."""
        raise NotImplementedError

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows at indices."""
        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """The slices at indices."""
        return gather_nd(self, indices)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Replace the rows at indices."""
        return self._scattered(sparse_delta, lambda rows, new: new)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Add to the rows at indices."""
        return self._scattered(sparse_delta, np.add)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Subtract from the rows at indices."""
        return self._scattered(sparse_delta, np.subtract)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Multiply the rows at indices."""
        return self._scattered(sparse_delta, np.multiply)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Divide the rows at indices."""
        return self._scattered(sparse_delta, np.divide)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Make the rows at indices at least as large."""
        return self._scattered(sparse_delta, np.maximum)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Make the rows at indices at most as large."""
        return self._scattered(sparse_delta, np.minimum)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Self:
        """Replace the slices at indices."""
        return self._scattered_nd(indices, updates, lambda rows, new: new)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Self:
        """Add to the slices at indices."""
        return self._scattered_nd(indices, updates, np.add)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Self:
        """Subtract from the slices at indices."""
        return self._scattered_nd(indices, updates, np.subtract)

    def _scattered(self, slices: Any, change: Any) -> Self:
        indices = np.asarray(slices.indices).reshape(-1)
        values = np.asarray(convert_to_tensor(slices.values, self._dtype()))
        return self._changed([(int(i),) for i in indices], values, change)

    def _scattered_nd(self, indices: Any, updates: Any, change: Any) -> Self:
        where = np.asarray(indices)
        values = np.asarray(convert_to_tensor(updates, self._dtype()))
        rows = where.reshape(-1, where.shape[-1])
        values = values.reshape(len(rows), *values.shape[where.ndim - 1 :])
        return self._changed([tuple(row.tolist()) for row in rows], values, change)

    def _changed(self, places: list[tuple[int, ...]], values: Any, change: Any) -> Self:
        array = np.array(self._value())
        values = np.broadcast_to(values, (len(places), *values.shape[1:]))
        for place, value in zip(places, values, strict=True):
            array[place] = change(array[place], value)
        self.assign(array)
        return self
