"""Arguments of operations: operands of one dtype, axes, and what is written into the program."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks
from gradwire.tf.calls import argument, integers
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import DType, as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.operations.declaring import Operation, Tensors
from gradwire.tf.shapes import TensorShape
from gradwire.tf.static import listed
from gradwire.tf.steps import again
from gradwire.tf.tensors import Operand, Tensor

#: Operations on square matrices.
_SQUARE = frozenset(
    "MatrixInverse MatrixDeterminant LogMatrixDeterminant Cholesky SelfAdjointEigV2 Eig "
    "MatrixSolve MatrixSquareRoot MatrixLogarithm".split()
)


def check_square(op: str, tensor: Tensor) -> None:
    """Raise unless it holds square matrices."""
    lengths = tensor._lengths()
    if len(lengths) < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {len(lengths)} [Op:{op}] name: ")
    if lengths[-1] != lengths[-2]:
        raise invalid(f"Input matrix must be square. [Op:{op}] name: ")


def operand_of(value: Any, of: Operation) -> Tensor:
    """A value as a tensor of one of the dtypes."""
    tensor = convert_to_tensor(value)
    if of.kinds is not None:
        checks.check_allowed(of.op, tensor.dtype, of.kinds)
    return tensor


def complex_of(dtype: DType) -> DType:
    """The complex dtype of a precision."""
    if dtype.is_complex:
        return dtype
    return as_dtype("complex128" if dtype.name == "float64" else "complex64")


def axes(axis: Any) -> int | builtins.list[int] | None:
    """Axes as numbers."""
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, Operand):
        axis = axis._value()
    found = integers(axis)
    return found[0] if np.ndim(axis) == 0 else found


def written(value: Any) -> Any:
    """A parameter that is no tensor as it is written into the program."""
    if isinstance(value, DType):
        return value.storage.name
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Operand):
        return value._value().tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (tuple, builtins.list)):
        return [written(item) for item in value]
    return value


@again(effect=False)
def check_scatter(op: str, places: Tensor, lengths: Sequence[int]) -> None:
    """Raise for places that there are not."""
    value = places._value()
    bounds = np.array(lengths[: value.shape[-1]])
    wrong = np.argwhere(((value < 0) | (value >= bounds)).any(-1))
    if len(wrong):
        where = tuple(wrong[0].tolist())
        raise invalid(
            f"indices[{','.join(map(str, where))}] = {listed(value[where])} does not index "
            f"into shape {listed(lengths)} [Op:{op}]"
        )


def operands_of(of: Operation, tensors: Tensors) -> dict[str, Any]:
    """The tensors of one dtype, that of the first which has one; numbers are written out."""
    op, places = of.op, of.places
    own = {name: value for name, value in tensors.items() if name not in places} or tensors
    first = next((v for v in own.values() if isinstance(v, (Operand, np.ndarray))), None)
    if first is None:
        first = next(value for value in own.values() if value is not None)
    dtype = convert_to_tensor(first).dtype
    if of.kinds is not None:
        checks.check_allowed(op, dtype, of.kinds)
    given: dict[str, Any] = {}
    for position, (name, value) in enumerate(tensors.items()):
        if value is None:
            given[name] = None
        elif name in places:
            given[name] = convert_to_tensor(value)
        else:
            converted = convert_to_tensor(value) if position == 0 and value is first else None
            given[name] = argument(value, dtype) if converted is None else converted
            found = given[name]
            if isinstance(found, Tensor) and found.dtype != dtype:
                raise checks.mismatch(op, dtype, found.dtype, position)
    if op.startswith("TensorScatter"):
        check_scatter(op, given["indices"], given["tensor"]._lengths())
    if op in _SQUARE:
        check_square(op, next(each for each in given.values() if isinstance(each, Tensor)))
    head = next(iter(given))
    if head not in places and not isinstance(given[head], Tensor):
        given[head] = convert_to_tensor(given[head], dtype)
    return given


def dtype_of(given: Mapping[str, Any]) -> DType:
    """The dtype of the first tensor."""
    return next(value.dtype for value in given.values() if isinstance(value, Tensor))


def limit_of(dtype: DType, op: str) -> Any:
    """The least, or greatest, that a maximum, or minimum, of nothing is."""
    if dtype.is_floating:
        return -np.inf if op == "Max" else np.inf
    return dtype.min if op == "Max" else dtype.max
