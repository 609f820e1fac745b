"""``tf.TensorArray``: a list of tensors that are written one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.tf import static
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, filled, tensor_of
from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.errors import OutOfRangeError, invalid
from gradwire.tf.function_traces import executing_eagerly
from gradwire.tf.joining import concat, split, stack, unstack
from gradwire.tf.shapes import TensorShape, as_shape
from gradwire.tf.tensors import Tensor


class TensorArray:
    """Tensors of one dtype by number; each method that writes gives the array that is written."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        only("TensorArray", handle=(handle, None), flow=(flow, None))
        if size is None:
            raise ValueError("`size` is missing: pass the number of elements")
        self._dtype: DType = as_dtype(dtype)
        self._dynamic: bool = bool(dynamic_size)
        self._clears: bool = True if clear_after_read is None else clear_after_read
        self._infers: bool = infer_shape
        self._shape: TensorShape = as_shape(element_shape)
        self._items: list[Tensor | None] = [None] * static.integer(size)
        self._cleared: set[int] = set()

    @property
    def dtype(self) -> DType:
        """The tensors' dtype."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """True if it grows where it is written beyond its end."""
        return self._dynamic

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the tensors, as far as it is known."""
        return self._shape

    @property
    def handle(self) -> None:
        """Nothing: it is no resource."""
        return None

    @property
    def flow(self) -> Tensor:
        """A number that says nothing."""
        return tensor_of(np.float32(0))

    def identity(self) -> TensorArray:
        """The same."""
        return self

    def size(self, name: str | None = None) -> Tensor:
        """The number of tensors that it holds."""
        return tensor_of(np.int32(len(self._items)))

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The tensor at a place; it may be read once, unless ``clear_after_read`` is false."""
        place = static.integer(index)
        if place < 0:
            raise OutOfRangeError(None, None, f"cannot read at the negative index {place}")
        if place >= len(self._items):
            raise OutOfRangeError(
                None,
                None,
                f"cannot read at index {place} of {len(self._items)}",
            )
        if self._items[place] is None and place in self._cleared:
            raise invalid(
                f"the element at index {place} was read and so cleared; with "
                "`clear_after_read=False` it can be read again"
            )
        tensor = self._filled(place)
        if self._clears and executing_eagerly():
            self._items[place] = None
            self._cleared.add(place)
        return tensor

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with a tensor at a place."""
        place = static.integer(index)
        if place < 0:
            raise OutOfRangeError(None, None, f"cannot write at the negative index {place}")
        if place >= len(self._items) and not self._dynamic:
            raise OutOfRangeError(
                None,
                None,
                f"cannot write at index {place} of {len(self._items)}; `dynamic_size=True` would "
                "let the array grow",
            )
        written = self._copy()
        written._items += [None] * (place + 1 - len(written._items))
        written._items[place] = written._accepted(value)
        return written

    def stack(self, name: str | None = None) -> Tensor:
        """All tensors along a new first axis, zeros for those that were not written."""
        items = [self._filled(place) for place in range(len(self._items))]
        if not items:
            lengths = static.lengths(self._shape) if self._shape.is_fully_defined() else ()
            return filled((0, *lengths), 0, self._dtype)
        return stack(items)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Some of the tensors along a new first axis."""
        return stack([self._filled(place) for place in static.lengths(indices)])

    def concat(self, name: str | None = None) -> Tensor:
        """The tensors one after the other along their first axis."""
        return concat([self._filled(place) for place in range(len(self._items))], 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array of the parts of a tensor along its first axis."""
        parts = unstack(convert_to_tensor(value))
        if not self._dynamic and len(parts) > len(self._items):
            raise ValueError(
                f"{len(parts)} tensors do not fit in an array of size {len(self._items)}; pass "
                "`dynamic_size=True` or a larger `size`"
            )
        return self._holding([self._accepted(part) for part in parts])

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the parts of a tensor at places."""
        written = self
        parts = unstack(convert_to_tensor(value))
        for place, part in zip(static.lengths(indices), parts, strict=True):
            written = written.write(place, part)
        return written

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array of parts of a tensor, of the given lengths."""
        return self._holding(list(split(convert_to_tensor(value), static.lengths(lengths))))

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Not supported: tapes differentiate what was read."""
        raise NotImplementedError(
            "TensorArray.grad is not implemented; a tape differentiates what is read from the array"
        )

    def close(self, name: str | None = None) -> None:
        """Forget the tensors."""
        self._items = []

    def mark_used(self) -> None:
        """Nothing."""

    def __len__(self) -> int:
        return len(self._items)

    def _accepted(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, preferred_dtype=self._dtype)
        if tensor.dtype != self._dtype:
            raise invalid(
                f"this TensorArray holds {self._dtype.name}, got a tensor of {tensor.dtype.name}"
            )
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"this TensorArray holds tensors of shape {self._shape}, got {tensor.shape}"
            )
        if self._infers:
            self._shape = self._shape.merge_with(tensor.shape)
        return tensor

    def _filled(self, place: int) -> Tensor:
        tensor = self._items[place]
        if tensor is None:
            tensor = filled(static.lengths(self._shape), 0, self._dtype)
            self._items[place] = tensor
        return tensor

    def _copy(self) -> TensorArray:
        return self._holding(list(self._items))

    def _holding(self, items: Sequence[Tensor | None]) -> TensorArray:
        made = TensorArray.__new__(TensorArray)
        made._dtype, made._dynamic, made._clears = self._dtype, self._dynamic, self._clears
        made._infers, made._shape = self._infers, self._shape
        made._items, made._cleared = list(items), self._cleared
        if len(items) and self._infers and items[0] is not None:
            made._shape = items[0].shape.merge_with(self._shape)
        return made
