"""Covariances and correlations of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import diagonal
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape, swap_last, unsqueeze
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.complex import Real
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("cov")
def cov(
    b: Builder,
    m: Any,
    y: Any = None,
    rowvar: Static = True,
    bias: Static = False,
    ddof: Static = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """Covariances of the rows of ``m`` and ``y``: ``z_ij = sum_k c_ik c_jk* / (n - ddof)``.

    ``c`` are the rows less their means, in double precision; ``ddof`` is 1 by default, 0 if
    ``bias``; without ``rowvar`` the columns are taken.  ``fweights`` says how often each
    observation counts, ``aweights`` how much: ``sum w c c* / (v - ddof sum w a / v)``, ``v`` the
    sum of both weights' products ``w``.
    """
    parts = b.promote(m, *([] if y is None else [y]))
    dtype = DTYPES["complex128" if parts[0].dtype.kind == "c" else "float64"]
    rows = []
    for part in [b.cast(part, dtype) for part in parts]:
        if part.ndim > 2:
            raise ShapeMismatch(f"cov takes vectors and matrices, got {part.type}")
        row = reshape(part, (1, part.type.size)) if part.ndim < 2 else part
        turned = part.ndim == 2 and not flag(rowvar, "rowvar")
        rows.append(swap_last(row) if turned else row)
    x = Concatenate(0)(*rows) if len(rows) > 1 else rows[0]
    n = x.type.shape[1]
    less = ddof if ddof is not None else 0 if flag(bias, "bias") else 1
    if isinstance(less, bool) or not isinstance(less, int | float):
        raise BadArgument("ddof must be a number")
    if fweights is None and aweights is None:
        centred = x - Sum.over(x, (1,), keepdims=True) / n
        z = MatMul()(centred, conj(swap_last(centred))) / max(n - less, 0)
    else:
        z = _weighted(b, x, less, fweights, aweights)
    return reshape(z, tuple([k for k in z.type.shape if k != 1]))


def _weighted(b: Builder, x: Var, ddof: float, fweights: Any, aweights: Any) -> Var:
    """Covariances of rows whose observations are weighted."""
    given = [b.cast(b.array(w), x.dtype) for w in (fweights, aweights) if w is not None]
    for weights in given:
        if weights.shape != x.shape[1:]:
            raise ShapeMismatch(f"cov got {weights.shape} weights for {x.shape[1]} observations")
    w = given[0] * given[1] if len(given) == 2 else given[0]
    total = Sum((0,))(w)
    centred = x - unsqueeze(MatMul()(x, w) / total, (1,))
    freedom = total - ddof if aweights is None else total - Sum((0,))(w * given[-1]) / total * ddof
    return MatMul()(centred * w, conj(swap_last(centred))) / freedom


@macro("corrcoef")
def corrcoef(b: Builder, x: Any, y: Any = None, rowvar: Static = True) -> Any:
    """Correlations of the rows of ``x`` and ``y``: ``z_ij = c_ij / sqrt(c_ii c_jj)`` of ``cov``."""
    c = cov(b, x, y, rowvar)
    if c.ndim == 0:
        return c / c
    lengths = Sqrt()(Real()(diagonal(b, c)))
    lengths = b.cast(lengths, c.dtype)
    return c / unsqueeze(lengths, (1,)) / unsqueeze(lengths, (0,))
