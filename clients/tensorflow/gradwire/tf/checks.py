"""Checks where an operation is called: for dtypes that differ and shapes that do not fit."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf.calls import argument, call, shape_of
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, bool_, string
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Shape, Spec
from gradwire.tf.rowwise import elementwise
from gradwire.tf.static import listed
from gradwire.tf.tensors import Operand, Tensor

FLOATS: tuple[str, ...] = ("bfloat16", "half", "float", "double")
INEXACT: tuple[str, ...] = (*FLOATS, "complex64", "complex128")
INTEGERS: tuple[str, ...] = tuple(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)
NUMBERS: tuple[str, ...] = (*FLOATS, *INTEGERS, "complex64", "complex128")
#: Operations that take numbers only.
_OF_NUMBERS: frozenset[str] = frozenset({"AddV2", "Sub", "Mul", "RealDiv", "FloorDiv", "Pow"})


@elementwise
def unary(op: str, function: str, x: Any, allowed: Sequence[str] = INEXACT) -> Tensor:
    """An operation on each element, which keeps dtype and shape."""
    tensor = convert_to_tensor(x)
    check_allowed(op, tensor.dtype, allowed)
    return call(function, tensor, spec=Spec(tensor.dtype, tensor._node.shape))


@elementwise
def binary(
    op: str,
    function: str,
    x: Any,
    y: Any,
    result: DType | None = None,
    *,
    allowed: Sequence[str] = (),
    lenient: bool = False,
) -> Tensor:
    """An operation on pairs of elements, its operands of one dtype, broadcast to one shape.

    ``function`` is a name, or the operator's sign. A number that the other operand's dtype does
    not hold is refused as such, or, with ``lenient``, as a tensor of another dtype.
    """
    left, right, dtype = pair(op, x, y, lenient=lenient)
    if dtype == string and function in TEXTS:
        return _of_texts(function, left, right, result or dtype)
    if not allowed and op in _OF_NUMBERS:
        allowed = NUMBERS
    if allowed:
        check_allowed(op, dtype, allowed)
    spec = Spec(result or dtype, broadcast(op, shape_of(left), shape_of(right)))
    return call(function, left, right, spec=spec)


#: The operations on texts, which are computed here.
TEXTS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "==": operator.eq,
    "!=": operator.ne,
}


def _of_texts(function: str, left: Any, right: Any, dtype: DType) -> Tensor:
    texts = [np.asarray(convert_to_tensor(each)._value(), object) for each in (left, right)]
    found = np.empty(np.broadcast_shapes(*(each.shape for each in texts)), dtype.storage)
    found[...] = TEXTS[function](*texts)
    return tensor_of(found, dtype)


def pair(op: str, x: Any, y: Any, *, lenient: bool = False) -> tuple[Any, Any, DType]:
    """Both operands, of one dtype; numbers take that of the other."""
    left: Any
    right: Any
    if isinstance(x, Operand):
        dtype = x._dtype()
        left, right = convert_to_tensor(x), _other(y, dtype, lenient)
    elif isinstance(y, Operand):
        dtype = y._dtype()
        left, right = _other(x, dtype, lenient), convert_to_tensor(y)
    else:
        left = convert_to_tensor(x)
        dtype = left.dtype
        right = convert_to_tensor(y, dtype)
    found = [value.dtype for value in (left, right) if isinstance(value, Tensor)]
    if found[0] != found[-1]:
        raise mismatch(op, found[0], found[-1])
    return left, right, dtype


def _other(value: Any, dtype: DType, lenient: bool) -> Any:
    if hasattr(value, "_to_tensor"):
        return convert_to_tensor(value)
    try:
        return argument(value, dtype)
    except TypeError:
        if not lenient and not isinstance(value, (str, bytes)):
            raise
        return convert_to_tensor(value)


def mismatch(op: str, expected: DType, given: DType, position: int = 1) -> Exception:
    """The error for operands of two dtypes."""
    name = "_MklMatMul" if op == "MatMul" else op
    return invalid(
        f"cannot compute {name} as input #{position}(zero-based) was expected to be a "
        f"{expected.names_in_errors} tensor but is a {given.names_in_errors} tensor "
        f"[Op:{op}] name: "
    )


def check_same_dtype(op: str, tensors: Sequence[Tensor]) -> None:
    """Raise unless all are of one dtype."""
    for position, tensor in enumerate(tensors):
        if tensor.dtype != tensors[0].dtype:
            raise mismatch(op, tensors[0].dtype, tensor.dtype, position)


def check_allowed(op: str, dtype: DType, allowed: Sequence[str]) -> None:
    """Raise unless an operation takes elements of the dtype."""
    if dtype.names_in_errors in allowed:
        return
    if tuple(allowed) == ("bool",):
        raise mismatch(op, bool_, dtype, 0)
    raise invalid(
        f"Value for attr 'T' of {dtype.names_in_errors} is not in the list of allowed values: "
        f"{', '.join(allowed)}\n\t; NodeDef: {{{{node {op}}}}} [Op:{op}] name: "
    )


def broadcast(op: str, left: Shape, right: Shape) -> Shape:
    """The shape that both are broadcast to."""
    if left is None or right is None:
        return None
    if left == right or not right:
        return left
    if not left:
        return right
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {listed(left)} vs. {listed(right)} [Op:{op}] name: "
        ) from None


def matmul_shape(left: Shape, right: Shape) -> Shape:
    """The shape of a product of matrices, or of batches of them."""
    if left is None or right is None:
        return None
    if len(left) == len(right) < 2:
        raise invalid(f"In[0] and In[1] ndims must be == 2: {len(left)} [Op:MatMul] name: ")
    if len(left) != len(right) and min(len(left), len(right)) < 2:
        raise invalid(
            f"In[0] and In[1] has different ndims: {listed(left)} vs. {listed(right)} "
            "[Op:MatMul] name: "
        )
    for position, shape in enumerate((left, right)):
        if len(shape) < 2:
            raise invalid(f"In[{position}] ndims must be >= 2 [Op:MatMul] name: ")
    if left[-1] != right[-2]:
        raise invalid(
            f"Matrix size-incompatible: In[0]: {listed(left)}, In[1]: {listed(right)} "
            "[Op:MatMul] name: "
        )
    outer = broadcast("BatchMatMulV2", left[:-2], right[:-2])
    return None if outer is None else (*outer, left[-2], right[-1])


def reduced_shape(op: str, shape: Shape, axis: Any, keepdims: bool) -> Shape:
    """The shape that is left of one when some of its axes are reduced."""
    if shape is None:
        return None
    rank = len(shape)
    if axis is None or isinstance(axis, int):
        axes: Sequence[int] = range(rank) if axis is None else (axis,)
    else:
        axes = np.atleast_1d(np.asarray(axis, np.int64)).tolist()
    for given in axes:
        if not -rank <= given < rank:
            raise invalid(
                f"Invalid reduction dimension ({given} for input with {rank} dimension(s) "
                f"[Op:{op}] name: "
            )
    gone = {given % rank for given in axes}
    if len(gone) < len(axes):
        twice = next(given for given in gone if sum(a % rank == given for a in axes) > 1)
        raise invalid(
            f"Invalid reduction arguments: Axes contains duplicate dimension: {twice} [Op:{op}]"
        )
    if keepdims:
        return tuple([1 if i in gone else length for i, length in enumerate(shape)])
    return tuple([length for i, length in enumerate(shape) if i not in gone])


def comparison(op: str, sign: str, x: Any, y: Any) -> Tensor:
    """An operation on pairs of elements whose result is true or false."""
    return binary(op, sign, x, y, bool_)
