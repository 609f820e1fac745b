"""The methods of NumPy's arrays, each the function of NumPy's of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

Method: TypeAlias = "Callable[..., Any]"
#: NumPy's functions as ones of recorded arrays, which its annotations do not know.
_np: Any = np


def _function(name: str) -> Method:
    """The method that is a function of the array and the same further parameters."""
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Methods.{name}"
    method.__doc__ = f"As ``numpy.ndarray.{name}``."
    return method


class Methods:
    """The methods of arrays."""

    __slots__ = ()

    all: Method = _function("all")
    any: Method = _function("any")
    argmax: Method = _function("argmax")
    argmin: Method = _function("argmin")
    argpartition: Method = _function("argpartition")
    argsort: Method = _function("argsort")
    conj: Method = _function("conj")
    conjugate: Method = _function("conjugate")
    cumprod: Method = _function("cumprod")
    cumsum: Method = _function("cumsum")
    diagonal: Method = _function("diagonal")
    dot: Method = _function("dot")
    max: Method = _function("max")
    mean: Method = _function("mean")
    min: Method = _function("min")
    nonzero: Method = _function("nonzero")
    prod: Method = _function("prod")
    ravel: Method = _function("ravel")
    repeat: Method = _function("repeat")
    round: Method = _function("round")
    searchsorted: Method = _function("searchsorted")
    squeeze: Method = _function("squeeze")
    std: Method = _function("std")
    sum: Method = _function("sum")
    take: Method = _function("take")
    trace: Method = _function("trace")
    var: Method = _function("var")
    put: Method = _function("put")

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

    def clip(self, min: Any = None, max: Any = None, *args: Any, **kwargs: Any) -> Self:
        """The elements, limited to an interval."""
        result: Self = _np.clip(self, min, max, *args, **kwargs)
        return result

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> Self:
        """The rows for which a condition holds."""
        result: Self = _np.compress(condition, self, *args, **kwargs)
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

    def partition(self, *args: Any, **kwargs: Any) -> None:
        """Partition the elements, in place."""
        _np.copyto(self, _np.partition(self, *args, **kwargs))

    def reshape(self, *shape: Any, **options: Any) -> Self:
        """The same elements in other axes."""
        given = shape[0] if len(shape) == 1 else shape
        result: Self = _np.reshape(self, given, **options)
        return result

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sort in place."""
        _np.copyto(self, _np.sort(self, *args, **kwargs))

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The array with two axes exchanged."""
        result: Self = _np.swapaxes(self, axis1, axis2)
        return result

    def transpose(self, *axes: Any) -> Self:
        """The array with its axes in another order."""
        given = None if not axes else axes[0] if len(axes) == 1 else axes
        result: Self = _np.transpose(self, given)
        return result

    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """The array itself: there is one device."""
        if device != "cpu" or stream is not None:
            raise ValueError(f"the only device is 'cpu', without streams, not {device!r}")
        return self
