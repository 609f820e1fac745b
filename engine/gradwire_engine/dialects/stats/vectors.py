"""Laws of vectors: normal, Dirichlet's and multinomial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.stats.laws import enter
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.linalg.cholesky import Cholesky
from gradwire_engine.ops.pointwise.exponential import Exp, Log, XLogY
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.special.gamma import GammaLn

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _summed(x: Var, axis: int = -1) -> Var:
    return Sum.over(x, (axis % x.ndim,)) if x.ndim else x


def _log_normal(x: Var, mean: Var, cov: Var) -> Var:
    """``-(‖u‖² + n ln 2π) / 2 - ln det L`` with ``L u = x - mean`` and ``cov = L L^T``."""
    apart = x - mean
    n = apart.shape[-1] if apart.ndim else 1
    if not cov.ndim:
        return (_summed(apart * apart) / cov + (Log()(cov) + math.log(2 * math.pi)) * n) * -0.5
    if cov.shape[-2:] != (n, n):
        raise ShapeMismatch(f"vectors of length {n} have no covariance of shape {cov.shape}")
    factor, column = Cholesky()(cov), unsqueeze(apart, (apart.ndim,))
    u = recorded("solve_triangular")(x.builder, factor, column, 0, lower=True)
    squares = _summed(reshape(u * u, u.shape[:-1]))
    logs = _summed(Log()(recorded("linalg.diagonal")(x.builder, factor)))
    return squares * -0.5 - logs - n * math.log(2 * math.pi) / 2


def _log_dirichlet(x: Var, alpha: Var) -> Var:
    """``sum((alpha - 1) ln x) - sum ln Γ(alpha) + ln Γ(sum alpha)`` over the first axis."""
    if alpha.ndim != 1 or x.shape[:1] != alpha.shape:
        raise ShapeMismatch(f"dirichlet needs a row for each of {alpha.shape} parameters")
    weights = reshape(alpha, (-1, *[1] * (x.ndim - 1)))
    total = GammaLn()(_summed(alpha)) - _summed(GammaLn()(alpha))
    return _summed(XLogY()(weights - 1, x), 0) + total


def _log_multinomial(x: Var, n: Var, p: Var) -> Var:
    """``ln n! + sum(x ln p - ln x!)`` over the last axis."""
    return GammaLn()(n + 1) + _summed(XLogY()(x, p) - GammaLn()(x + 1))


for _name, _kind, _title, _parameters, _rule in (
    ("multivariate_normal", "pdf", "density of normal vectors", "x mean=0 cov=1", _log_normal),
    ("dirichlet", "pdf", "density of Dirichlet's law of shares", "x alpha", _log_dirichlet),
    ("multinomial", "pmf", "probability of counts that sum to n", "x n p", _log_multinomial),
):
    _formula = (_rule.__doc__ or "").rstrip(".")
    enter(f"{_name}.log{_kind}", f"Logarithm of the {_title}: {_formula}.", _parameters, _rule)
    enter(
        f"{_name}.{_kind}",
        f"The {_title}.",
        _parameters,
        lambda *given, rule=_rule: Exp()(rule(*given)),
    )
