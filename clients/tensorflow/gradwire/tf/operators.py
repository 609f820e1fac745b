"""The operators of tensors and variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes
from gradwire.tf.arguments import only
from gradwire.tf.calls import call, shape_of
from gradwire.tf.checks import binary, comparison
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import InvalidArgumentError, UnimplementedError, invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.rowwise import elementwise
from gradwire.tf.tensors import METHODS, Operand, Tensor

__all__ = [
    "abs", "add", "cast", "equal", "greater", "greater_equal", "identity", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "matmul", "multiply", "negative", "not_equal",
    "pow", "subtract", "truediv",
]  # fmt: skip


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x + y``, element by element."""
    return binary("AddV2", "+", x, y)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x - y``, element by element."""
    return binary("Sub", "-", x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x * y``, element by element."""
    return binary("Mul", "*", x, y)


@elementwise
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``, element by element; of small integers float32, of others float64."""
    left, right, dtype = x, y, None
    for value in (x, y):
        if isinstance(value, Operand):
            dtype = value._dtype()
            break
    if dtype is None:
        left = convert_to_tensor(x)
        dtype = left.dtype
    left, right = (
        value
        if isinstance(value, Operand)
        else convert_to_tensor(value, dtype)
        if not _is_number(value) or dtype.is_integer
        else value
        for value in (left, right)
    )
    of = [value._dtype() for value in (left, right) if isinstance(value, Operand)]
    if len(of) == 2 and of[0] != of[1]:
        raise TypeError(f"`x` is {of[0]!r} but `y` is {of[1]!r}; cast one to the other's dtype")
    if dtype.is_integer:
        wide = dtypes.float32 if dtype.size <= 2 else dtypes.float64
        left, right = (cast(value, wide) for value in (left, right))
    return binary("RealDiv", "/", left, right)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` rounded down, element by element."""
    _refuse_zero("FloorDiv", x, y)
    return binary("FloorDiv", "tf.formulas.floordiv" if _are_floats(x, y) else "//", x, y)


def mod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of ``x`` divided by ``y``, with the sign of ``y``."""
    _refuse_zero("FloorMod", x, y)
    return binary("FloorMod", "tf.formulas.floormod" if _are_floats(x, y) else "%", x, y)


def _are_floats(x: Any, y: Any) -> bool:
    """True if either is a tensor of floating numbers."""
    return any(isinstance(each, Operand) and each._dtype().is_floating for each in (x, y))


def _refuse_zero(op: str, x: Any, y: Any) -> None:
    """Integers have no value to say that they were divided by zero."""
    dtype = next((each._dtype() for each in (x, y) if isinstance(each, Operand)), None)
    if dtype is not None and dtype.is_integer and not np.all(np.asarray(y)):
        raise invalid(f"Integer division by zero [Op:{op}] name: ")


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x ** y``, element by element."""
    whole = isinstance(x, Operand) and x._dtype().is_integer
    if whole and np.any(np.asarray(y) < 0):
        raise invalid("Integers to negative integer powers are not allowed [Op:Pow] name: ")
    return binary("Pow", "tf.formulas.pow" if _are_floats(x, y) else "**", x, y)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of batches of them."""
    only("matmul", output_type=(output_type, None), grad_a=(grad_a, False), grad_b=(grad_b, False))
    left, right, dtype = checks.pair("MatMul", a, b)
    left, right = convert_to_tensor(left), convert_to_tensor(right)
    flags = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "adjoint_a": adjoint_a,
        "adjoint_b": adjoint_b,
    }
    shapes = [
        _turned(shape_of(value), transposed or adjoint)
        for value, transposed, adjoint in (
            (left, transpose_a, adjoint_a),
            (right, transpose_b, adjoint_b),
        )
    ]
    spec = Spec(dtype, checks.matmul_shape(*shapes))
    given = {name: True for name, flag in flags.items() if flag}
    return call("tf.matmul", left, right, spec=spec, **given)


def _turned(shape: Any, turned: bool) -> Any:
    if not turned or shape is None or len(shape) < 2:
        return shape
    return (*shape[:-2], shape[-1], shape[-2])


def negative(x: Any, name: str | None = None) -> Tensor:
    """``-x``."""
    tensor = convert_to_tensor(x)
    checks.check_allowed("Neg", tensor.dtype, checks.NUMBERS)
    return call("-", tensor, spec=tensor._node.spec)


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value, or a complex number's modulus."""
    tensor = convert_to_tensor(x)
    checks.check_allowed("Abs", tensor.dtype, checks.NUMBERS)
    return call("np.abs", tensor, spec=Spec(tensor.dtype.real_dtype, tensor._node.shape))


