"""PyTorch's factorisations of matrices, and solutions from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.matrices import conjugate_transpose
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


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


def _reflections(b: Builder, input: Any, tau: Any, op: str) -> list[tuple[Var, Var]]:
    """The vectors and factors of reflections ``I - tau_i v_i v_i^H``.

    ``v_i`` is column ``i`` of ``input`` below the diagonal, with 1 on it.  Source: Golub and Van
    Loan, Matrix Computations, section 5.1.6.
    """
    a, scale = b.promote(b.inexact(input), tau)
    count = scale.shape[-1] if scale.ndim else 0
    if a.ndim < 2 or scale.shape != (*a.shape[:-2], count) or count > min(a.shape[-2:]):
        raise ShapeMismatch(f"{op} got {a.type} and {scale.type}")
    used = recorded("split")(b, a, [count], -1)[0]
    unit = recorded("eye")(b, *used.shape[-2:], dtype=a.dtype)
    vectors = recorded("tril")(b, used, -1) + unit
    factors = recorded("expand_dims")(b, scale, -1)
    return [
        (recorded("take")(b, vectors, [i], -1), recorded("take")(b, factors, [i], -2))
        for i in range(count)
    ]


def _reflected(b: Builder, z: Any, vector: Var, factor: Var) -> Any:
    return z - factor * vector * recorded("matmul")(b, conjugate_transpose(b, vector), z)


@TORCH.macro("linalg.householder_product orgqr")
def householder_product(b: Builder, A: Any, tau: Any) -> Any:
    """First columns of the product of the reflections that geqrf gives."""
    reflections, a = _reflections(b, A, tau, "householder_product"), b.inexact(A)
    if a.shape[-2] < a.shape[-1]:
        raise ShapeMismatch(f"householder_product needs as many rows as columns, got {a.type}")
    z = b.broadcast(recorded("eye")(b, *a.shape[-2:], dtype=a.dtype), a.shape)
    for vector, factor in reversed(reflections):
        z = _reflected(b, z, vector, factor)
    return z


@TORCH.macro("ormqr")
def ormqr(
    b: Builder,
    input: Any,
    tau: Any,
    other: Any,
    left: Static = True,
    transpose: Static = False,
) -> Any:
    """``q other``, or ``other q``, with the square product of reflections, or ``q^H`` for it."""
    a, scale, reflections = b.array(input), b.array(tau), _reflections(b, input, tau, "ormqr")
    first, turned = flag(left, "left"), flag(transpose, "transpose")
    z = b.array(other) if first else b.array(conjugate_transpose(b, other))
    rows, columns = a.shape[-2:]
    if z.ndim < 2 or z.shape[-2] != rows or scale.shape[-1] != min(rows, columns):
        raise ShapeMismatch(f"ormqr got {a.type} and {scale.type} for {z.type}")
    if turned != first:  # the product as it stands: the last reflection comes first
        reflections.reverse()
    for vector, factor in reflections:
        scale = factor if turned != first else recorded("conj")(b, factor)
        z = _reflected(b, z, vector, scale)
    return z if first else conjugate_transpose(b, z)
