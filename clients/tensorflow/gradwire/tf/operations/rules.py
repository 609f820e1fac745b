"""What an operation gives: its dtype and shape as far as they are known before it is computed.

Every rule takes the function's name in the language, the operation's in messages, and the dtypes
that it takes, then its tensors and what is written into the program, by parameter.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.tf import checks
from gradwire.tf.calls import call, calls, integers
from gradwire.tf.conversion import tensor_of
from gradwire.tf.dtypes import as_dtype, bool_
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import UNKNOWN, Spec
from gradwire.tf.operations.operands import (
    Kinds,
    Tensors,
    axes,
    complex_of,
    dtype_of,
    limit_of,
    operand_of,
    operands_of,
    written,
)
from gradwire.tf.rowwise import elementwise
from gradwire.tf.static import listed
from gradwire.tf.tensors import Tensor

Static = Mapping[str, Any]

#: What the language computes of narrow integers as NumPy does, in wider ones.
_WIDENING = frozenset(
    f"tf.{name}" for name in "reduce_sum reduce_prod reduce_mean cumsum math.cumprod".split()
)


@elementwise
def unary(function: str, op: str, kinds: Kinds, x: Any) -> Tensor:
    """Of each element, one of the same dtype."""
    tensor = operand_of(x, op, kinds)
    return call(function, tensor, spec=Spec(tensor.dtype, tensor._node.shape))


@elementwise
def bool_unary(function: str, op: str, kinds: Kinds, x: Any) -> Tensor:
    """Of each element, whether something is so."""
    tensor = operand_of(x, op, kinds)
    return call(function, tensor, spec=Spec(bool_, tensor._node.shape))


@elementwise
def binary(function: str, op: str, kinds: Kinds, x: Any, y: Any) -> Tensor:
    """Of pairs of elements, one of their dtype."""
    return checks.binary(op, function, x, y, allowed=kinds or ())


@elementwise
def ternary(function: str, op: str, kinds: Kinds, x: Any, y: Any, z: Any) -> Tensor:
    """Of three elements each, one of their dtype."""
    given = operands_of(op, kinds, {"x": x, "y": y, "z": z}, ())
    shape: tuple[int, ...] | None = ()
    for value in given.values():
        known = value._node.shape if isinstance(value, Tensor) else ()
        shape = checks.broadcast(op, shape, known)
    return call(function, *given.values(), spec=Spec(dtype_of(given), shape))


def reduce(function: str, op: str, kinds: Kinds, tensors: Tensors, static: Static) -> Tensor:
    """The elements along some axes as one."""
    ((name, value),) = tensors.items()
    if hasattr(value, "_reduced"):  # rows of any lengths

        def along(each: Any, axis: int | None) -> Tensor:
            return reduce(function, op, kinds, {name: each}, {"axis": axis, "keepdims": False})

        rows: Tensor = value._reduced(function, along, static["axis"], static["keepdims"])
        return rows
    tensor = operand_of(value, op, kinds)
    axis, keepdims = axes(static["axis"]), bool(static["keepdims"])
    shape = checks.reduced_shape(op, tensor._node.shape, axis, keepdims)
    if op in ("Max", "Min") and 0 in tensor._lengths() and 0 not in (shape or ()):
        limit = np.full(shape or (), limit_of(tensor.dtype, op), tensor.dtype.storage)
        if not tensor.dtype.is_differentiable:
            return tensor_of(limit, tensor.dtype)
        # The sum of no elements, 0, depends on them all the same.
        total = call(
            "tf.reduce_sum", tensor, axis=axis, keepdims=keepdims, spec=Spec(tensor.dtype, shape)
        )
        return call("np.add", total, limit, spec=Spec(tensor.dtype, shape))
    given: dict[str, Any] = {} if axis is None else {"axis": axis}
    if keepdims:
        given["keepdims"] = True
    return _kept(function, tensor, given, shape)


def scan(function: str, op: str, kinds: Kinds, tensors: Tensors, static: Static) -> Tensor:
    """The elements so far along an axis as one, at each place."""
    ((_, value),) = tensors.items()
    tensor = operand_of(value, op, kinds)
    (axis,) = integers(static["axis"])
    rank = len(tensor._lengths())
    if not -rank <= axis < rank:
        raise invalid(
            f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis} "
            f"[Op:{op}] name: "
        )
    given = {"axis": axis} | {name: True for name in ("exclusive", "reverse") if static[name]}
    return _kept(function, tensor, given, tensor._node.shape)


def same(
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    places: Sequence[str] = (),
    refuses: bool = False,
) -> Tensor:
    """Dtype and shape of the first tensor, which the others are broadcast to."""
    ragged = next((each for each in tensors.values() if hasattr(each, "_elementwise")), None)
    if ragged is not None:

        def flat(*values: Any) -> Tensor:
            named = dict(zip(tensors, values, strict=True))
            return same(function, op, kinds, named, static, places=places, refuses=refuses)

        rows: Tensor = ragged._elementwise(flat, *tensors.values())
        return rows
    given = operands_of(op, kinds, tensors, places)
    first = next(value for value in given.values() if isinstance(value, Tensor))
    lengths = first._lengths()
    _check_axes(op, static.get("axis"), len(lengths))
    for value in given.values():
        if isinstance(value, Tensor) and value is not first:
            beside = value._lengths()
            if op == "BiasAdd":
                _check_bias(beside, lengths, static.get("data_format"))
            elif checks.broadcast(op, lengths, beside) != lengths:
                raise invalid(
                    f"Incompatible shapes: {listed(lengths)} vs. {listed(beside)} [Op:{op}] name: "
                )
    return _called(function, given, static, Spec(first.dtype, lengths), refuses)


def _check_axes(op: str, axis: Any, rank: int) -> None:
    for place in np.atleast_1d([] if axis is None else np.asarray(written(axis))).tolist():
        if not -rank <= place < rank:
            raise invalid(
                f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
                f"dimensions in the input. Received: dim={place} [Op:{op}]"
            )


def _check_bias(bias: tuple[int, ...], lengths: tuple[int, ...], data_format: Any) -> None:
    first = isinstance(data_format, str) and data_format.startswith("NC")
    place = 1 if first else -1
    if len(bias) != 1 or len(lengths) < 2 or bias[0] != lengths[place]:
        raise invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{listed(bias)} vs. {listed(lengths)} [Op:BiasAdd] name: "
        )


def like(
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    places: Sequence[str] = (),
    refuses: bool = False,
) -> Tensor:
    """Dtype of the tensors, and a shape of its own."""
    given = operands_of(op, kinds, tensors, places)
    return _called(function, given, static, Spec(dtype_of(given)), refuses)


def real_like(
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> Tensor:
    """Dtype of the real parts, and a shape of its own."""
    given = operands_of(op, kinds, tensors, ())
    return _called(function, given, static, Spec(dtype_of(given).real_dtype), refuses)


def complex(
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> Tensor:
    """Complex numbers, and a shape of its own."""
    given = operands_of(op, kinds, tensors, ())
    return _called(function, given, static, Spec(complex_of(dtype_of(given))), refuses)


def typed(
    dtype: str,
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    places: Sequence[str] = (),
) -> Tensor:
    """One dtype always, and a shape of its own."""
    given = operands_of(op, kinds, tensors, places)
    result = _called(function, given, static, UNKNOWN, False)
    return call("tf.cast", result, dtype, spec=Spec(as_dtype(dtype)))


def any(function: str, op: str, kinds: Kinds, tensors: Tensors, static: Static) -> Tensor:
    """Found out by asking."""
    return _called(function, operands_of(op, kinds, tensors, ()), static, UNKNOWN, False)


def scalar(function: str, op: str, kinds: Kinds, tensors: Tensors, static: Static) -> Tensor:
    """One element."""
    given = operands_of(op, kinds, tensors, ())
    return _called(function, given, static, Spec(dtype_of(given), ()), False)


def batch(
    inner: int,
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> Tensor:
    """One element for each array in the last ``inner`` axes."""
    given = operands_of(op, kinds, tensors, ())
    (tensor,) = given.values()
    shape = tensor._lengths()
    if len(shape) < inner:
        raise invalid(f"Input tensor 0 must have rank >= {inner}, got {len(shape)} [Op:{op}]")
    return _called(function, given, static, Spec(tensor.dtype, shape[:-inner]), refuses)


def real_reduce(function: str, op: str, kinds: Kinds, tensors: Tensors, static: Static) -> Tensor:
    """A length of the elements along some axes."""
    ((_, value),) = tensors.items()
    order, along = static["ord"], static["axis"]
    matrix = isinstance(along, (tuple, builtins.list)) and len(along) == 2
    if (
        not matrix
        and order not in ("euclidean", np.inf)
        and (isinstance(order, str) or not order > 0)
    ):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")
    tensor = operand_of(value, op, kinds)
    axis, keepdims = axes(static["axis"]), bool(static["keepdims"])
    shape = checks.reduced_shape(op, tensor._node.shape, axis, keepdims)
    spec = Spec(tensor.dtype.real_dtype, shape)
    given = {**static, "axis": axis, "keepdims": keepdims}
    return _called(function, {"tensor": tensor}, given, spec, False)


def list(
    count: int,
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> builtins.list[Tensor]:
    """So many tensors of the first one's dtype."""
    given = operands_of(op, kinds, tensors, ())
    return _listed(function, given, static, [Spec(dtype_of(given))] * count, refuses)


