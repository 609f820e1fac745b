"""A recorded array as a value of Python: what Python decides by is fetched, and kept as a guard."""

from __future__ import annotations

import math
import operator
import os
import sys
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradwire import hints
from gradwire.tracing.shapes import AbstractArray
from gradwire.tracing.terms import Term
from gradwire.tracing.traces import LIBRARIES, Trace, current, not_traceable

#: The kinds of dtypes by which Python may decide: integers and booleans.
DECIDING = frozenset("biu")
#: Folders of the libraries whose Python code goes on with what calls itself an array.
_OF_ARRAYS = tuple([f"{LIBRARIES[1]}{os.sep}{name}{os.sep}" for name in ("numpy", "scipy")])
#: The classes of Python's numbers.
_OF_PYTHON = {"f": float, "c": complex, "i": int, "b": bool}


class Conversions(AbstractArray):
    """``bool(x)``, ``int(x)`` and the other conversions, allowed or not."""

    __slots__ = ()
    _trace: Trace

    @property
    @abstractmethod
    def _term(self) -> Term:
        """The term of its current elements."""

    @abstractmethod
    def _is_number(self) -> bool:
        """True if it is a NumPy scalar, not an array."""

    @abstractmethod
    def _described(self) -> str:
        """The recorded array itself, for messages and debuggers."""

    @property  # type: ignore[misc]  # which may be set, but not here
    def __class__(self) -> Any:
        """NumPy's class, for ``isinstance``: code of the user's and NumPy's own choose by it."""
        if _sees_through(sys._getframe(1).f_code.co_filename):
            return type(self)
        return self.numpy_class

    @property
    def numpy_class(self) -> type:
        """The class that the value has without a recording."""
        if not self._is_number():
            return np.ndarray
        of_python = _OF_PYTHON.get(self.dtype.kind) if self._weak else None
        return self.dtype.type if of_python is None else of_python

    def __repr__(self) -> str:
        is_ours = sys._getframe(1).f_code.co_filename.startswith(LIBRARIES[0])
        if is_ours or current() is not self._trace or self._term.scope is not None:
            return self._described()
        return str(self._trace.decide(self._term, _read(_shown, self.numpy_class)))

    def __str__(self) -> str:
        if self._term.scope is not None:  # there is no value in a function of the program
            return self._described()
        return str(self._trace.decide(self._term, _read(_formatted, self._is_number(), "")))

    def __format__(self, spec: str) -> str:
        if self._term.scope is not None and not spec:
            return self._described()
        return str(self._trace.decide(self._term, _read(_formatted, self._is_number(), spec)))

    def __hash__(self) -> int:
        if not self._is_number():
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return int(self._trace.decide(self._term, _read(_of_number, _hashed)))

    def __bool__(self) -> bool:
        return bool(self._trace.decide(self._term, bool))

    def __index__(self) -> int:
        if not self._is_number():  # NumPy asks for it first, and goes on
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        if self._weak and self.dtype.kind == "b":  # Python's are integers, NumPy's are not
            return int(bool(self))
        return int(self._trace.decide(self._term, operator.index))

    def __int__(self) -> int:
        return int(self._trace.decide(self._term, int))

    def __floor__(self) -> int:
        return self._decided(math.floor)

    def __ceil__(self) -> int:
        return self._decided(math.ceil)

    def __trunc__(self) -> int:
        return self._decided(math.trunc)

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None and self._weak:  # Python rounds the decimal number
            return self._trace.decide(self._term, partial(_of_number, partial(_rounded, digits)))
        if digits is not None:
            rounded: Any = np.round
            return rounded(self, digits)
        return self._decided(round)

    def is_integer(self) -> bool:
        """True of a whole number, as Python's numbers have it."""
        return bool(self._trace.decide(self._term, _read(_of_number, _is_whole)))

    def _decided(self, convert: Callable[[Any], Any]) -> int:
        return int(self._trace.decide(self._term, _read(_of_number, convert)))

    def __float__(self) -> float:
        self._check_is_one()
        self._check_decides("float(), or an element of a plain array,", hints.A_VALUE)
        return float(self._trace.decide(self._term, float))

    def __complex__(self) -> complex:
        self._check_is_one()
        self._check_decides("complex(), or an element of a plain array,", hints.A_VALUE)
        return complex(self._trace.decide(self._term, complex))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is None or np.dtype(dtype).kind not in DECIDING:
            self._check_decides(
                "a function that cannot be recorded, or assignment to elements of a plain array,",
                hints.AN_ARRAY,
            )
        read = _read(_elements, None if dtype is None else np.dtype(dtype))
        shape, name, elements = self._trace.decide(self._term, read)
        return np.frombuffer(elements, name).reshape(shape).copy()

    def _decided_item(self, index: tuple[Any, ...]) -> Any:
        return self._trace.decide(self._term, _read(_item, index))

    def _check_is_one(self) -> None:
        if self.size != 1:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")

    def _check_decides(self, asked: str, hint: str) -> None:
        """Raise an error unless Python may decide by its values, which have no derivatives."""
        if self.dtype.kind not in DECIDING:
            raise not_traceable(
                f"{asked} needs numbers, which a recorded array does not have yet", hint
            )


@lru_cache(maxsize=4096)
def _sees_through(filename: str) -> bool:
    """True of code that must know a recorded array: this one, and libraries on top of NumPy."""
    return filename.startswith(LIBRARIES[:2]) and not filename.startswith(_OF_ARRAYS)


@lru_cache(maxsize=4096)
def _read(function: Callable[..., Any], *args: Any) -> Callable[[Any], Any]:
    """``function(*args, value)``: the same object for the same arguments, as guards need it."""
    return partial(function, *args)


def _hashed(number: Any) -> int:
    return 0 if math.isnan(abs(number)) else hash(number)  # of nan it is its identity


def _is_whole(number: Any) -> bool:
    return float(number).is_integer()


def _rounded(digits: int, value: Any) -> Any:
    return round(value, digits)


def _item(index: tuple[Any, ...], value: Any) -> Any:
    return value.item(*index)


def _of_number(function: Callable[[Any], Any], value: Any) -> Any:
    return function(np.asarray(value).item())


def _formatted(is_number: bool, spec: str, value: Any) -> str:
    array = np.asarray(value)
    return format(array[()] if is_number else array, spec)


def _shown(kind: type, value: Any) -> str:
    array = np.asarray(value)
    if kind is np.ndarray:
        return repr(array)
    return repr(array[()] if issubclass(kind, np.generic) else array.item())


def _elements(dtype: np.dtype[Any] | None, value: Any) -> tuple[tuple[int, ...], str, bytes]:
    """The shape, dtype and bytes of an array, which can be compared."""
    array = np.asarray(value, dtype)
    return array.shape, array.dtype.str, array.tobytes()
