"""Functions of the array namespace that NumPy and SciPy have not, or only slower ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from gradwire_engine.tape import Shape

#: Rows up to this length, if there are so many, are turned to be compared.
_SHORT_ROW, _MANY_ROWS = 32, 32
#: Elements of rows, and of each, from which a sparse matrix adds them in less time than ``add.at``.
_MANY, _FEWEST_WIDE = 4096, 2
#: Fewest rows of matrices for which LAPACK's congruences take less time than substituting twice.
_FEWEST_CONGRUENT = 80
#: Sparse matrices convert other integers, of 64 bits for more.
_INT32 = 2**31 - 1


def extreme(ufunc: Any, x: Any, axes: tuple[int, ...], **initial: Any) -> Any:
    """The largest or smallest elements of ``x`` over ``axes``, by the ``ufunc`` of two.

    Many short rows are turned first: NumPy takes as long to begin one as for 30 elements.
    """
    if axes == (1,) and x.ndim == 2 and x.shape[1] <= _SHORT_ROW and x.shape[0] >= _MANY_ROWS:
        x, axes = x.T.copy(), (0,)
    return ufunc.reduce(x, axis=axes, **initial)


def add_rows(shape: Shape, index: Any, rows: Any) -> Any:
    """Zeros of ``shape`` to which ``rows`` are added where ``index`` says, one after the other."""
    added = _added_by_product(shape, index, rows) if rows.size >= _MANY else None
    if added is None:
        added = np.zeros(shape, rows.dtype)
        np.add.at(added, index, rows)
    return added


def _added_by_product(shape: Shape, index: Any, rows: Any) -> Any | None:
    """The same by a sparse matrix, in the same order; None where ``add.at`` is as quick."""
    count, width = index.size, math.prod(shape[1:])
    if rows.dtype.char in "FD":  # a complex number times 1 is not itself where it is infinite
        parts = np.ascontiguousarray(rows).view(rows.real.dtype)
        added = _added_by_product((*shape[:-1], 2 * shape[-1]), index, parts)
        return None if added is None else added.view(rows.dtype)
    if width < _FEWEST_WIDE or rows.dtype.char not in "fd":
        return None
    places = row_numbers(index, shape[0])
    ones, starts = np.ones(count, rows.dtype), np.arange(count + 1, dtype=places.dtype)
    chosen = scipy.sparse.csc_matrix((ones, places, starts), shape=(shape[0], count))
    return (chosen @ rows.reshape(count, width)).reshape(shape)


def row_numbers(index: Any, count: int) -> Any:
    """The rows of ``count`` that indices select, as integers that sparse matrices take as they are.

    Raises: ``IndexError``.
    """
    rows = index.ravel()
    least, most = (rows.min(), rows.max()) if rows.size else (0, 0)
    if rows.size and (least < -count or most >= count):
        raise IndexError
    if least < 0:
        rows = np.where(rows < 0, np.add(rows, count, dtype=np.int64), rows)
    return rows.astype(np.int32) if max(count, rows.size) < _INT32 else rows


def solve_triangular(a: Any, b: Any, *, lower: bool, adjoint: bool, unit: bool) -> Any:
    """``a^-1 b`` or ``a^-H b`` of a triangle of ``a``, whose diagonal is 1 if ``unit``.

    By BLAS on the arrays as they lie, if it can be: its matrices are column by column, so ours
    transposed. ``b`` is solved for from the left, or transposed from the right, so that neither is
    turned.
    """
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


def congruence(a: Any, h: Any) -> Any:
    """``a^-H h a^-1`` of the lower triangles of ``a`` and of a Hermitian ``h``.

    LAPACK knows it of a real triangle on the other side: of all rows and columns in reverse.
    Source: LAPACK, sygst.
    """
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
