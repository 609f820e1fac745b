"""Linear algebra of the array namespace on CuPy, which fails as NumPy's does.

Whether a factorisation has failed is known when the device has finished it, so each waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import cupy
import cupyx
import cupyx.scipy.linalg

from gradwire_gpu.cupy.requirements import require

__all__ = ["congruence", "expm", "linalg", "solve_triangular"]

#: The largest norm for which Padé's approximant is exact to double precision, and its coefficients.
_LARGEST_NORM = 5.371920351148152
_PADE = [math.factorial(26 - k) * math.comb(13, k) / math.factorial(26) for k in range(14)]


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
    if a.ndim > 2 or b.ndim > 2:
        batch = cupy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (cupy.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    options = {"lower": lower, "unit_diagonal": unit, "check_finite": False}
    return cupyx.scipy.linalg.solve_triangular(a, b, "C" if adjoint else "N", **options)


def congruence(a: Any, h: Any) -> Any:
    """``a^-H h a^-1`` of the lower triangles of ``a`` and of a Hermitian ``h``.

    Raises: ``LinAlgError``.
    """
    below = cupy.tril(h, -1)
    whole = below + _adjoint(below) + cupy.tril(cupy.triu(h)).real
    z = solve_triangular(a, whole, lower=True, adjoint=True, unit=False)
    z = solve_triangular(a, _adjoint(z), lower=True, adjoint=True, unit=False)
    return (z + _adjoint(z)) / 2


def _adjoint(a: Any) -> Any:
    return cupy.conj(cupy.swapaxes(a, -1, -2))


def expm(a: Any) -> Any:
    """The exponential of each matrix by Padé's approximant of degree 13, scaling and squaring.

    NaN where elements are not finite.  Source: Higham, "The scaling and squaring method for the
    matrix exponential revisited" (2005).
    """
    if not a.size:
        return cupy.zeros(a.shape, a.dtype)
    norm = cupy.sum(cupy.abs(a), axis=-2).max(axis=-1)
    finite = cupy.isfinite(norm)
    larger = cupy.maximum(cupy.where(finite, norm, 1) / _LARGEST_NORM, 1)
    halvings = cupy.ceil(cupy.log2(larger))[..., None, None]
    x = cupy.where(finite[..., None, None], a, 0) / cupy.exp2(halvings).astype(norm.dtype)
    x = x.astype(a.dtype, copy=False)
    one = cupy.eye(a.shape[-1], dtype=a.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    powers = one, x2, x4, x6
    odd, even = (
        x6 @ sum(c * p for c, p in zip(_PADE[8 + i :: 2], powers[1:], strict=True))
        + sum(c * p for c, p in zip(_PADE[i:8:2], powers, strict=True))
        for i in (1, 0)
    )
    odd = x @ odd
    z = solve(even - odd, even + odd)
    for squaring in range(int(halvings.max())):
        z = cupy.where(halvings > squaring, z @ z, z)
    return cupy.where(finite[..., None, None], z, cupy.nan)


_NAMES = "cholesky det eigh eigvalsh inv pinv qr slogdet svd".split()
#: ``xp.linalg``.
linalg = SimpleNamespace(
    LinAlgError=cupy.linalg.LinAlgError,
    solve=solve,
    **{name: _raising(getattr(cupy.linalg, name)) for name in _NAMES},
)
