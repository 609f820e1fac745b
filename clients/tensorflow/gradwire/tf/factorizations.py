"""Factors of matrices, and what is found of them by several tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwire.tf import checks, dtypes
from gradwire.tf.arguments import only
from gradwire.tf.calls import call, calls
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import kinds
from gradwire.tf.operations.linalg import diag, triangular_solve
from gradwire.tf.operations.types import DTypeLike, TensorLike
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered


class Lu(NamedTuple):
    """The result of ``lu``: both triangles in one, and the order of the rows."""

    lu: Tensor
    p: Tensor


def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values ``s``, and the matrices ``u`` and ``v`` with ``tensor = u diag(s) v*``."""
    x = convert_to_tensor(tensor)
    checks.check_allowed("Svd", x.dtype, kinds.SOLVABLE)
    if len(x._lengths()) < 2:
        raise invalid(
            f"Input tensor 0 must have rank >= 2, got {len(x._lengths())} [Op:Svd] name: "
        )
    *outer, rows, columns = x._lengths()
    least = min(rows, columns)
    values = Spec(x.dtype.real_dtype, (*outer, least))
    if not compute_uv:
        return call("tf.linalg.svd", x, False, False, spec=values, now=True)
    wide = (rows, columns) if full_matrices else (least, least)
    vectors = [
        Spec(x.dtype, (*outer, length, count))
        for length, count in zip((rows, columns), wide, strict=True)
    ]
    found = calls("tf.linalg.svd", x, bool(full_matrices), specs=[values, *vectors], now=True)
    return tuple(found)


def lu(input: TensorLike, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> Lu:
    """The triangles of a matrix, one below the other, and the order of its rows."""
    x = convert_to_tensor(input)
    checks.check_allowed("Lu", x.dtype, kinds.SOLVABLE)
    kind, lengths = as_dtype(output_idx_type), x._lengths()
    specs = [Spec(x.dtype, lengths), Spec(kind, lengths[:-1])]

    def compute() -> Lu:
        return Lu(*calls("tf.linalg.lu", x, kind.storage.name, specs=specs, now=True))

    return unregistered("Lu", [x], compute)


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues of a symmetric matrix by its diagonal and the one beside it."""
    only("eigh_tridiagonal", tol=(tol, None))
    x = convert_to_tensor(alpha)
    y = convert_to_tensor(beta, x.dtype)
    lengths = x._lengths()
    values, vectors = Spec(x.dtype, lengths), Spec(x.dtype, (*lengths, lengths[-1]))
    chosen: Any = slice(None)
    if select == "i":
        chosen = slice(int(select_range[0]), int(select_range[1]) + 1)
    if eigvals_only:
        found = call("tf.linalg.eigh_tridiagonal", x, y, True, spec=values, now=True)
        if select == "v":
            inside = (found._value() > select_range[0]) & (found._value() <= select_range[1])
            chosen = slice(*np.flatnonzero(inside)[[0, -1]] + [0, 1])
        return found[chosen]
    pair = calls("tf.linalg.eigh_tridiagonal", x, y, False, specs=[values, vectors], now=True)
    return pair[0][chosen], pair[1][:, chosen]


def banded_triangular_solve(
    bands: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solves with a triangular matrix that is given by its diagonals."""
    x = convert_to_tensor(bands)
    count, size = x._lengths()[-2:]
    k = (1 - count, 0) if lower else (0, count - 1)
    # Below the diagonal numbers stand to the right of their rows, above it to the left.
    matrix = diag(x, k=k, num_rows=size, num_cols=size, align="LEFT_RIGHT")
    return triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)
