"""Python's operators on recorded arrays: each is the ufunc that it is for NumPy's arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

UNARY: dict[str, np.ufunc] = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}
COMPARISONS: dict[str, np.ufunc] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ARITHMETIC: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


class Operators:
    """The operators ``+``, ``<``, ``@=`` and the others, which are set below."""

    __slots__ = ()

    @abstractmethod
    def _applied(self, ufunc: np.ufunc, *operands: Any) -> Any:
        """Apply a ufunc."""

    @abstractmethod
    def _updated(self, ufunc: np.ufunc, other: Any) -> Any:
        """Change this array in place, as NumPy does."""


def _unary(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self: self._applied(ufunc, self)


def _binary(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: self._applied(ufunc, self, other)


def _reflected(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: self._applied(ufunc, other, self)


def _in_place(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self, other: self._updated(ufunc, other)


for _kind, _prefix, _ufuncs in (
    (_unary, "", UNARY),
    (_binary, "", COMPARISONS | ARITHMETIC | {"divmod": np.divmod}),
    (_reflected, "r", ARITHMETIC | {"divmod": np.divmod}),
    (_in_place, "i", ARITHMETIC),
):
    for _name, _ufunc in _ufuncs.items():
        setattr(Operators, f"__{_prefix}{_name}__", _kind(_ufunc))