def identity(input: Any, name: str | None = None) -> Tensor:
    """Another tensor of the same value."""
    tensor = convert_to_tensor(input)
    if tensor.dtype == dtypes.string:
        return tensor_of(tensor._value(), tensor.dtype)
    return call("copy", tensor, spec=Spec(tensor.dtype, tensor._node.shape))


@elementwise
def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """The elements converted to another dtype; the tensor itself where it has that dtype."""
    wanted = dtypes.as_dtype(dtype)
    tensor = convert_to_tensor(x)
    if tensor.dtype == wanted:
        return tensor
    if dtypes.string in (tensor.dtype, wanted):
        raise dtypes_error(tensor.dtype, wanted)
    return call("tf.cast", tensor, wanted.storage.name, spec=Spec(wanted, tensor._node.shape))


def dtypes_error(given: dtypes.DType, wanted: dtypes.DType) -> Exception:
    """The error for a cast that there is not."""
    return UnimplementedError(
        None,
        None,
        f"Cast {given.names_in_errors} to {wanted.names_in_errors} is not supported "
        "[Op:Cast] name: ",
    )


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where elements are equal."""
    return comparison("Equal", "==", x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where elements differ."""
    return comparison("NotEqual", "!=", x, y)


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x < y``, element by element."""
    return comparison("Less", "<", x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x <= y``, element by element."""
    return comparison("LessEqual", "<=", x, y)


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x > y``, element by element."""
    return comparison("Greater", ">", x, y)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x >= y``, element by element."""
    return comparison("GreaterEqual", ">=", x, y)


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where both are true."""
    return binary("LogicalAnd", "&", x, y, allowed=("bool",))


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where either is true."""
    return binary("LogicalOr", "|", x, y, allowed=("bool",))


def logical_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where exactly one is true."""
    return binary("LogicalXor", "^", x, y, allowed=("bool",))


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """True where elements are false."""
    tensor = convert_to_tensor(x)
    checks.check_allowed("LogicalNot", tensor.dtype, ("bool",))
    return call("np.logical_not", tensor, spec=Spec(dtypes.bool_, tensor._node.shape))


def _plus(x: Any, y: Any) -> Tensor:
    return binary("AddV2", "+", x, y, lenient=True)


def _bits(logical: Any, op: str, sign: str) -> Any:
    def method(x: Any, y: Any) -> Tensor:
        dtype = (x if isinstance(x, Operand) else y)._dtype()
        if dtype == dtypes.bool_:
            result: Tensor = logical(x, y)
            return result
        return binary(op, sign, x, y, allowed=checks.INTEGERS)

    return method


def _invert(x: Any) -> Tensor:
    tensor = convert_to_tensor(x)
    if tensor.dtype == dtypes.bool_:
        return logical_not(tensor)
    checks.check_allowed("Invert", tensor.dtype, checks.INTEGERS)
    return call("np.bitwise_not", tensor, spec=Spec(tensor.dtype, tensor._node.shape))


def _compared(comparison: Any, otherwise: bool) -> Any:
    """The method of ``==`` or ``!=``: ``otherwise`` for what cannot be compared."""

    def method(x: Any, y: Any) -> Any:
        if y is None:
            return otherwise
        try:
            return comparison(x, y)
        except InvalidArgumentError as error:
            if "Incompatible shapes" in str(error):
                return tensor_of(np.asarray(otherwise))
            raise

    return method


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, (bool, np.generic))


_METHODS = (
    *(subtract, multiply, truediv, floordiv, mod, pow, matmul, negative, identity, abs),
    *(less, less_equal, greater, greater_equal),
)
METHODS.update({method.__name__: method for method in _METHODS})
METHODS.update(
    {
        "add": _plus,
        "and": _bits(logical_and, "BitwiseAnd", "&"),
        "or": _bits(logical_or, "BitwiseOr", "|"),
        "xor": _bits(logical_xor, "BitwiseXor", "^"),
        "same": _compared(equal, False),
        "differs": _compared(not_equal, True),
        "invert": _invert,
    }
)
dtypes.FUNCTIONS["cast"] = cast
