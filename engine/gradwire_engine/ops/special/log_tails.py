"""Logarithms of probabilities that underflow: of incomplete gamma and beta functions in tails.

By continued fractions for the quotient of a density and the probability. Where this is below 1e-100
a few terms have all digits, be parameters small or large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradwire_engine.ops.pointwise.activations import Sigmoid
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.exponential import Log, Log1p
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.densities import LogBetaDensity, LogGammaDensity
from gradwire_engine.ops.special.error_functions import Logit
from gradwire_engine.ops.special.incomplete import GammaInc, GammaIncC
from gradwire_engine.ops.special.incomplete_beta import BetaInc, BetaIncC

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: So many terms of a fraction are taken.
_TERMS = 8
#: Less are in a tail, by the bytes of a number.
_TAIL = {4: 1e-12, 8: 1e-100}


def logarithm(p: Var, rest: Var, tail: Var | None = None, low: Var | None = None) -> Var:
    """``ln p``: from the ``rest`` to 1 where that is less, and the ``tail`` where ``p`` is low."""
    z = Where()(p.exceeds(0.5), Log1p()(-rest), Log()(p))
    return z if tail is None else Where()(underflows(p) if low is None else low, tail, z)


def underflows(p: Var) -> Var:
    """True where ``p``, or a slope of it, soon underflows."""
    return Less()(p, p.constant(_TAIL[p.dtype.itemsize]))


def log_gammainc(a: Var, x: Var) -> Var:
    """``ln P(a, x)``."""
    tail = LogGammaDensity()(a, x) - _log_fraction(lambda k: a + k - x, lambda k: x * k)
    return logarithm(GammaInc()(a, x), GammaIncC()(a, x), tail)


def log_gammaincc(a: Var, x: Var) -> Var:
    """``ln Q(a, x)``."""
    return logarithm(GammaIncC()(a, x), GammaInc()(a, x), tail_of_gammaincc(a, x))


def log_betainc(a: Var, b: Var, x: Var) -> Var:
    """``ln I_x(a, b)``."""
    tail = tail_of_betainc(a, b, Logit()(x))
    return logarithm(BetaInc()(a, b, x), BetaIncC()(a, b, x), tail)


def log_betaincc(a: Var, b: Var, x: Var) -> Var:
    """``ln(1 - I_x(a, b))``."""
    tail = tail_of_betainc(b, a, -Logit()(x))
    return logarithm(BetaIncC()(a, b, x), BetaInc()(a, b, x), tail)


def tail_of_gammaincc(a: Var, x: Var) -> Var:
    """``ln Q(a, x)`` where that is far below 0.  Source: DLMF 8.9.2."""
    fraction = _log_fraction(lambda k: x - a + (2 * k + 1), lambda k: (a - k) * k)
    return LogGammaDensity()(a, x) - fraction


def tail_of_betainc(a: Var, b: Var, y: Var) -> Var:
    """``ln I_x(a, b)`` of the log-odds ``y = ln(x / (1 - x))``, where that is far below 0.

    Source: Nörlund's fraction, DLMF 15.7.5.
    """
    x, rest = Sigmoid()(y), Sigmoid()(-y)
    total, product = a + b, x * rest
    mean = a * rest - b * x
    fraction = _log_fraction(
        lambda k: mean + (rest - x) * k, lambda k: product * (total + (k - 1)) * k
    )
    return LogBetaDensity()(a, b, y) - fraction


def _log_fraction(bottom: Callable[[int], Var], top: Callable[[int], Var]) -> Var:
    """``ln(b_0 + a_1 / (b_1 + a_2 / (b_2 + …)))``."""
    total = bottom(_TERMS)
    for k in range(_TERMS, 0, -1):
        total = bottom(k - 1) + top(k) / total
    return Log()(total)
