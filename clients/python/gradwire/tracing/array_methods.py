"""The methods of NumPy's arrays, each the function of NumPy's of that name."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

#: NumPy's functions as ones of recorded arrays, which its annotations do not know.
_np: Any = np


class Methods:
    """The methods of arrays."""

    __slots__ = ()

    def all(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> Self:
        """True if all elements are true."""
        options = _given(
            axis=(axis, None), out=(out, None), keepdims=(keepdims, False), where=(where, True)
        )
        result: Self = _np.all(self, **options)
        return result

    def any(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> Self:
        """True if any element is true."""
        options = _given(
            axis=(axis, None), out=(out, None), keepdims=(keepdims, False), where=(where, True)
        )
        result: Self = _np.any(self, **options)
        return result

    def argmax(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Self:
        """The index of the greatest element."""
        options = _given(axis=(axis, None), out=(out, None), keepdims=(keepdims, False))
        result: Self = _np.argmax(self, **options)
        return result

    def argmin(self, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Self:
        """The index of the least element."""
        options = _given(axis=(axis, None), out=(out, None), keepdims=(keepdims, False))
        result: Self = _np.argmin(self, **options)
        return result

    def argpartition(self, kth: Any, axis: int | None = -1) -> Self:
        """The indices that partition the elements."""
        options = _given(axis=(axis, -1))
        result: Self = _np.argpartition(self, kth, **options)
        return result

    def argsort(self, axis: int | None = -1, kind: Any = None) -> Self:
        """The indices that sort the elements."""
        options = _given(axis=(axis, -1), kind=(kind, None))
        result: Self = _np.argsort(self, **options)
        return result

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Self:
        """The elements, limited to an interval."""
        options = _given(min=(min, None), max=(max, None), out=(out, None))
        result: Self = _np.clip(self, **options)
        return result

    def compress(self, condition: Any, axis: int | None = None) -> Self:
        """The rows for which a condition holds."""
        options = _given(axis=(axis, None))
        result: Self = _np.compress(self, condition, **options)
        return result

    def conj(self) -> Self:
        """The complex conjugate."""
        result: Self = _np.conj(self)
        return result

    def conjugate(self) -> Self:
        """The complex conjugate."""
        result: Self = _np.conjugate(self)
        return result

    def cumprod(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None
    ) -> Self:
        """The products of all elements up to each."""
        options = _given(axis=(axis, None), dtype=(dtype, None), out=(out, None))
        result: Self = _np.cumprod(self, **options)
        return result

    def cumsum(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None
    ) -> Self:
        """The sums of all elements up to each."""
        options = _given(axis=(axis, None), dtype=(dtype, None), out=(out, None))
        result: Self = _np.cumsum(self, **options)
        return result

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """A diagonal."""
        options = _given(offset=(offset, 0), axis1=(axis1, 0), axis2=(axis2, 1))
        result: Self = _np.diagonal(self, **options)
        return result

    def dot(self, b: Any) -> Self:
        """The product with another array."""
        result: Self = _np.dot(self, b)
        return result

    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Self:
        """The greatest element."""
        options = _given(
            axis=(axis, None),
            out=(out, None),
            keepdims=(keepdims, False),
            initial=(initial, np._NoValue),
            where=(where, True),
        )
        result: Self = _np.max(self, **options)
        return result

    def mean(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Self:
        """The mean."""
        options = _given(
            axis=(axis, None),
            dtype=(dtype, None),
            out=(out, None),
            keepdims=(keepdims, False),
            where=(where, True),
        )
        result: Self = _np.mean(self, **options)
        return result

    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Self:
        """The least element."""
        options = _given(
            axis=(axis, None),
            out=(out, None),
            keepdims=(keepdims, False),
            initial=(initial, np._NoValue),
            where=(where, True),
        )
        result: Self = _np.min(self, **options)
        return result

    def prod(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Self:
        """The product."""
        options = _given(
            axis=(axis, None),
            dtype=(dtype, None),
            out=(out, None),
            keepdims=(keepdims, False),
            initial=(initial, np._NoValue),
            where=(where, True),
        )
        result: Self = _np.prod(self, **options)
        return result

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """The elements, each repeated."""
        options = _given(axis=(axis, None))
        result: Self = _np.repeat(self, repeats, **options)
        return result

    def round(self, decimals: int = 0, out: Any = None) -> Self:
        """The elements, rounded."""
        options = _given(decimals=(decimals, 0), out=(out, None))
        result: Self = _np.round(self, **options)
        return result

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Self:
        """The indices at which values would be inserted to keep the order."""
        options = _given(side=(side, "left"), sorter=(sorter, None))
        result: Self = _np.searchsorted(self, v, **options)
        return result

    def squeeze(self, axis: Any = None) -> Self:
        """The array without its axes of length 1."""
        options = _given(axis=(axis, None))
        result: Self = _np.squeeze(self, **options)
        return result

    def std(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Self:
        """The standard deviation."""
        options = _given(
            axis=(axis, None),
            dtype=(dtype, None),
            out=(out, None),
            ddof=(ddof, 0),
            keepdims=(keepdims, False),
            where=(where, True),
        )
        result: Self = _np.std(self, **options)
        return result

    def sum(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Self:
        """The sum."""
        options = _given(
            axis=(axis, None),
            dtype=(dtype, None),
            out=(out, None),
            keepdims=(keepdims, False),
            initial=(initial, np._NoValue),
            where=(where, True),
        )
        result: Self = _np.sum(self, **options)
        return result

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The array with two axes exchanged."""
        result: Self = _np.swapaxes(self, axis1, axis2)
        return result

    def take(
        self, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
    ) -> Self:
        """The elements, or rows, at some indices."""
        options = _given(axis=(axis, None), out=(out, None), mode=(mode, "raise"))
        result: Self = _np.take(self, indices, **options)
        return result

    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: DTypeLike | None = None,
        out: Any = None,
    ) -> Self:
        """The sum of a diagonal."""
        options = _given(
            offset=(offset, 0),
            axis1=(axis1, 0),
            axis2=(axis2, 1),
            dtype=(dtype, None),
            out=(out, None),
        )
        result: Self = _np.trace(self, **options)
        return result

    def var(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Self:
        """The variance."""
        options = _given(
            axis=(axis, None),
            dtype=(dtype, None),
            out=(out, None),
            ddof=(ddof, 0),
            keepdims=(keepdims, False),
            where=(where, True),
        )
        result: Self = _np.var(self, **options)
        return result

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Self:
        """The same values in another dtype.

        Raises:
            TypeError: if ``casting`` does not allow it.
        """
        of: Any = self
        target = np.dtype(dtype)
        if not _np.can_cast(of.dtype, target, casting):
            raise TypeError(
                f"Cannot cast array data from {of.dtype!r} to {target!r} "
                f"according to the rule {casting!r}"
            )
        result: Self = _np.astype(self, dtype, copy=copy)
        return result

    def copy(self, order: str = "C") -> Self:
        """A copy."""
        result: Self = _np.copy(self, order)
        return result

    def fill(self, value: Any) -> None:
        """Set all elements."""
        _np.copyto(self, value)

    def flatten(self, order: str = "C") -> Self:
        """The flattened elements, as a new array."""
        result: Self = _np.copy(_np.ravel(self, order=order), order)
        return result

    def nonzero(self) -> tuple[Self, ...]:
        """The indices of the elements that are not zero, for each axis."""
        result: tuple[Self, ...] = _np.nonzero(self)
        return result

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition the elements, in place."""
        _np.copyto(self, _np.partition(self, kth, axis))

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set the elements at some indices of all elements in one axis."""
        _np.put(self, indices, values)

    def ravel(self, order: str = "C") -> Self:
        """The elements in one axis."""
        result: Self = _np.ravel(self, order=order)
        return result

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The same elements in other axes."""
        given = shape[0] if len(shape) == 1 else shape
        result: Self = _np.reshape(self, given, order=order)
        return result

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        _np.copyto(self, _np.sort(self, axis))

    def transpose(self, *axes: Any) -> Self:
        """The array with its axes in another order."""
        given = None if not axes else axes[0] if len(axes) == 1 else axes
        result: Self = _np.transpose(self, given)
        return result

    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """The array itself: there is one device."""
        return self


def _given(**options: tuple[Any, Any]) -> dict[str, Any]:
    """The options that differ from their defaults."""
    return {name: value for name, (value, default) in options.items() if value is not default}
