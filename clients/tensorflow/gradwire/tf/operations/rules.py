"""The results of operations: dtype and shape, as far as they are known before computing.

Every rule takes the operation, its tensors, and what is written into the program, by parameter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks
from gradwire.tf.calls import call, calls, integers
from gradwire.tf.conversion import tensor_of
from gradwire.tf.dtypes import DType, as_dtype, bool_
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import UNKNOWN, Spec
from gradwire.tf.operations.declaring import Operation, Rule, Static, Tensors
from gradwire.tf.operations.operands import (
    axes,
    complex_of,
    dtype_of,
    limit_of,
    operand_of,
    operands_of,
    written,
)
from gradwire.tf.static import listed
from gradwire.tf.tensors import Tensor

#: Functions that the language computes of narrow integers in wider ones, as NumPy does.
_WIDENING = frozenset(
    f"tf.{name}" for name in "reduce_sum reduce_prod reduce_mean cumsum math.cumprod".split()
)


def _rowwise(rule: Rule) -> Rule:
    """Apply the rule to the elements of ragged operands, and keep their rows."""

    @functools.wraps(rule)
    def applied(of: Operation, tensors: Tensors, static: Static) -> Any:
        for each in tensors.values():
            if hasattr(each, "_elementwise"):

                def flat(*values: Any) -> Any:
                    return rule(of, dict(zip(tensors, values, strict=True)), static)

                return each._elementwise(flat, *tensors.values())
        return rule(of, tensors, static)

    return applied


@_rowwise
def unary(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """Of each element, one of the same dtype."""
    (value,) = tensors.values()
    tensor = operand_of(value, of)
    return call(of.function, tensor, spec=Spec(tensor.dtype, tensor._node.shape))


@_rowwise
def bool_unary(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """Of each element, whether something is so."""
    (value,) = tensors.values()
    tensor = operand_of(value, of)
    return call(of.function, tensor, spec=Spec(bool_, tensor._node.shape))


def binary(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """Of pairs of elements, one of their dtype."""
    return checks.binary(of.op, of.function, *tensors.values(), allowed=of.kinds or ())


@_rowwise
def ternary(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """Of three elements each, one of their dtype."""
    given = operands_of(of, tensors)
    shape: tuple[int, ...] | None = ()
    for value in given.values():
        known = value._node.shape if isinstance(value, Tensor) else ()
        shape = checks.broadcast(of.op, shape, known)
    return call(of.function, *given.values(), spec=Spec(dtype_of(given), shape))


def reduce(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """The elements along some axes as one."""
    ((name, value),) = tensors.items()
    if hasattr(value, "_reduced"):  # rows of any lengths

        def along(each: Any, axis: int | None) -> Tensor:
            return reduce(of, {name: each}, {"axis": axis, "keepdims": False})

        rows: Tensor = value._reduced(of.function, along, static["axis"], static["keepdims"])
        return rows
    tensor = operand_of(value, of)
    axis, keepdims = axes(static["axis"]), bool(static["keepdims"])
    shape = checks.reduced_shape(of.op, tensor._node.shape, axis, keepdims)
    spec = Spec(tensor.dtype, shape)
    if of.op in ("Max", "Min") and 0 in tensor._lengths() and 0 not in (shape or ()):
        limit = np.full(shape or (), limit_of(tensor.dtype, of.op), tensor.dtype.storage)
        if not tensor.dtype.is_differentiable:
            return tensor_of(limit, tensor.dtype)
        # The sum of no elements, 0, depends on them all the same.
        total = call("tf.reduce_sum", tensor, axis=axis, keepdims=keepdims, spec=spec)
        return call("np.add", total, limit, spec=spec)
    if of.op == "Mean" and tensor.dtype.is_integer and 0 in tensor._lengths():
        return tensor_of(np.zeros(shape or (), tensor.dtype.storage), tensor.dtype)
    given: dict[str, Any] = {} if axis is None else {"axis": axis}
    if keepdims:
        given["keepdims"] = True
    return _kept(of, tensor, given, shape)


def scan(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """The elements so far along an axis as one, at each place."""
    (value,) = tensors.values()
    tensor = operand_of(value, of)
    (axis,) = integers(static["axis"])
    rank = len(tensor._lengths())
    if not -rank <= axis < rank:
        raise invalid(
            f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis} "
            f"[Op:{of.op}] name: "
        )
    given = {"axis": axis} | {name: True for name in ("exclusive", "reverse") if static[name]}
    return _kept(of, tensor, given, tensor._node.shape)


@_rowwise
def same(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """Dtype and shape of the first tensor, which the others are broadcast to."""
    given = operands_of(of, tensors)
    first = next(value for value in given.values() if isinstance(value, Tensor))
    lengths = first._lengths()
    _check_axes(of.op, static.get("axis"), len(lengths))
    for value in given.values():
        if isinstance(value, Tensor) and value is not first:
            beside = value._lengths()
            if of.op == "BiasAdd":
                _check_bias(beside, lengths, static.get("data_format"))
            elif checks.broadcast(of.op, lengths, beside) != lengths:
                raise invalid(
                    f"Incompatible shapes: {listed(lengths)} vs. {listed(beside)} "
                    f"[Op:{of.op}] name: "
                )
    return _called(of, given, static, Spec(first.dtype, lengths))


def along_last(of: Operation, tensors: Tensors, static: Static) -> Any:
    """The same, along the last axis if none is given."""
    return same(of, tensors, {"axis": -1 if static["axis"] is None else static["axis"]})


def _check_axes(op: str, axis: Any, rank: int) -> None:
    for place in np.atleast_1d([] if axis is None else np.asarray(written(axis))).tolist():
        if not -rank <= place < rank:
            raise invalid(f"there is no axis {place} in a tensor of {rank} axes [Op:{op}]")


def _check_bias(bias: tuple[int, ...], lengths: tuple[int, ...], data_format: Any) -> None:
    first = isinstance(data_format, str) and data_format.startswith("NC")
    place = 1 if first else -1
    if len(bias) != 1 or len(lengths) < 2 or bias[0] != lengths[place]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{listed(bias)} vs. {listed(lengths)} [Op:BiasAdd] name: "
        )


def _of_shape_of_its_own(spec: Callable[[DType], Spec]) -> Rule:
    def rule(of: Operation, tensors: Tensors, static: Static) -> Tensor:
        given = operands_of(of, tensors)
        return _called(of, given, static, spec(dtype_of(given)))

    return rule


#: Dtype of the tensors, of the real parts, or complex numbers, and a shape of its own.
like: Rule = _of_shape_of_its_own(Spec)
real_like: Rule = _of_shape_of_its_own(lambda dtype: Spec(dtype.real_dtype))
complex: Rule = _of_shape_of_its_own(lambda dtype: Spec(complex_of(dtype)))
#: One element.
scalar: Rule = _of_shape_of_its_own(lambda dtype: Spec(dtype, ()))


def typed(dtype: str) -> Rule:
    """One dtype always, and a shape of its own."""

    def rule(of: Operation, tensors: Tensors, static: Static) -> Tensor:
        result = _called(of, operands_of(of, tensors), static, UNKNOWN)
        return call("tf.cast", result, dtype, spec=Spec(as_dtype(dtype)))

    return rule


def matrices(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """One element for each matrix, an array in the last two axes."""
    given = operands_of(of, tensors)
    (tensor,) = given.values()
    shape = tensor._lengths()
    if len(shape) < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {len(shape)} [Op:{of.op}]")
    return _called(of, given, static, Spec(tensor.dtype, shape[:-2]))


def norm(of: Operation, tensors: Tensors, static: Static) -> Tensor:
    """A length of the elements along some axes."""
    (value,) = tensors.values()
    order, along = static["ord"], static["axis"]
    matrix = isinstance(along, (tuple, list)) and len(along) == 2
    if (
        not matrix
        and order not in ("euclidean", np.inf)
        and (isinstance(order, str) or not order > 0)
    ):
        raise ValueError(f"`ord` {order!r} is not a norm of vectors")
    tensor = operand_of(value, of)
    axis, keepdims = axes(along), bool(static["keepdims"])
    shape = checks.reduced_shape(of.op, tensor._node.shape, axis, keepdims)
    spec = Spec(tensor.dtype.real_dtype, shape)
    given = {**static, "axis": axis, "keepdims": keepdims}
    return _called(of, {"tensor": tensor}, given, spec)


def _both(specs: Callable[[DType], Sequence[Spec]]) -> Rule:
    def rule(of: Operation, tensors: Tensors, static: Static) -> list[Tensor]:
        given = operands_of(of, tensors)
        text = {name: written(value) for name, value in static.items()}
        return calls(of.function, **given, **text, specs=specs(dtype_of(given)), now=of.refuses)

    return rule


#: Two tensors: of the first one's dtype, complex ones, or real numbers and one of its dtype.
two: Rule = _both(lambda dtype: [Spec(dtype)] * 2)
two_complex: Rule = _both(lambda dtype: [Spec(complex_of(dtype))] * 2)
spectrum: Rule = _both(lambda dtype: [Spec(dtype.real_dtype), Spec(dtype)])


def pair(kind: Callable[..., Any]) -> Rule:
    """Two results as the fields of ``kind``, a named tuple."""
    return lambda of, tensors, static: kind(*two(of, tensors, static))


def _kept(
    of: Operation, tensor: Tensor, given: Mapping[str, Any], shape: tuple[int, ...] | None
) -> Tensor:
    """A result of the tensor's own dtype, also where the language takes a wider one."""
    spec = Spec(tensor.dtype, shape)
    if of.function not in _WIDENING or not tensor.dtype.is_integer:
        return call(of.function, tensor, **given, spec=spec)
    wide = call(of.function, tensor, **given, spec=Spec(None, shape))
    return call("tf.cast", wide, tensor.dtype.name, spec=spec)


def _called(of: Operation, given: Mapping[str, Any], static: Static, spec: Spec) -> Tensor:
    text = {name: written(value) for name, value in static.items()}
    return call(of.function, **given, **text, spec=spec, now=of.refuses)
