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


def _arithmetic(ufunc: np.ufunc) -> tuple[Operator, Operator, Operator]:
    """``x + y``, the same where only ``y`` is a recorded array, and ``x += y``."""

    def in_place(self: Operators, other: Any) -> Any:
        return self._updated(ufunc, other)

    return _binary(ufunc), _reflected(ufunc), in_place


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

    __add__, __radd__, __iadd__ = _arithmetic(np.add)
    __sub__, __rsub__, __isub__ = _arithmetic(np.subtract)
    __mul__, __rmul__, __imul__ = _arithmetic(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _arithmetic(np.true_divide)
    __floordiv__, __rfloordiv__, __ifloordiv__ = _arithmetic(np.floor_divide)
    __mod__, __rmod__, __imod__ = _arithmetic(np.remainder)
    __pow__, __rpow__, __ipow__ = _arithmetic(np.power)
    __matmul__, __rmatmul__, __imatmul__ = _arithmetic(np.matmul)
    __lshift__, __rlshift__, __ilshift__ = _arithmetic(np.left_shift)
    __rshift__, __rrshift__, __irshift__ = _arithmetic(np.right_shift)
    __and__, __rand__, __iand__ = _arithmetic(np.bitwise_and)
    __or__, __ror__, __ior__ = _arithmetic(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _arithmetic(np.bitwise_xor)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __neg__, __pos__ = _unary(np.negative), _unary(np.positive)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)
