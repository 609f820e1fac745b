"""Functions of the array namespace that NumPy and SciPy have not, or only slower ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from gradwire_engine.ops.linalg.matrix_functions import for_each

__all__ = [
    "accumulate",
    "argsort",
    "congruence",
    "coo_product",
    "excess",
    "expm",
    "extreme",
    "random_words",
    "require",
    "rounded",
    "solve_triangular",
]

#: Rows up to this length, if there are so many, are turned to be compared.
_SHORT_ROW, _MANY_ROWS = 32, 32
#: Fewest elements that are sorted first as if none were equal, of these dtypes.
_FEWEST_SORTED, _SORTED = 64, "dflLqQiI"
#: Fewest rows of matrices for which LAPACK's congruences take less time than substituting twice.
_FEWEST_CONGRUENT = 80


def rounded(x: Any, dtype: Any) -> Any:
    """Each number as the nearest of a coarser dtype."""
    return x.astype(dtype).astype(x.dtype)


def extreme(ufunc: Any, x: Any, axes: tuple[int, ...], **initial: Any) -> Any:
    """The largest or smallest elements of ``x`` over ``axes``, by the ``ufunc`` of two.

    Many short rows are turned first: NumPy takes as long to begin one as for 30 elements.
    """
    if axes == (1,) and x.ndim == 2 and x.shape[1] <= _SHORT_ROW and x.shape[0] >= _MANY_ROWS:
        x, axes = x.T.copy(), (0,)
    return ufunc.reduce(x, axis=axes, **initial)


def excess(x: Any, y: Any) -> Any:
    """``x - y``, and 0 where both are ``inf``; ``y`` has fewer elements, and is looked at first."""
    z, infinite = x - y, y == np.inf
    return np.where(infinite & (x == y), 0, z)[()] if infinite.any() else z


def accumulate(ufunc: Any, x: Any, axis: int) -> Any:
    """Elements combined by ``ufunc`` with all before along ``axis``."""
    return ufunc.accumulate(x, axis=axis)


def argsort(x: Any, axis: int = -1, kind: Any = None) -> Any:
    """Indices that sort along an axis.

    NumPy sorts with vectors of elements only if equal ones need not keep their order, in a fifth
    of the time; whether any are equal is then seen at once.
    """
    if kind != "stable" or x.dtype.char not in _SORTED or x.shape[axis] < _FEWEST_SORTED:
        return np.argsort(x, axis, kind)
    order = np.argsort(x, axis)
    rising = np.moveaxis(x[order] if x.ndim == 1 else np.take_along_axis(x, order, axis), axis, 0)
    return order if (rising[:-1] < rising[1:]).all() else np.argsort(x, axis, kind)


def coo_product(rows: int, values: Any, row: Any, column: Any, x: Any) -> Any:
    """A sparse matrix of so many rows times a dense one, in one pass over the nonzeros.

    Raises: ``IndexError``.
    """
    try:
        matrix = scipy.sparse.coo_array((values, (row, column)), shape=(rows, x.shape[0]))
    except ValueError as error:
        raise IndexError(str(error)) from None
    return matrix @ x


def random_words(places: Any, count: int) -> Any:
    """``count`` words of Philox 4x64-10 at each place: its key, and the counter's upper words."""
    z = np.empty((len(places), count), np.uint64)
    generator: Any = np.random.Philox(key=0)
    start = generator.state  # to start one again takes less than to make one for each place
    for words, (*key, upper, highest) in zip(z, places, strict=True):
        start["state"] = {"counter": (0, 0, upper, highest), "key": key}
        generator.state = start
        words[:] = generator.random_raw(count)
    return z


def require(holds: Any, error: Exception) -> None:
    """Raise ``error`` unless ``holds``."""
    if not holds:
        raise error


def expm(a: Any) -> Any:
    """The exponential of each matrix; NaN where elements are not finite."""
    return for_each(np, scipy.linalg.expm, a)


def solve_triangular(a: Any, b: Any, *, lower: bool, adjoint: bool, unit: bool) -> Any:
    """``a^-1 b`` or ``a^-H b`` of a triangle of ``a``, whose diagonal is 1 if ``unit``.

    By BLAS on the arrays as they lie, if it can be: its matrices are column by column, so ours
    transposed. ``b`` is solved for from the left, or transposed from the right, so that neither is
    turned. A stack of matrices is solved by LU factorisation, which does not loop in Python.
    """
    if a.ndim > 2 or b.ndim > 2:
        a = np.tril(a, -unit) if lower else np.triu(a, +unit)
        a = a + np.eye(a.shape[-1], dtype=a.dtype) if unit else a
        return np.linalg.solve(_adjoint(a) if adjoint else a, b)
    if a.dtype.char not in "fd" or not b.size or not a.flags.c_contiguous:
        options = {"lower": lower, "unit_diagonal": unit, "check_finite": False}
        return scipy.linalg.solve_triangular(a, b, "C" if adjoint else "N", **options)
    if not (unit or a.diagonal().all()):
        raise np.linalg.LinAlgError
    blas = scipy.linalg.blas
    trsm = blas.dtrsm if a.dtype.char == "d" else blas.strsm
    if b.flags.f_contiguous:
        return trsm(1.0, a.T, b, trans_a=not adjoint, lower=not lower, diag=unit)
    return trsm(1.0, a.T, b.T, side=1, trans_a=adjoint, lower=not lower, diag=unit).T


def _adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def congruence(a: Any, h: Any) -> Any:
    """``a^-H h a^-1`` of the lower triangles of ``a`` and of a Hermitian ``h``.

    LAPACK knows it of a real triangle on the other side: of all rows and columns in reverse.
    Stacks are solved by LU factorisation.  Source: LAPACK, sygst.
    """
    if a.ndim > 2 or h.ndim > 2:
        below = np.tril(h, -1)
        whole = below + _adjoint(below) + np.tril(np.triu(h)).real
        a_h = _adjoint(np.tril(a))
        z = np.linalg.solve(a_h, _adjoint(np.linalg.solve(a_h, whole)))
        return (z + _adjoint(z)) / 2
    if len(a) < _FEWEST_CONGRUENT or a.dtype.char not in "fd":
        below = np.tril(h, -1)
        whole = below + below.conj().T
        np.fill_diagonal(whole, h.diagonal().real)
        how = {"lower": True, "adjoint": True, "unit": False}
        z = solve_triangular(a, solve_triangular(a, whole, **how).conj().T, **how)
        return (z + z.conj().T) / 2
    if not a.diagonal().all():
        raise np.linalg.LinAlgError
    lapack = scipy.linalg.lapack
    reduced = lapack.dsygst if a.dtype.char == "d" else lapack.ssygst
    factor, turned = (x[::-1, ::-1].copy().T for x in (a, h))
    z, _ = reduced(turned, factor, lower=1, overwrite_a=1)
    diagonal = z.diagonal()[::-1].copy()
    below = z.T[::-1, ::-1]
    below[np.tri(len(z), dtype=bool).T] = 0
    whole = np.add(below, below.T, out=factor.T)  # fewer pages are asked for
    np.fill_diagonal(whole, diagonal)
    return whole
