"""Linear algebra of the array namespace on CuPy, which fails as NumPy's does.

Whether a factorisation has failed is known when the device has finished it, so each waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import cupy
import cupyx
import cupyx.scipy.linalg

from gradwire_engine.backends.cupy.requirements import require

__all__ = ["congruence", "linalg", "solve_triangular"]


def _raising(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def raising(*args: Any, **options: Any) -> Any:
        with cupyx.errstate(linalg="raise"):
            return function(*args, **options)

    return raising


def solve(a: Any, b: Any) -> Any:
    """``a^-1 b``, stacks broadcast.

    Raises: ``LinAlgError``.
    """
    columns = b[:, None] if b.ndim == 1 else b
    batch = cupy.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    shape = (*batch, *columns.shape[-2:])
    if a.size and columns.size:
        stack = cupy.broadcast_to(a, (*batch, *a.shape[-2:]))
        z = _raising(cupy.linalg.solve)(stack, cupy.broadcast_to(columns, shape))
    else:
        z = cupy.zeros(shape, cupy.result_type(a.dtype, b.dtype))
    return z[..., 0] if b.ndim == 1 else z


def solve_triangular(a: Any, b: Any, *, lower: bool, adjoint: bool, unit: bool) -> Any:
    """``a^-1 b`` or ``a^-H b`` of a triangle of ``a``, whose diagonal is 1 if ``unit``.

    Raises: ``LinAlgError``.
    """
    if not b.size:
        return cupy.zeros(b.shape, b.dtype)
    if not unit:
        diagonal = cupy.diagonal(a, 0, -2, -1)
        require((diagonal != 0).all(), cupy.linalg.LinAlgError("the matrix is singular"))
    options = {"lower": lower, "unit_diagonal": unit, "check_finite": False}
    return cupyx.scipy.linalg.solve_triangular(a, b, "C" if adjoint else "N", **options)


def congruence(a: Any, h: Any) -> Any:
    """``a^-H h a^-1`` of the lower triangles of ``a`` and of a Hermitian ``h``.

    Raises: ``LinAlgError``.
    """
    below = cupy.tril(h, -1)
    whole = below + below.conj().T + cupy.diag(cupy.diagonal(h).real).astype(h.dtype, copy=False)
    z = solve_triangular(a, whole, lower=True, adjoint=True, unit=False)
    z = solve_triangular(a, z.conj().T, lower=True, adjoint=True, unit=False)
    return (z + z.conj().T) / 2


_NAMES = "cholesky det eigh eigvalsh inv pinv qr slogdet svd".split()
#: ``xp.linalg``.
linalg = SimpleNamespace(
    LinAlgError=cupy.linalg.LinAlgError,
    solve=solve,
    **{name: _raising(getattr(cupy.linalg, name)) for name in _NAMES},
)
