"""Inverse hyperbolic functions, by logarithms of twice the digits.

Source: DLMF 4.37.16, 4.37.19 and 4.37.24.
"""

from __future__ import annotations

import math

from gradwire_engine.backends.llvm.functions.coefficients import LOGARITHM
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import (
    INF,
    NAN,
    Function,
    Pair,
    passing_nan,
)
from gradwire_engine.backends.llvm.functions.logarithms import long_logarithm

#: Up to where series are used, and from where on 1 counts for nothing beside squares.
_NEAR, _LARGE = 1 / 6, 2.0**30


def _series(f: Function, s: Pair) -> str:
    """``atanh s`` of small numbers."""
    z = f.mul(s.high, s.high)
    tail = f.fma(f.mul(z, f.c(0.5)), f.polynomial(z, LOGARITHM), f.c(1 / 3))
    return f.add(s.high, f.fma(f.mul(s.high, z), tail, s.low))


def atanh(form: Form) -> str:
    """``ln((1 + x) / (1 - x)) / 2``."""
    f = Function(form, "atanh")
    x, one = "%x0", f.c(1.0)
    size = f.abs(x)
    of = f.quotient(f.ordered_sum(one, size), f.ordered_sum(one, f.negative(size)))
    far = f.mul(f.c(0.5), f.add(*long_logarithm(f, of.high, of.low)))
    far = f.pick(f.test("oeq", size, one), f.c(INF), far)
    far = f.pick(f.test("ogt", size, one), f.c(NAN), far)
    near = _series(f, Pair(x, f.c(0.0)))
    z = f.pick(f.test("olt", size, f.c(_NEAR)), near, f.with_sign(far, x))
    return f.text(passing_nan(f, x, f.pick(f.test("oeq", x, f.c(0.0)), x, z)))


def _root(f: Function, x: str, more: float) -> Pair:
    """``sqrt(x² + more)``."""
    square = f.exact_product(x, x)
    total = f.exact_sum(square.high, f.c(more))
    root = f.intrinsic("sqrt", total.high)
    rest = f.add(f.fma(f.negative(root), root, total.high), f.add(total.low, square.low))
    lost = f.div(rest, f.add(root, root))
    return Pair(root, f.pick(f.test("oeq", root, f.c(0.0)), f.c(0.0), lost))


def _bounded(f: Function, x: str) -> str:
    """A number whose square is finite."""
    return f.most(x, 2.0 * _LARGE)


def _logarithm_of_sum(f: Function, x: str, root: Pair) -> str:
    """``ln(x + root)``, of large ``x`` that of ``2 x``."""
    large = f.test("ogt", x, f.c(_LARGE))
    total, lost = f.exact_sum(x, root.high)
    total = f.pick(large, x, total)
    lost = f.pick(large, f.c(0.0), f.add(lost, root.low))
    high, low = long_logarithm(f, total, lost)
    z = f.add(high, f.add(low, f.pick(large, f.c(math.log(2)), f.c(0.0))))
    return f.pick(f.test("oeq", x, f.c(INF)), f.c(INF), z)


def asinh(form: Form) -> str:
    """``ln(x + sqrt(x² + 1))``, near 0 ``atanh(x / sqrt(x² + 1))``."""
    f = Function(form, "asinh")
    x = "%x0"
    size = f.abs(x)
    root = _root(f, _bounded(f, size), 1.0)
    near = _series(f, f.quotient(Pair(x, f.c(0.0)), root))
    far = f.with_sign(_logarithm_of_sum(f, size, root), x)
    z = f.pick(f.test("olt", size, f.c(_NEAR)), near, far)
    return f.text(passing_nan(f, x, f.pick(f.test("oeq", x, f.c(0.0)), x, z)))


def acosh(form: Form) -> str:
    """``ln(x + sqrt(x² - 1))``."""
    f = Function(form, "acosh")
    x = "%x0"
    root = _root(f, _bounded(f, x), -1.0)
    z = _logarithm_of_sum(f, x, root)
    return f.text(passing_nan(f, x, f.pick(f.test("olt", x, f.c(1.0)), f.c(NAN), z)))
