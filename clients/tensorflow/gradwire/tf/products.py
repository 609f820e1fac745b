"""Sums of products: einsum, tensordot, and what elements of several tensors add up to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.creation import zeros_like
from gradwire.tf.dtypes import as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.gathering import where
from gradwire.tf.joining import tensors, unstack
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import operands
from gradwire.tf.operations.types import DTypeLike, TensorLike
from gradwire.tf.operators import add, multiply
from gradwire.tf.shapes import as_shape
from gradwire.tf.slices import IndexedSlices
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variants import variant


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sum of products over the indices that ``equation`` names only before the arrow."""
    kwargs.pop("optimize", None)
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Valid: name, optimize."
        )
    parts = tensors(inputs, "Einsum")
    try:
        empty = [np.broadcast_to(np.zeros((), np.int8), part._lengths()) for part in parts]
        shape = np.einsum(equation, *empty).shape
    except ValueError as error:
        shapes = ", ".join(static.listed(part._lengths()) for part in parts)
        raise invalid(f"{error}: {equation!r} of shapes {shapes} [Op:Einsum] name: ") from None
    return call("tf.einsum", equation.replace(" ", ""), *parts, spec=Spec(parts[0].dtype, shape))


def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: str | None = None) -> Tensor:
    """Sum of products over axes of both: the last of one and the first of the other, or pairs."""
    x, y = tensors([a, b], "MatMul")
    left, right = x._lengths(), y._lengths()
    if isinstance(axes, Operand):
        axes = axes._value().tolist()
    if isinstance(axes, (int, np.integer)):
        if axes > len(left):
            raise ValueError(
                f"cannot contract {axes} `axes`: the first tensor has only {len(left)}"
            )
        pairs = [list(range(len(left) - axes, len(left))), list(range(axes))]
    else:
        if len(axes) != 2:
            raise ValueError(f"`axes` must be a number or a pair of lists, got {axes}")
        pairs = [[int(i) for i in np.atleast_1d(each)] for each in axes]
        pairs = [[i % len(n) for i in p] for p, n in zip(pairs, (left, right), strict=True)]
    for i, j in zip(*pairs, strict=True):
        if left[i] != right[j]:
            raise invalid(
                f"Matrix size-incompatible: In[0]: {static.listed(left)}, In[1]: "
                f"{static.listed(right)} [Op:MatMul] name: "
            )
    shape = tuple([n for i, n in enumerate(left) if i not in pairs[0]])
    shape += tuple([n for i, n in enumerate(right) if i not in pairs[1]])
    return call("np.tensordot", x, y, axes=pairs, spec=Spec(x.dtype, shape))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Sum of tensors of one shape, elementwise."""
    if isinstance(inputs, Operand) and convert_to_tensor(inputs)._lengths():
        inputs = unstack(convert_to_tensor(inputs))
    if isinstance(inputs, (Operand, IndexedSlices)):
        inputs = [inputs]
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(f"add_n needs a list of one tensor or more, got {inputs!r}")
    parts = [convert_to_tensor(each) for each in inputs]
    checks.check_same_dtype("AddN", parts)
    shapes = [part._lengths() for part in parts]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise invalid(
                "Inputs to operation AddN must have the same size and shape.  Input 0: "
                f"{static.listed(shapes[0])} != input {i}: {static.listed(shape)} [Op:AddN] name: "
            )
    if len(parts) == 1:
        return parts[0] if isinstance(inputs[0], Tensor) else convert_to_tensor(inputs[0])
    return call("tf.add_n", parts, spec=Spec(parts[0].dtype, shapes[0]))


def accumulate_n(
    inputs: Sequence[TensorLike], shape: Any = None, tensor_dtype: Any = None, name: Any = None
) -> Tensor:
    """Sum of tensors of one shape, elementwise; of this shape and dtype, where these are given."""
    given = [convert_to_tensor(each) for each in inputs]
    for tensor in given:
        if not tensor.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {as_shape(shape)} and {tensor.shape} are not compatible")
        if tensor_dtype is not None and tensor.dtype != as_dtype(tensor_dtype):
            raise TypeError(
                f"`tensor_dtype` is {tensor_dtype}, but a tensor of `inputs` is {tensor.dtype}; "
                "cast it first"
            )
    return add_n(given)  # type: ignore[no-any-return]


def scalar_mul(scalar: TensorLike, x: Any, name: str | None = None) -> Any:
    """A number times a tensor."""
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar_mul(scalar, x.values), x.indices, x.dense_shape)
    tensor = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, tensor.dtype)
    if factor._lengths():
        raise ValueError(f"`scalar` must be one number, got shape {factor.shape}")
    return multiply(factor, tensor)


def polyval(coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None) -> Tensor:
    """A polynomial at ``x`` by Horner's rule; ``coeffs`` begins with the highest power."""
    if not isinstance(coeffs, list):
        raise ValueError(f"`coeffs` must be a list, got {type(coeffs)}")
    point = convert_to_tensor(x)
    if not coeffs:
        return multiply(point, np.zeros((), point.dtype.storage))
    given = [c if isinstance(c, Operand) else convert_to_tensor(c, point.dtype) for c in coeffs]
    total = convert_to_tensor(given[0])
    for coefficient in given[1:]:
        total = add(coefficient, multiply(total, point))
    return total


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers of their parts."""
    left, right = convert_to_tensor(real), convert_to_tensor(imag)
    wanted = {"float32": dtypes.complex64, "float64": dtypes.complex128}
    if left.dtype != right.dtype or left.dtype.name not in wanted:
        raise TypeError(
            "`real` and `imag` must both be float32 or both float64, got "
            f"{left.dtype.name} and {right.dtype.name}"
        )
    shape = checks.broadcast("Complex", left._node.shape, right._node.shape)
    return call("complex", left, right, spec=Spec(wanted[left.dtype.name], shape))


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real parts; a real tensor itself."""
    x = convert_to_tensor(input)
    if not x.dtype.is_complex:
        return x
    return call("np.real", x, spec=Spec(x.dtype.real_dtype, x._node.shape))


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary parts; zeros of a real tensor."""
    x = convert_to_tensor(input)
    if not x.dtype.is_complex:
        return zeros_like(x)
    return call("np.imag", x, spec=Spec(x.dtype.real_dtype, x._node.shape))


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The arguments of complex numbers; of real ones 0, or π below zero."""
    x = convert_to_tensor(input)
    if not x.dtype.is_complex:
        return where(x < 0, np.asarray(math.pi, x.dtype.storage), np.zeros((), x.dtype.storage))
    return call("tf.formulas.angle", x, spec=Spec(x.dtype.real_dtype, x._node.shape))


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugates; a real tensor itself."""
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_complex:
        return tensor
    return call("np.conj", tensor, spec=Spec(tensor.dtype, tensor._node.shape))


def _spread(
    input_tensor: TensorLike,
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Callable[..., Tensor]:
    x = convert_to_tensor(input_tensor)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"`input_tensor` needs a floating or complex dtype, got {x.dtype}")
    along = operands.axes(axis)
    shape = checks.reduced_shape("Mean", x._node.shape, along, keepdims)
    spec = Spec(x.dtype.real_dtype, shape)
    return lambda function: call(function, x, axis=along, keepdims=bool(keepdims), spec=spec)


@variant(_spread, "tf.formulas.reduce_std")
def reduce_std() -> Tensor:
    """The standard deviation along some axes."""


@variant(_spread, "tf.math.reduce_variance")
def reduce_variance() -> Tensor:
    """The variance along some axes."""


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The number after ``x1`` in the direction of ``x2``."""
    first, towards = tensors([x1, x2], "NextAfter")
    checks.check_allowed("NextAfter", first.dtype, ("double", "float"))
    checks.broadcast("NextAfter", first._lengths(), towards._lengths())
    step = np.nextafter(first._value(), towards._value()) - first._value()
    return add(add(first, step), multiply(towards, np.zeros((), towards.dtype.storage)))


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Another dtype, with what that cannot hold at its least or largest number."""
    x, kind = convert_to_tensor(value), dtypes.as_dtype(dtype)
    if x.dtype == kind:
        return x
    spec = Spec(kind, x._node.shape)
    return call("tf.saturate_cast", x, kind.storage.name, spec=spec)


dtypes.FUNCTIONS.update(complex=complex, saturate_cast=saturate_cast)
