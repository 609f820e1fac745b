"""TensorFlow's functions of matrices and its norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integer, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


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


@TF.macro("linalg.matvec")
def matvec(
    builder: Builder, a: Any, b: Any, transpose_a: Static = False, adjoint_a: Static = False
) -> Any:
    """Product of matrices with vectors in the last axis: ``z = a b``."""
    column = recorded("expand_dims")(builder, b, -1)
    z = recorded("matmul")(builder, _turned(builder, a, transpose_a, adjoint_a), column)
    return recorded("squeeze")(builder, z, -1)


def _turned(b: Builder, x: Any, transpose: Any, adjoint: Any) -> Any:
    if flag(transpose, "transpose") and flag(adjoint, "adjoint"):
        raise BadArgument("transpose and adjoint exclude each other")
    if adjoint:
        x = recorded("conj")(b, x)
    return recorded("matrix_transpose")(b, x) if transpose or adjoint else x


@TF.macro("linalg.matrix_transpose")
def matrix_transpose(b: Builder, a: Any, conjugate: Static = False) -> Any:
    """Each matrix transposed, conjugate if so asked."""
    return _turned(b, a, not flag(conjugate, "conjugate"), conjugate)


@TF.macro("linalg.adjoint")
def adjoint(b: Builder, matrix: Any) -> Any:
    """Conjugate transpose of each matrix."""
    return _turned(b, matrix, transpose=False, adjoint=True)


@TF.macro("linalg.inv")
def inv(b: Builder, input: Any, adjoint: Static = False) -> Any:
    """Inverse of each matrix, or of its conjugate transpose."""
    return recorded("inv")(b, _turned(b, input, transpose=False, adjoint=adjoint))


@TF.macro("linalg.solve")
def solve(b: Builder, matrix: Any, rhs: Any, adjoint: Static = False) -> Any:
    """Solution ``z`` of ``matrix z = rhs``, or with the conjugate transpose of ``matrix``."""
    return recorded("solve")(b, _turned(b, matrix, transpose=False, adjoint=adjoint), rhs)


@TF.macro("linalg.triangular_solve")
def triangular_solve(
    b: Builder, matrix: Any, rhs: Any, lower: Static = True, adjoint: Static = False
) -> Any:
    """Solution with the lower (or upper) triangle of ``matrix``; the other one is not read."""
    trans = "C" if flag(adjoint, "adjoint") else "N"
    return recorded("solve_triangular")(b, matrix, rhs, trans, lower)


@TF.macro("linalg.cholesky_solve")
def cholesky_solve(b: Builder, chol: Any, rhs: Any) -> Any:
    """Solution ``z`` of ``a z = rhs`` from the lower Cholesky factor of ``a``."""
    return recorded("cho_solve")(b, (chol, True), rhs)


@TF.macro("linalg.logdet")
def logdet(b: Builder, matrix: Any) -> Any:
    """Logarithm of the determinant of each Hermitian positive definite matrix."""
    return recorded("slogdet")(b, matrix)[1]


@TF.macro("eye linalg.eye")
def eye(
    b: Builder,
    num_rows: Static,
    num_columns: Static = None,
    batch_shape: Static = None,
    dtype: Static = "float64",
) -> Any:
    """The unit matrix, repeated along the axes of ``batch_shape``."""
    z = recorded("eye")(b, num_rows, num_columns, dtype=dtype)
    return (
        z
        if batch_shape is None
        else b.broadcast(z, (*lengths(batch_shape, "batch_shape"), *z.shape))
    )


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


@TF.macro("linalg.svd")
def svd(b: Builder, tensor: Any, full_matrices: Static = False, compute_uv: Static = True) -> Any:
    """Singular value decomposition ``tensor = u s v^H``: the list ``s``, ``u``, ``v``."""
    if not flag(compute_uv, "compute_uv"):
        return recorded("svdvals")(b, tensor)
    u, s, vh = recorded("svd")(b, tensor, full_matrices)
    return [s, u, _turned(b, vh, transpose=False, adjoint=True)]


@TF.macro("linalg.lstsq")
def lstsq(
    b: Builder,
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: Static = True,
) -> Any:
    """The ``z`` of each matrix that minimises ``|rhs - matrix z|² + l2_regularizer |z|²``, the
    shortest one; ``fast`` or not, it is computed exactly.
    """
    a, right = b.promote(matrix, rhs, rule=inexact_promoted)
    of, star = recorded("matmul"), adjoint(b, a)
    if isinstance(l2_regularizer, int | float) and not l2_regularizer:
        return of(b, recorded("pinv")(b, a), right)
    rows, columns = a.shape[-2:]
    gram = of(b, star, a) if rows >= columns else of(b, a, star)
    unit = recorded("eye")(b, min(rows, columns), dtype=a.dtype)
    gram = recorded("add")(b, gram, recorded("multiply")(b, l2_regularizer, unit))
    if rows >= columns:
        return recorded("solve")(b, gram, of(b, star, right))
    return of(b, star, recorded("solve")(b, gram, right))


@TF.macro("linalg.qr")
def qr(b: Builder, input: Any, full_matrices: Static = False) -> Any:
    """Unitary ``q`` and upper triangular ``r``, ``input = q r``; a square ``q`` if ``full``."""
    mode = "complete" if flag(full_matrices, "full_matrices") else "reduced"
    return recorded("qr")(b, input, mode)


@TF.macro("linalg.matrix_rank")
def matrix_rank(b: Builder, a: Any, tol: Any = None) -> Any:
    """Rank of each matrix: how many singular values exceed ``tol``."""
    return recorded("astype")(b, recorded("matrix_rank")(b, a, tol), "int32")


@TF.macro("linalg.normalize")
def normalize(b: Builder, tensor: Any, ord: Static = "euclidean", axis: Static = None) -> Any:
    """A list of ``tensor`` divided by its norm, and that norm, with axes of length 1."""
    length = norm(b, tensor, ord, axis, True)
    return [recorded("divide")(b, tensor, length), length]


@TF.macro("einsum linalg.einsum")
def einsum(b: Builder, equation: Static, *inputs: Any, optimize: Any = None) -> Any:
    """Sum of products by Einstein's convention; the order of products is always optimised."""
    return recorded("einsum")(b, equation, *inputs)


