"""Products of powers, whose slopes exist also where a base is 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.pointwise.exponential import Exp, XLogY
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.rules import RULES, by_formula
from gradwire_engine.ops.special.error_functions import XLog1pY

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Those of the bases of ``powers``, and where these stand among the factors.
_LOGARITHMS = ((XLogY, 0), (XLog1pY, 2))


def powers(r: Var, *factors: Var) -> Var:
    """``exp(r) xᵃ (1 + u)ᵇ`` of the factors ``x, a, u, b``, with slopes also where a base is 0.

    Where ``x`` is infinite and ``r`` is ``-inf``, ``r`` outweighs it: densities fall like these.
    """
    return by_formula("powers", _powers, r, *factors)


def _powers(r: Var, *factors: Var) -> Var:
    total = r
    for logarithm, i in _LOGARITHMS[: len(factors) // 2]:
        total = total + logarithm()(factors[i + 1], factors[i])
    if not factors:
        return Exp()(r)
    falls = factors[0].equals(math.inf) & r.equals(-math.inf)
    return Exp()(Where()(falls, r, total))


def _of_powers(z_bar: Var, z: Var, r: Var, *factors: Var) -> Cotangents:
    bars = [z_bar * z]
    for logarithm, i in _LOGARITHMS[: len(factors) // 2]:
        x, a = factors[i : i + 2]
        fewer = powers(r, *factors[: i + 1], lower(a), *factors[i + 2 :])
        bars += [z_bar * (a * fewer), z_bar * logarithm()(z, x)]
    return tuple(bars)


def lower(a: Var) -> Var:
    """``a - 1``, and 1 for 0, since ``0 * 0**-1`` is to be 0."""
    return a - 1 if a.builder.number(a) else Where()(a.equals(0), a.constant(1), a - 1)


RULES["powers"] = _of_powers
