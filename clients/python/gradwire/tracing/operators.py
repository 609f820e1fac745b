"""Python's operators on recorded arrays: each is the ufunc that it is for NumPy's arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

Operator: TypeAlias = "Callable[..., Any]"


def _unary(ufunc: np.ufunc) -> Operator:
    def operator(self: Operators) -> Any:
        return self._applied(ufunc, self)

    return operator


def _binary(ufunc: np.ufunc) -> Operator:
    def operator(self: Operators, other: Any) -> Any:
        return self._applied(ufunc, self, other)

    return operator


def _reflected(ufunc: np.ufunc) -> Operator:
    def operator(self: Operators, other: Any) -> Any:
        return self._applied(ufunc, other, self)

    return operator


def _in_place(ufunc: np.ufunc) -> Operator:
    def operator(self: Operators, other: Any) -> Any:
        return self._updated(ufunc, other)

    return operator


class Operators:
    """The operators ``+``, ``<``, ``@=`` and the others."""

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # as NumPy's arrays: == compares elements

    @abstractmethod
    def _applied(self, ufunc: np.ufunc, *operands: Any) -> Any:
        """Apply a ufunc."""

    @abstractmethod
    def _updated(self, ufunc: np.ufunc, other: Any) -> Any:
        """Change this array in place, as NumPy does."""

    __add__: Operator = _binary(np.add)
    __radd__: Operator = _reflected(np.add)
    __iadd__: Operator = _in_place(np.add)
    __sub__: Operator = _binary(np.subtract)
    __rsub__: Operator = _reflected(np.subtract)
    __isub__: Operator = _in_place(np.subtract)
    __mul__: Operator = _binary(np.multiply)
    __rmul__: Operator = _reflected(np.multiply)
    __imul__: Operator = _in_place(np.multiply)
    __truediv__: Operator = _binary(np.true_divide)
    __rtruediv__: Operator = _reflected(np.true_divide)
    __itruediv__: Operator = _in_place(np.true_divide)
    __floordiv__: Operator = _binary(np.floor_divide)
    __rfloordiv__: Operator = _reflected(np.floor_divide)
    __ifloordiv__: Operator = _in_place(np.floor_divide)
    __mod__: Operator = _binary(np.remainder)
    __rmod__: Operator = _reflected(np.remainder)
    __imod__: Operator = _in_place(np.remainder)
    __pow__: Operator = _binary(np.power)
    __rpow__: Operator = _reflected(np.power)
    __ipow__: Operator = _in_place(np.power)
    __matmul__: Operator = _binary(np.matmul)
    __rmatmul__: Operator = _reflected(np.matmul)
    __imatmul__: Operator = _in_place(np.matmul)
    __lshift__: Operator = _binary(np.left_shift)
    __rlshift__: Operator = _reflected(np.left_shift)
    __ilshift__: Operator = _in_place(np.left_shift)
    __rshift__: Operator = _binary(np.right_shift)
    __rrshift__: Operator = _reflected(np.right_shift)
    __irshift__: Operator = _in_place(np.right_shift)
    __and__: Operator = _binary(np.bitwise_and)
    __rand__: Operator = _reflected(np.bitwise_and)
    __iand__: Operator = _in_place(np.bitwise_and)
    __or__: Operator = _binary(np.bitwise_or)
    __ror__: Operator = _reflected(np.bitwise_or)
    __ior__: Operator = _in_place(np.bitwise_or)
    __xor__: Operator = _binary(np.bitwise_xor)
    __rxor__: Operator = _reflected(np.bitwise_xor)
    __ixor__: Operator = _in_place(np.bitwise_xor)
    __divmod__: Operator = _binary(np.divmod)
    __rdivmod__: Operator = _reflected(np.divmod)
    __eq__: Operator = _binary(np.equal)
    __ne__: Operator = _binary(np.not_equal)
    __lt__: Operator = _binary(np.less)
    __le__: Operator = _binary(np.less_equal)
    __gt__: Operator = _binary(np.greater)
    __ge__: Operator = _binary(np.greater_equal)
    __neg__: Operator = _unary(np.negative)
    __pos__: Operator = _unary(np.positive)
    __abs__: Operator = _unary(np.absolute)
    __invert__: Operator = _unary(np.invert)