@TF.macro("linalg.lu")
def lu(b: Builder, input: Any, output_idx_type: Static = "int32") -> Any:
    """Both triangles of ``input[p] = l u`` in one matrix without the ones of ``l``, and ``p``."""
    packed, order = recorded("lu_factor")(b, input)
    return [packed, recorded("astype")(b, order, output_idx_type)]


@TF.macro("linalg.lu_solve")
def lu_solve(b: Builder, lower_upper: Any, perm: Any, rhs: Any) -> Any:
    """Solution of ``a z = rhs`` from what ``lu`` gives of ``a``."""
    return recorded("lu_solve")(b, _factors(b, lower_upper, perm), rhs)


def _factors(b: Builder, lower_upper: Any, perm: Any) -> tuple[Var, Var]:
    packed, order = b.array(lower_upper), recorded("astype")(b, perm, "int64")
    if packed.ndim < 2 or order.shape != packed.shape[:-1]:
        raise ShapeMismatch(
            f"packed triangles and the order of rows are needed, got {packed.type}, {order.type}"
        )
    return packed, order


@TF.macro("linalg.lu_matrix_inverse")
def lu_matrix_inverse(b: Builder, lower_upper: Any, perm: Any) -> Any:
    """Inverse of each matrix from what ``lu`` gives of it."""
    packed, order = _factors(b, lower_upper, perm)
    unit = recorded("eye")(b, packed.shape[-1], dtype=packed.dtype)
    return lu_solve(b, packed, order, b.broadcast(unit, packed.shape))


@TF.macro("linalg.lu_reconstruct")
def lu_reconstruct(b: Builder, lower_upper: Any, perm: Any) -> Any:
    """Each matrix from what ``lu`` gives of it."""
    packed, order = _factors(b, lower_upper, perm)
    unit = recorded("eye")(b, packed.shape[-1], dtype=packed.dtype)
    lower = recorded("tril")(b, packed, -1) + b.broadcast(unit, packed.shape)
    rows = recorded("matmul")(b, lower, recorded("triu")(b, packed))
    places = recorded("expand_dims")(b, recorded("argsort")(b, order), -1)
    return recorded("take_along_axis")(b, rows, b.broadcast(places, rows.shape), -2)


@TF.macro("linalg.band_part")
def band_part(b: Builder, input: Any, num_lower: Static, num_upper: Static) -> Any:
    """Each matrix within so many diagonals below and above the main one, else 0; -1 means all."""
    x, below, above = (
        b.array(input),
        integer(num_lower, "num_lower"),
        integer(num_upper, "num_upper"),
    )
    x = x if below < 0 else recorded("triu")(b, x, -below)
    return x if above < 0 else recorded("tril")(b, x, above)
