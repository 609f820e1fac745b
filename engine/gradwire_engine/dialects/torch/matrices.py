"""PyTorch's functions of matrices and its norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.elementwise import scaled
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import axis_of, flag, integer
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("addmm")
def addmm(b: Builder, input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``z = beta input + alpha mat1 mat2``."""
    return _added(b, input, recorded("matmul")(b, mat1, mat2), beta, alpha)


@TORCH.macro("addmv")
def addmv(b: Builder, input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``z = beta input + alpha mat vec``."""
    return _added(b, input, recorded("matmul")(b, mat, vec), beta, alpha)


@TORCH.macro("baddbmm")
def baddbmm(
    b: Builder, input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1
) -> Any:
    """``z = beta input + alpha batch1 batch2``, of stacks of matrices."""
    return _added(b, input, recorded("matmul")(b, batch1, batch2), beta, alpha)


@TORCH.macro("addr")
def addr(b: Builder, input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``z = beta input + alpha vec1 vec2^T``."""
    return _added(b, input, recorded("outer")(b, vec1, vec2), beta, alpha)


@TORCH.macro("addbmm")
def addbmm(
    b: Builder, input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1
) -> Any:
    """``z = beta input + alpha sum_i batch1[i] batch2[i]``."""
    product = recorded("einsum")(b, "bij,bjk->ik", batch1, batch2)
    return _added(b, input, product, beta, alpha)


def _added(b: Builder, input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    return recorded("add")(b, scaled(b, input, beta), scaled(b, product, alpha))


@TORCH.macro("norm")
def norm(
    b: Builder, input: Any, p: Static = "fro", dim: Static = None, keepdim: Static = False
) -> Any:
    """Norm ``p`` of all elements over ``dim`` as one vector; "nuc" is of matrices."""
    if p == "nuc":
        return recorded("norm")(b, input, p, dim, keepdim)
    return recorded("vector_norm")(b, input, dim, keepdim, 2 if p == "fro" else p)


@TORCH.macro("linalg.matrix_norm")
def matrix_norm(
    b: Builder, A: Any, ord: Static = "fro", dim: Static = (-2, -1), keepdim: Static = False
) -> Any:
    """Norm ``ord`` of the matrices in two axes."""
    return recorded("norm")(b, A, ord, dim, keepdim)


@TORCH.macro("linalg.solve")
def solve(b: Builder, A: Any, B: Any, *, left: Static = True) -> Any:
    """Solution ``z`` of ``A z = B``, or of ``z A = B``; ``B`` may be a stack of vectors."""
    a, right = b.array(A), b.array(B)
    if not flag(left, "left"):
        turned = [recorded("matrix_transpose")(b, x) for x in (a, right)]
        return recorded("matrix_transpose")(b, recorded("solve")(b, *turned))
    if right.ndim > 1 and right.type.shape == a.type.shape[:-1]:
        column = recorded("expand_dims")(b, right, -1)
        return recorded("squeeze")(b, recorded("solve")(b, a, column), -1)
    return recorded("solve")(b, a, right)


@TORCH.macro("linalg.solve_triangular")
def solve_triangular(
    b: Builder,
    A: Any,
    B: Any,
    *,
    upper: Static,
    left: Static = True,
    unitriangular: Static = False,
) -> Any:
    """Solution with one triangle of ``A``; the other one is not read."""
    lower = not flag(upper, "upper")
    if flag(left, "left"):
        return recorded("solve_triangular")(b, A, B, 0, lower, unitriangular)
    turned = [recorded("matrix_transpose")(b, x) for x in (A, B)]
    z = recorded("solve_triangular")(b, *turned, 0, not lower, unitriangular)
    return recorded("matrix_transpose")(b, z)


@TORCH.macro("logdet")
def logdet(b: Builder, input: Any) -> Any:
    """Logarithm of the determinant of each matrix, NaN where that is negative."""
    sign, size = recorded("slogdet")(b, input)
    negative = recorded("less")(b, recorded("real")(b, sign), 0)
    return recorded("where")(b, negative, float("nan"), size)


@TORCH.macro("adjoint")
def conjugate_transpose(b: Builder, input: Any) -> Any:
    """Conjugate transpose of each matrix."""
    return recorded("conj")(b, recorded("matrix_transpose")(b, input))


@TORCH.macro("cross")
def cross(b: Builder, input: Any, other: Any, dim: Static = None) -> Any:
    """Vector product along ``dim``, by default the first axis of length 3."""
    if dim is not None:
        return recorded("cross")(b, input, other, dim)
    x, y = recorded("broadcast_arrays")(b, input, other)
    if 3 not in x.type.shape:
        raise ShapeMismatch(f"cross needs an axis of length 3, got {x.type}")
    return recorded("cross")(b, x, y, x.type.shape.index(3))


@TORCH.macro("t")
def t(b: Builder, input: Any) -> Any:
    """The matrix transposed; a vector as it is."""
    x = b.array(input)
    if x.ndim > 2:
        raise ShapeMismatch(f"t takes a matrix at most, got {x.type}", hint="torch.transpose")
    return recorded("transpose")(b, x)


@TORCH.macro("diag_embed")
def diag_embed(
    b: Builder, input: Any, offset: Static = 0, dim1: Static = -2, dim2: Static = -1
) -> Any:
    """Square matrices with the last axis of ``input`` on their diagonal ``offset``, else zeros.

    ``dim1`` and ``dim2`` are the axes of rows and columns in the result.
    """
    x, above = b.array(input), integer(offset, "offset")
    length = x.type.shape[axis_of(-1, x.ndim, "diag_embed")]
    rows = recorded("eye")(b, length, length + abs(above), max(above, 0), x.dtype)
    placed = recorded("multiply")(b, recorded("expand_dims")(b, x, -1), rows)
    before = recorded("zeros")(b, (*x.type.shape[:-1], abs(above), length + abs(above)), x.dtype)
    parts = [placed, before] if above >= 0 else [before, placed]
    return recorded("moveaxis")(b, recorded("concatenate")(b, parts, -2), (-2, -1), (dim1, dim2))


@TORCH.macro("linalg.vander")
def vander(b: Builder, x: Any, N: Static = None) -> Any:
    """Powers of a vector's elements as columns, rising from 0."""
    return recorded("vander")(b, x, N, increasing=True)


@TORCH.macro("linalg.matrix_rank")
def matrix_rank(
    b: Builder,
    A: Any,
    *,
    atol: Any = None,
    rtol: Static = None,
    hermitian: Static = False,
) -> Any:
    """Rank of each matrix: how many singular values exceed ``atol``, or ``rtol`` of the largest.

    Those of a ``hermitian`` matrix are its eigenvalues' sizes, so the same.
    """
    flag(hermitian, "hermitian")
    return recorded("matrix_rank")(b, A, atol, rtol)


@TORCH.macro("linalg.pinv")
def pinv(
    b: Builder, A: Any, rcond: Static = None, hermitian: Static = False, *, rtol: Static = None
) -> Any:
    """Pseudoinverse of each matrix; singular values up to ``rtol`` of the largest count as 0."""
    return recorded("pinv")(b, A, rcond if rtol is None else rtol, hermitian)
