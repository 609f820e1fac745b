"""PyTorch's functions of matrices and its norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.elementwise import scaled
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axis_of, choice, flag, integer
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


@TORCH.macro("einsum")
def einsum(b: Builder, equation: Static, *operands: Any) -> Any:
    """Sum of products over the indices, ``...`` too, that ``equation`` leaves out at its end."""
    several = len(operands) == 1 and isinstance(operands[0], list | tuple)
    given = operands[0] if several else operands
    terms, arrow, kept = (
        equation.partition("->") if isinstance(equation, str) else (equation, "", "")
    )
    if not arrow or "..." not in terms or "..." in kept:
        return recorded("einsum")(b, equation, *given)
    z = recorded("einsum")(b, f"{terms}->...{kept}", *given)
    return recorded("sum")(b, z, tuple(range(z.ndim - len(kept.replace(" ", "")))))


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
    """Logarithm of the determinant of each matrix, NaN where that is a negative real number."""
    sign, size = recorded("slogdet")(b, input)
    if sign.dtype.kind == "c":
        return recorded("add")(b, recorded("log")(b, sign), size)
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
    """Powers of the elements along the last axis as columns, rising from 0."""
    v = recorded("atleast_1d")(b, x)
    count = v.shape[-1] if N is None else integer(N, "N")
    if count < 2:
        raise BadArgument(f"vander needs N of at least 2, got {count}")
    powers = b.broadcast(recorded("expand_dims")(b, v, -1), (*v.shape, count - 1))
    rising = recorded("cumprod")(b, powers, -1)
    return recorded("concatenate")(b, [recorded("ones")(b, (*v.shape, 1), v.dtype), rising], -1)


@TORCH.macro("linalg.matrix_rank")
def matrix_rank(
    b: Builder,
    A: Any,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: Static = False,
) -> Any:
    """Rank of each matrix: how many singular values exceed ``atol`` and ``rtol`` of the largest.

    Of a ``hermitian`` matrix the lower triangle is read.
    """
    x = _lower_read(b, A, hermitian)
    static = rtol is None or (atol is None and isinstance(rtol, int | float))
    if not static and b.array(x).type.size:
        largest = recorded("multiply")(b, rtol, recorded("norm")(b, x, 2, (-2, -1)))
        atol = recorded("maximum")(b, 0.0 if atol is None else atol, largest)
    return recorded("matrix_rank")(b, x, atol, rtol if static and atol is None else None)


def _lower_read(b: Builder, A: Any, hermitian: Any) -> Any:
    """The matrices, or Hermitian ones of their lower triangles, all with a derivative as it is."""
    if not flag(hermitian, "hermitian"):
        return A
    x = b.inexact(A)
    below = recorded("tril")(b, x, -1)
    unit = recorded("eye")(b, x.shape[-1], dtype=x.dtype)
    diagonal = unit * b.cast(recorded("real")(b, x), x.dtype)
    apart = below + diagonal + conjugate_transpose(b, below) - x
    return x + b.array(recorded("stop_gradient")(b, apart))


@TORCH.macro("linalg.pinv")
def pinv(
    b: Builder, A: Any, rcond: Any = None, hermitian: Static = False, *, rtol: Any = None
) -> Any:
    """Pseudoinverse of each matrix; singular values up to ``rtol`` of the largest count as 0.

    Of a ``hermitian`` matrix the lower triangle is read.
    """
    return recorded("pinv")(b, _lower_read(b, A, hermitian), rcond if rtol is None else rtol)


@TORCH.macro("linalg.lstsq")
def lstsq(b: Builder, A: Any, B: Any, rcond: Static = None, *, driver: Static = None) -> Any:
    """A list of the shortest ``z`` that minimises ``|B - A z|``, residuals, rank, singular values.

    LAPACK's ``driver`` changes nothing.
    """
    choice(driver, (None, "gels", "gelsy", "gelsd", "gelss"), "driver")
    return recorded("lstsq")(b, A, B, rcond)
