"""TensorFlow's sparse tensors, and what takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.linalg.sparse import matrix_parts, sparse_of
from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TF.macro("SparseTensor sparse.SparseTensor")
def sparse_tensor(b: Builder, indices: Any, values: Any, dense_shape: Static) -> Any:
    """A sparse tensor, ``indices`` with a row for each of the ``values``."""
    return sparse_of(b, b.array(indices), values, lengths(dense_shape))


def _parts(tensor: Any) -> tuple[Var, list[Var], Shape]:
    """Values, places by axis, and shape of a matrix."""
    if not isinstance(tensor, Sparse):
        hint = "tf.SparseTensor(indices, values, dense_shape)"
        raise BadArgument(f"a sparse tensor is needed, got {describe(tensor)}", hint=hint)
    return matrix_parts(tensor)


@TF.macro("sparse.sparse_dense_matmul")
def sparse_dense_matmul(
    builder: Builder, sp_a: Any, b: Any, adjoint_a: Static = False, adjoint_b: Static = False
) -> Any:
    """Product of a sparse and a dense matrix, of their adjoints if asked for."""
    values, (row, column), shape = _parts(sp_a)
    turned = flag(adjoint_a, "adjoint_a")
    values = recorded("conjugate")(builder, values) if turned else values
    dense = builder.array(b)
    if flag(adjoint_b, "adjoint_b"):
        dense = recorded("matrix_transpose")(builder, recorded("conjugate")(builder, dense))
    return recorded("sparse.coo_matmul")(builder, values, row, column, shape, dense, turned)


@TF.macro("sparse.to_dense")
def to_dense(b: Builder, sp_input: Any) -> Any:
    """The dense matrix with these elements."""
    values, (row, column), shape = _parts(sp_input)
    return recorded("sparse.coo_todense")(b, values, row, column, shape)


@TF.macro("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    b: Builder, params: Any, sp_ids: Any, sp_weights: Any = None, combiner: Static = "mean"
) -> Any:
    """Rows of ``params`` named by the values of each row of ``sp_ids``, combined.

    ``sum`` weighs and adds them, ``mean`` divides by the sum of the weights, ``sqrtn`` by the root
    of the sum of their squares.
    """
    if combiner not in ("sum", "mean", "sqrtn"):
        raise BadArgument("combiner must be 'sum', 'mean' or 'sqrtn'")
    ids, (row, _), (count, _) = _parts(sp_ids)
    table = b.inexact(params)
    if table.ndim != 2:
        raise ShapeMismatch(f"embedding_lookup_sparse needs a matrix of rows, got {table.type}")
    weights = recorded("ones_like")(b, ids, table.dtype)
    if sp_weights is not None:
        weights = _parts(sp_weights)[0]
    shape = (count, table.type.shape[0])
    z = recorded("sparse.coo_matmul")(b, weights, row, ids, shape, table)
    if combiner == "sum":
        return z
    if combiner == "sqrtn":
        weights = recorded("square")(b, weights)
    total = recorded("segment_sum")(b, weights, row, count)
    total = recorded("sqrt")(b, total) if combiner == "sqrtn" else total
    return recorded("divide_no_nan")(b, z, recorded("expand_dims")(b, total, 1))
