"""PyTorch's factorisations of matrices, and solutions from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.matrices import conjugate_transpose, solve
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("cholesky_solve")
def cholesky_solve(b: Builder, B: Any, L: Any, upper: Static = False) -> Any:
    """Solution ``z`` of ``a z = B`` from a Cholesky factor of ``a``."""
    return recorded("cho_solve")(b, (L, not flag(upper, "upper")), B)


@TORCH.macro("cholesky_inverse")
def cholesky_inverse(b: Builder, L: Any, upper: Static = False) -> Any:
    """Inverse of the matrix that has the Cholesky factor ``L``."""
    factor = b.array(L)
    unit = recorded("eye")(b, factor.type.shape[-1] if factor.ndim else 1, dtype=factor.dtype)
    return cholesky_solve(b, unit, factor, upper)


@TORCH.macro("linalg.lu_factor")
def lu_factor(b: Builder, A: Any) -> Any:
    """Both triangles of ``P L U`` in one matrix, and the order of its rows.

    The order is what lu_solve takes, not PyTorch's list of swaps.
    """
    return recorded("lu_factor")(b, A)


@TORCH.macro("linalg.lu_solve")
def lu_solve(
    b: Builder,
    LU: Any,
    pivots: Any,
    B: Any,
    *,
    left: Static = True,
    adjoint: Static = False,
) -> Any:
    """Solution ``z`` of ``A z = B``, or of ``z A = B``, from what lu_factor gives of ``A``.

    ``adjoint`` takes the conjugate transpose of ``A``.
    """
    conjugated = flag(adjoint, "adjoint")
    if flag(left, "left"):
        return recorded("lu_solve")(b, (LU, pivots), B, 2 if conjugated else 0)
    # z A = B is A^H z^H = B^H
    turned = conjugate_transpose(b, B)
    z = recorded("lu_solve")(b, (LU, pivots), turned, 0 if conjugated else 2)
    return conjugate_transpose(b, z)


@TORCH.macro("svd")
def svd(b: Builder, input: Any, some: Static = True) -> Any:
    """A list of ``u``, the singular values, and ``v`` with ``input = u diag(s) v^H``."""
    u, s, vh = recorded("svd")(b, input, not flag(some, "some"))
    return [u, s, conjugate_transpose(b, vh)]


@TORCH.macro("triangular_solve")
def triangular_solve(
    bld: Builder,
    b: Any,
    A: Any,
    upper: Static = True,
    transpose: Static = False,
    unitriangular: Static = False,
) -> Any:
    """A list of the solution ``z`` of ``A z = b`` with one triangle of ``A``, and ``A``."""
    turned, lower = flag(transpose, "transpose"), not flag(upper, "upper")
    return [recorded("solve_triangular")(bld, A, b, int(turned), lower, unitriangular), A]


@TORCH.macro("qr")
def qr(b: Builder, input: Any, some: Static = True) -> Any:
    """A list of ``q`` and ``r`` with ``input = q r``, complete to square ``q`` without ``some``."""
    return recorded("qr")(b, input, "reduced" if flag(some, "some") else "complete")


@TORCH.macro("linalg.qr")
def linalg_qr(b: Builder, A: Any, mode: Static = "reduced") -> Any:
    """A list of ``q``, empty in mode ``r``, and ``r`` with ``A = q r``, q square if complete."""
    factors = recorded("qr")(b, A, mode)
    return [recorded("zeros")(b, (0,), factors.dtype), factors] if mode == "r" else factors


@TORCH.macro("linalg.householder_product")
def householder_product(b: Builder, A: Any, tau: Any) -> Any:
    """First columns of the product of reflections ``I - tau_i v_i v_i^H``.

    ``v_i`` is column ``i`` of ``A`` below the diagonal, with 1 on it.  Source: Golub and Van Loan,
    Matrix Computations, section 5.1.6.
    """
    a, scale = b.promote(b.inexact(A), tau)
    if a.ndim < 2 or a.shape[-2] < a.shape[-1] or scale.ndim != a.ndim - 1:
        raise ShapeMismatch(f"householder_product got {a.type} and {scale.type}")
    rows, columns = a.shape[-2:]
    unit = recorded("eye")(b, rows, columns, dtype=a.dtype)
    vectors = recorded("tril")(b, a, -1) + unit
    z = b.broadcast(unit, a.shape)
    for i in reversed(range(scale.shape[-1])):
        v = recorded("take")(b, vectors, [i], -1)
        factor = recorded("expand_dims")(b, recorded("take")(b, scale, [i], -1), -1)
        z = z - factor * v * recorded("matmul")(b, conjugate_transpose(b, v), z)
    return z


def _no_error(b: Builder, A: Any) -> Any:
    return recorded("zeros")(b, b.array(A).type.shape[:-2], "int32")


@TORCH.macro("linalg.inv_ex")
def inv_ex(b: Builder, A: Any, *, check_errors: Static = False) -> Any:
    """A list of the inverses and 0 for each matrix: a singular one is an error here."""
    flag(check_errors, "check_errors")
    return [recorded("inv")(b, A), _no_error(b, A)]


@TORCH.macro("linalg.cholesky_ex")
def cholesky_ex(
    b: Builder, input: Any, *, upper: Static = False, check_errors: Static = False
) -> Any:
    """A list of the factors and 0 for each matrix: one that has none is an error here."""
    flag(check_errors, "check_errors")
    return [recorded("cholesky")(b, input, upper), _no_error(b, input)]


@TORCH.macro("linalg.solve_ex")
def solve_ex(
    b: Builder, A: Any, B: Any, *, left: Static = True, check_errors: Static = False
) -> Any:
    """A list of the solutions and 0 for each matrix: a singular one is an error here."""
    flag(check_errors, "check_errors")
    return [solve(b, A, B, left=left), _no_error(b, A)]
