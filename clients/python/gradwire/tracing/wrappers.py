"""Arrays of other libraries that meet recorded ones, and which of both computes, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.hidden import MASKED_HINT
from gradwire.tracing.lazy_arrays import RecordableArray
from gradwire.tracing.operators import Operators
from gradwire.tracing.shapes import AbstractArray
from gradwire.tracing.traces import not_traceable

#: Members of NumPy's module are looked up slowly while it is patched.
_ARRAY = np.ndarray
#: The operators, with those for what stands on the left.
_OPERATORS = [
    name for name, own in vars(Operators).items() if callable(own) and hasattr(_ARRAY, name)
]
#: Libraries whose arrays are constants of the recording.
_CONSTANTS = ("pandas.", "dask.")


def takes_over(kind: type, protocol: str) -> bool:
    """True if arrays of a class compute what they are an operand of, by a protocol of NumPy's."""
    own = getattr(kind, protocol, None)
    return (
        own is not None
        and own is not getattr(_ARRAY, protocol)
        and not issubclass(kind, (AbstractArray, RecordableArray))
        and not kind.__module__.startswith(_CONSTANTS)
    )


def takes_over_operator(operand: Any) -> bool:
    """True if Python's operators are the other operand's to compute.

    Raises: ``NotTraceable`` for masked arrays, whose operators go on without the recording.
    """
    if isinstance(operand, np.ma.MaskedArray):
        checked(operand)
    kind = type(operand)
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    return getattr(operand, "__array_priority__", 0) > 0 and not hasattr(operand, "tocoo")


def check_argument(value: Any) -> None:
    """Raise an error if operators mean something else for an argument than for NumPy's arrays."""
    kind = type(value)
    if kind is _ARRAY or not isinstance(value, _ARRAY) or isinstance(value, np.ma.MaskedArray):
        return
    for name in ("__array_ufunc__", "__array_function__", *_OPERATORS):
        if getattr(kind, name) is not getattr(_ARRAY, name):
            raise not_traceable(
                f"an argument is a {kind.__name__}, which has its own {name}",
                "use numpy.asarray(x): the function is recorded with NumPy's arrays",
            )


def checked(array: NDArray[Any]) -> NDArray[Any]:
    """An array of NumPy's, unless operators mean something else for it."""
    if isinstance(array, np.ma.MaskedArray):
        raise not_traceable(f"{type(array).__name__} cannot be recorded", MASKED_HINT)
    if isinstance(array, np.matrix):
        raise not_traceable(f"{type(array).__name__} cannot be recorded", "use numpy.asarray(x)")
    return array
