"""Parts of NumPy's functions of tensors: arrays with NumPy's dtypes, and promotion.

What is created of Python's numbers is float64 and int64, and operands of two dtypes are promoted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf import creation, nest
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.errors import UnimplementedError
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import operands
from gradwire.tf.operators import cast
from gradwire.tf.tensors import Operand, Tensor


class NumpyFunction:
    """One of NumPy's functions."""

    def __init__(self, name: str) -> None:
        self.__name__: str = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute it of tensors, promoted to one dtype."""
        found = [part for part in nest.flatten([*args, *kwargs.values()]) if _is_array(part)]
        wanted = np.result_type(*[_dtype(part) for part in found]) if found else None

        def promoted(part: Any) -> Any:
            if not _is_array(part):
                return operands.written(part)
            tensor = array(part)
            mixed = wanted is not None and tensor.dtype.storage != wanted
            joined = self.__name__ not in _APART and mixed
            return cast(tensor, as_dtype(wanted)) if joined else tensor

        given = nest.map_structure(promoted, list(args))
        named = {key: nest.map_structure(promoted, value) for key, value in kwargs.items()}
        return call(f"np.{self.__name__}", *given, **named)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


#: Functions whose operands mean different things.
_APART = frozenset({"take", "where", "take_along_axis", "repeat"})


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor with NumPy's dtypes for Python's numbers."""
    if isinstance(val, Operand) or any(isinstance(part, Operand) for part in nest.flatten(val)):
        tensor = convert_to_tensor(val)
    else:
        tensor = tensor_of(np.array(val))
    if dtype is not None:
        tensor = cast(tensor, dtype)
    missing = ndmin - len(tensor._lengths())
    if missing > 0:
        shape = [*[1] * missing, *tensor._lengths()]
        return call("np.reshape", tensor, shape, spec=Spec(tensor.dtype, tuple(shape)))
    return tensor


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor with NumPy's dtypes for Python's numbers."""
    return array(a, dtype)


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros, float64 unless asked for others."""
    return tensor_of(np.zeros(shape, _storage(dtype)))


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Ones, float64 unless asked for others."""
    return tensor_of(np.ones(shape, _storage(dtype)))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """One value, as many times as the shape says."""
    return tensor_of(np.full(shape, fill_value, None if dtype is None else _storage(dtype)))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Numbers in equal steps."""
    first, last = (0, start) if stop is None else (start, stop)
    numbers = creation.range(first, last, step)
    if dtype is None:
        dtype = np.result_type(*[np.asarray(each).dtype for each in (first, last, step)])
    return tensor_of(numbers._value().astype(_storage(dtype)))


def linspace(start: Any, stop: Any, num: int = 50, dtype: Any = float) -> Tensor:
    """Numbers from one to another, evenly."""
    return tensor_of(np.linspace(start, stop, num, dtype=_storage(dtype)))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:
    """Ones on a diagonal."""
    return tensor_of(np.eye(N, M, k, _storage(dtype)))


def shape(a: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return array(a)._lengths()


def ndim(a: Any) -> int:
    """The number of axes."""
    return len(array(a)._lengths())


def size(x: Any, axis: int | None = None) -> int:
    """The number of elements."""
    lengths = array(x)._lengths()
    return math.prod(lengths) if axis is None else lengths[axis]


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Refused: tensors keep TensorFlow's dtypes."""
    raise UnimplementedError(None, None, "tensors keep TensorFlow's rules for dtypes here")


def _storage(dtype: Any) -> np.dtype[Any]:
    return dtype.storage if isinstance(dtype, DType) else np.dtype(dtype)


def _is_array(part: Any) -> bool:
    return isinstance(part, (Operand, np.ndarray, np.generic))


def _dtype(part: Any) -> Any:
    return part._dtype().storage if isinstance(part, Operand) else np.asarray(part).dtype