def spectrum(
    count: int,
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> builtins.list[Tensor]:
    """Real numbers, and a tensor of the first one's dtype."""
    given = operands_of(op, kinds, tensors, ())
    dtype = dtype_of(given)
    return _listed(function, given, static, [Spec(dtype.real_dtype), Spec(dtype)], refuses)


def complex_list(
    count: int,
    function: str,
    op: str,
    kinds: Kinds,
    tensors: Tensors,
    static: Static,
    *,
    refuses: bool = False,
) -> builtins.list[Tensor]:
    """So many complex tensors."""
    given = operands_of(op, kinds, tensors, ())
    return _listed(function, given, static, [Spec(complex_of(dtype_of(given)))] * count, refuses)


def _kept(
    function: str, tensor: Tensor, given: Mapping[str, Any], shape: tuple[int, ...] | None
) -> Tensor:
    """A result of the tensor's own dtype, also where the language takes a wider one."""
    spec = Spec(tensor.dtype, shape)
    if function not in _WIDENING or not tensor.dtype.is_integer:
        return call(function, tensor, **given, spec=spec)
    wide = call(function, tensor, **given, spec=Spec(None, shape))
    return call("tf.cast", wide, tensor.dtype.name, spec=spec)


def _called(
    function: str, given: Mapping[str, Any], static: Static, spec: Spec, refuses: bool
) -> Tensor:
    text = {name: written(value) for name, value in static.items()}
    return call(function, **given, **text, spec=spec, now=refuses)


def _listed(
    function: str, given: Mapping[str, Any], static: Static, specs: Sequence[Spec], refuses: bool
) -> builtins.list[Tensor]:
    text = {name: written(value) for name, value in static.items()}
    return calls(function, **given, **text, specs=specs, now=refuses)
