"""TensorFlow's functions of matrices and its norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("matmul linalg.matmul")
def matmul(
    builder: Builder,
    a: Any,
    b: Any,
    transpose_a: Static = False,
    transpose_b: Static = False,
    adjoint_a: Static = False,
    adjoint_b: Static = False,
) -> Any:
    """Matrix product ``z = a b``, of matrices in the last two axes, transposed if so asked."""
    x, y = builder.array(a), builder.array(b)
    if x.ndim < 2 or y.ndim < 2:
        hint = "tf.linalg.matvec multiplies by a vector, tf.tensordot vectors"
        raise ShapeMismatch(f"tf.matmul takes matrices, got {x.type} and {y.type}", hint=hint)
    left = _turned(builder, x, transpose_a, adjoint_a)
    return recorded("matmul")(builder, left, _turned(builder, y, transpose_b, adjoint_b))


def _turned(b: Builder, x: Any, transpose: Any, adjoint: Any) -> Any:
    if flag(transpose, "transpose") and flag(adjoint, "adjoint"):
        raise BadArgument("transpose and adjoint exclude each other")
    if adjoint:
        x = recorded("conj")(b, x)
    return recorded("matrix_transpose")(b, x) if transpose or adjoint else x


@TF.macro("norm linalg.norm")
def norm(
    b: Builder,
    tensor: Any,
    ord: Static = "euclidean",
    axis: Static = None,
    keepdims: Static = None,
) -> Any:
    """Norm of all elements as one vector, of vectors along ``axis``, of matrices in two axes."""
    keep = bool(keepdims)
    if axis is None or isinstance(axis, int):
        order = 2 if ord == "euclidean" else ord
        return recorded("vector_norm")(b, tensor, axis, keep, order)
    return recorded("norm")(b, tensor, ord, axis, keep)


@TF.macro("einsum linalg.einsum")
def einsum(b: Builder, equation: Static, *inputs: Any, optimize: Any = None) -> Any:
    """Sum of products by Einstein's convention; the order of products is always optimised."""
    return recorded("einsum")(b, equation, *inputs)
