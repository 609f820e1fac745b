"""Python's operators on recorded arrays: each is the ufunc that it is for NumPy's arrays."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np


class Operators:
    """The operators ``+``, ``<``, ``@=`` and the others."""

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # as NumPy's arrays: == compares elements

    @abstractmethod
    def _applied(self, ufunc: np.ufunc, *operands: Any) -> Any:
        """Apply a ufunc."""

    @abstractmethod
    def _updated(self, ufunc: np.ufunc, other: Any) -> Self:
        """Change this array in place, as NumPy does."""

    def __add__(self, other: Any) -> Self:
        result: Self = self._applied(np.add, self, other)
        return result

    def __radd__(self, other: Any) -> Self:
        result: Self = self._applied(np.add, other, self)
        return result

    def __iadd__(self, other: Any) -> Self:
        return self._updated(np.add, other)

    def __sub__(self, other: Any) -> Self:
        result: Self = self._applied(np.subtract, self, other)
        return result

    def __rsub__(self, other: Any) -> Self:
        result: Self = self._applied(np.subtract, other, self)
        return result

    def __isub__(self, other: Any) -> Self:
        return self._updated(np.subtract, other)

    def __mul__(self, other: Any) -> Self:
        result: Self = self._applied(np.multiply, self, other)
        return result

    def __rmul__(self, other: Any) -> Self:
        result: Self = self._applied(np.multiply, other, self)
        return result

    def __imul__(self, other: Any) -> Self:
        return self._updated(np.multiply, other)

    def __truediv__(self, other: Any) -> Self:
        result: Self = self._applied(np.true_divide, self, other)
        return result

    def __rtruediv__(self, other: Any) -> Self:
        result: Self = self._applied(np.true_divide, other, self)
        return result

    def __itruediv__(self, other: Any) -> Self:
        return self._updated(np.true_divide, other)

    def __floordiv__(self, other: Any) -> Self:
        result: Self = self._applied(np.floor_divide, self, other)
        return result

    def __rfloordiv__(self, other: Any) -> Self:
        result: Self = self._applied(np.floor_divide, other, self)
        return result

    def __ifloordiv__(self, other: Any) -> Self:
        return self._updated(np.floor_divide, other)

    def __mod__(self, other: Any) -> Self:
        result: Self = self._applied(np.remainder, self, other)
        return result

    def __rmod__(self, other: Any) -> Self:
        result: Self = self._applied(np.remainder, other, self)
        return result

    def __imod__(self, other: Any) -> Self:
        return self._updated(np.remainder, other)

    def __pow__(self, other: Any) -> Self:
        result: Self = self._applied(np.power, self, other)
        return result

    def __rpow__(self, other: Any) -> Self:
        result: Self = self._applied(np.power, other, self)
        return result

    def __ipow__(self, other: Any) -> Self:
        return self._updated(np.power, other)

    def __matmul__(self, other: Any) -> Self:
        result: Self = self._applied(np.matmul, self, other)
        return result

    def __rmatmul__(self, other: Any) -> Self:
        result: Self = self._applied(np.matmul, other, self)
        return result

    def __imatmul__(self, other: Any) -> Self:
        return self._updated(np.matmul, other)

    def __lshift__(self, other: Any) -> Self:
        result: Self = self._applied(np.left_shift, self, other)
        return result

    def __rlshift__(self, other: Any) -> Self:
        result: Self = self._applied(np.left_shift, other, self)
        return result

    def __ilshift__(self, other: Any) -> Self:
        return self._updated(np.left_shift, other)

    def __rshift__(self, other: Any) -> Self:
        result: Self = self._applied(np.right_shift, self, other)
        return result

    def __rrshift__(self, other: Any) -> Self:
        result: Self = self._applied(np.right_shift, other, self)
        return result

    def __irshift__(self, other: Any) -> Self:
        return self._updated(np.right_shift, other)

    def __and__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_and, self, other)
        return result

    def __rand__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_and, other, self)
        return result

    def __iand__(self, other: Any) -> Self:
        return self._updated(np.bitwise_and, other)

    def __or__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_or, self, other)
        return result

    def __ror__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_or, other, self)
        return result

    def __ior__(self, other: Any) -> Self:
        return self._updated(np.bitwise_or, other)

    def __xor__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_xor, self, other)
        return result

    def __rxor__(self, other: Any) -> Self:
        result: Self = self._applied(np.bitwise_xor, other, self)
        return result

    def __ixor__(self, other: Any) -> Self:
        return self._updated(np.bitwise_xor, other)

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        result: tuple[Self, Self] = self._applied(np.divmod, self, other)
        return result

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        result: tuple[Self, Self] = self._applied(np.divmod, other, self)
        return result

    def __eq__(self, other: Any) -> Self:  # type: ignore[override]  # of elements
        result: Self = self._applied(np.equal, self, other)
        return result

    def __ne__(self, other: Any) -> Self:  # type: ignore[override]  # of elements
        result: Self = self._applied(np.not_equal, self, other)
        return result

    def __lt__(self, other: Any) -> Self:
        result: Self = self._applied(np.less, self, other)
        return result

    def __le__(self, other: Any) -> Self:
        result: Self = self._applied(np.less_equal, self, other)
        return result

    def __gt__(self, other: Any) -> Self:
        result: Self = self._applied(np.greater, self, other)
        return result

    def __ge__(self, other: Any) -> Self:
        result: Self = self._applied(np.greater_equal, self, other)
        return result

    def __neg__(self) -> Self:
        result: Self = self._applied(np.negative, self)
        return result

    def __pos__(self) -> Self:
        result: Self = self._applied(np.positive, self)
        return result

    def __abs__(self) -> Self:
        result: Self = self._applied(np.absolute, self)
        return result

    def __invert__(self) -> Self:
        result: Self = self._applied(np.invert, self)
        return result
