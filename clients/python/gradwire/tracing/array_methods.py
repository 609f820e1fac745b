"""The methods of NumPy's arrays, each the function of NumPy's of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from gradwire.bfloat16 import can_cast, dtype_of

Method: TypeAlias = "Callable[..., Any]"
#: NumPy's functions as ones of recorded arrays, which its annotations do not know.
_np: Any = np


#: Methods that are functions of the array and the same further parameters.
SAME = (
    "all any argmax argmin argpartition argsort cumprod cumsum diagonal dot max "
    "mean min nonzero prod put ravel repeat round searchsorted squeeze std sum swapaxes take "
    "trace var"
)


def _method(name: str) -> Method:
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

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """The same values in another dtype.

        Raises:
            TypeError: if ``casting`` does not allow it.
        """
        of: Any = self
        target = dtype_of(dtype)
        if not can_cast(of.dtype, target, casting):
            raise TypeError(
                f"Cannot cast array data from {of.dtype!r} to {target!r} "
                f"according to the rule {casting!r}"
            )
        made = _np.astype(self, target, copy=copy)
        return made if order == "K" else _np.copy(made, order)

    def clip(self, min: Any = None, max: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The elements, limited to an interval."""
        return _np.clip(self, min, max, *args, **kwargs)

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> Any:
        """The rows for which a condition holds."""
        return _np.compress(condition, self, *args, **kwargs)

    def copy(self, order: str = "C") -> Any:
        """A copy."""
        return _np.copy(self, order)

    def fill(self, value: Any) -> None:
        """Set all elements."""
        _np.copyto(self, value)

    def flatten(self, order: str = "C") -> Any:
        """The flattened elements, as a new array."""
        return _np.copy(_np.ravel(self, order=order), order)

    def partition(self, *args: Any, **kwargs: Any) -> None:
        """Partition the elements, in place."""
        _np.copyto(self, _np.partition(self, *args, **kwargs))

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """The same elements in other axes."""
        return _np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sort in place."""
        _np.copyto(self, _np.sort(self, *args, **kwargs))

    def transpose(self, *axes: Any) -> Any:
        """The array with its axes in another order."""
        return _np.transpose(self, None if not axes else axes[0] if len(axes) == 1 else axes)

    def to_device(self, device: str, /, *, stream: Any = None) -> Any:
        """The array itself: there is one device."""
        if device != "cpu" or stream is not None:
            raise ValueError(f"the only device is 'cpu', without streams, not {device!r}")
        return self


for _name in SAME.split():
    setattr(Methods, _name, _method(_name))
