"""Derivatives by a formula alone: NaN and infinities where it has them, for every order.

Gradwire's own operations have a useful derivative at singular points and a lazy ``where``. Other
libraries differentiate by a formula, whatever that gives there. ``by_formula`` computes with the
ordinary operations and differentiates by a rule of this module, so that only derivatives differ:
also for functions whose parts have singular points where they have none, as a power's logarithm.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES, Cotangents
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Sqrt, Square
from gradwire_engine.ops.pointwise.comparison import (
    Less,
    LogicalNot,
    NotEqual,
)
from gradwire_engine.ops.pointwise.exponential import Exp, Log, XLogY
from gradwire_engine.ops.pointwise.selection import Floor, Sign, Where
from gradwire_engine.ops.pointwise.trigonometric import Sinh
from gradwire_engine.ops.rules import RULES, by_formula
from gradwire_engine.ops.special.gamma import Digamma, GammaLn
from gradwire_engine.ops.special.powers import lower as _lower
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def select(condition: Var, x: Var, y: Var) -> Var:
    """``x`` where ``condition`` holds, else ``y``; in derivatives 0 times infinity is NaN."""
    return by_formula("select", Where(), condition, x, y)


def connected(x: Var, y: Var) -> Var:
    """``x``, that counts as a function of ``y`` with derivative 0."""
    return by_formula("connected", lambda x, y: x, x, y)


def passing(x: Var) -> Var:
    """``x``, whose cotangent counts as a function of it with derivative 0."""
    return by_formula("passing", lambda x: x, x)


def sqrt(x: Var) -> Var:
    """Square root."""
    return by_formula("sqrt", Sqrt(), x)


def reciprocal(x: Var) -> Var:
    """``1 / x``."""
    return by_formula("reciprocal", lambda x: 1 / x, x)


def power(x: Var, y: Var) -> Var:
    """``x ** y``."""
    return by_formula("power", Power(), x, y)


def multiply_no_nan(x: Var, y: Var) -> Var:
    """``x y``, and 0 where ``y`` is 0."""
    return by_formula("multiply_no_nan", lambda x, y: Where()(y.equals(0), _zero(x), x * y), x, y)


def xdivy(x: Var, y: Var) -> Var:
    """``x / y``, and 0 where ``x`` is 0."""
    return by_formula("xdivy", lambda x, y: Where()(x.equals(0), _zero(x), x / y), x, y)


def abs_power(x: Var, y: Var) -> Var:
    """``|x|ʸ``; derivatives at 0 are their limits from both sides, 0 where these are opposite."""
    return by_formula("abs_power", lambda x, y: Power()(Absolute()(x), y), x, y)


def gennorm_below(y: Var, beta: Var) -> Var:
    """Distribution function of the generalised normal law."""
    return by_formula("gennorm_below", _gennorm_below, y, beta)


def log_gennorm(y: Var, beta: Var) -> Var:
    """Logarithm of its density: ``ln β - ln 2 - ln Γ(1/β) - |y|^β``."""
    return Log()(beta * 0.5) - GammaLn()(1 / beta) - abs_power(y, beta)


def _zero(x: Var) -> Var:
    return x.constant(0)


def _one(x: Var) -> Var:
    return x.constant(1)


def _unless_zero(z_bar: Var, x_bar: Var) -> Var:
    """``x_bar``, and 0 where the upstream ``z_bar`` is 0."""
    return Where()(z_bar.equals(0), _zero(x_bar), x_bar)


def _nonzero(x: Var) -> Var:
    """1 where ``x`` is not 0, else 0."""
    return x.builder.cast(NotEqual()(x, _zero(x)), x.dtype)


def _of_select(z_bar: Var, z: Var, condition: Var, x: Var, y: Var) -> Cotangents:
    zero = _zero(z_bar)
    return None, select(condition, z_bar, zero), select(condition, zero, z_bar)


def _of_connected(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    return z_bar, connected(y.builder.full(0, ArrayType(y.dtype, y.type.shape)), y)


def _of_passing(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (connected(z_bar, x),)


def _of_sqrt(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (by_formula("sqrt_slope", _sqrt_slope, conj(z), z_bar),)


def _sqrt_slope(z: Var, z_bar: Var) -> Var:
    return _unless_zero(z_bar, z_bar * 0.5 / z)


def _of_sqrt_slope(w_bar: Var, w: Var, z: Var, z_bar: Var) -> Cotangents:
    share = w_bar / conj(z)
    return -(share * conj(w)), share * 0.5


def _of_rsqrt(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (by_formula("rsqrt_slope", _rsqrt_slope, conj(z), z_bar),)


def _rsqrt_slope(z: Var, z_bar: Var) -> Var:
    return _unless_zero(z_bar, z_bar * -0.5 * (Square()(z) * z))


def _of_rsqrt_slope(w_bar: Var, w: Var, z: Var, z_bar: Var) -> Cotangents:
    of_z = w_bar * conj(z_bar) * -1.5 * Square()(conj(z))
    return of_z, by_formula("rsqrt_slope", _rsqrt_slope, conj(z), w_bar)


def _of_reciprocal(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (by_formula("reciprocal_slope", _reciprocal_slope, conj(z), z_bar),)


def _reciprocal_slope(z: Var, z_bar: Var) -> Var:
    return _unless_zero(z_bar, -(z_bar * Square()(z)))


def _of_reciprocal_slope(w_bar: Var, w: Var, z: Var, z_bar: Var) -> Cotangents:
    of_z = w_bar * conj(z_bar) * -2 * conj(z)
    return of_z, by_formula("reciprocal_slope", _reciprocal_slope, conj(z), w_bar)


def _of_log(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * conj(reciprocal(x)),)


def _of_log1p(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * conj(reciprocal(x + 1)),)


def _of_remainder(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    return z_bar, -(z_bar * Floor()(x / y))


def _of_gammaln(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * digamma(x),)


def digamma(x: Var) -> Var:
    """Derivative of ``ln Γ``; NaN at 0."""
    return by_formula("digamma", _digamma, x)


def _digamma(x: Var) -> Var:
    return Where()(x.equals(0), x.constant(math.nan), Digamma()(x))


def _of_digamma(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * by_formula("trigamma", partial(_polygamma, 1), x),)


def _of_trigamma(z_bar: Var, z: Var, x: Var) -> Cotangents:
    positive = x.exceeds(0)
    pole = LogicalNot()(positive | NotEqual()(x, Floor()(x)))
    nan = x.constant(math.nan)
    return (z_bar * select(pole, nan, _polygamma(2, x)),)


def _polygamma(order: int, x: Var) -> Var:
    found: Var = FUNCTIONS["polygamma"].record(x.builder, order, x)
    return found


def _of_power(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    exceeds = NotEqual()(x, _zero(x)) if x.dtype.kind == "c" else x.exceeds(0)
    log = Where()(exceeds, Log()(Where()(exceeds, x, _one(x))), _zero(x))
    return z_bar * conj(y * power(x, y - 1)), z_bar * conj(z * log)


def _of_arctan2(z_bar: Var, z: Var, y: Var, x: Var) -> Cotangents:
    share = z_bar / (Square()(x) + Square()(y))
    return share * x, share * -y


def _of_arcsin(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * reciprocal(conj(sqrt(1 - Square()(x)))),)


def _of_arccos(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (-(z_bar * reciprocal(conj(sqrt(1 - Square()(x))))),)


def _of_arccosh(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar / conj(Sinh()(z)),)


def _of_arctanh(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * reciprocal(conj(1 - Square()(x))),)


def _of_multiply_no_nan(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    return multiply_no_nan(z_bar, y), multiply_no_nan(x, z_bar)


def _of_xdivy(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    return z_bar * xdivy(_nonzero(x), y), z_bar * xdivy(-x, power(y, y.constant(2)))


def _of_relu(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (connected(select(x.exceeds(0), z_bar, _zero(z_bar)), x),)


def _of_relu6(z_bar: Var, z: Var, x: Var) -> Cotangents:
    inside = x.exceeds(0) & Less()(x, x.constant(6))
    return (connected(select(inside, z_bar, _zero(z_bar)), x),)


def _of_leaky_relu(z_bar: Var, z: Var, x: Var, slope: Var) -> Cotangents:
    return connected(select(x.exceeds(0), z_bar, z_bar * slope), x), None


def _of_elu(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (select(Less()(z, _zero(z)), z_bar * (z + 1), z_bar),)


def _signed_power(x: Var, y: Var) -> Var:
    return Where()(x.equals(0), x, Sign()(x) * Power()(Absolute()(x), y))


def _of_abs_power(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    slope = y * by_formula("signed_power", _signed_power, x, _lower(y))
    return z_bar * slope, z_bar * XLogY()(z, Absolute()(x))


def _of_signed_power(z_bar: Var, z: Var, x: Var, y: Var) -> Cotangents:
    in_x = multiply_no_nan(y * abs_power(x, _lower(y)), z_bar)
    return in_x, z_bar * XLogY()(z, Absolute()(x))


def _gennorm_below(y: Var, beta: Var) -> Var:
    tail = PRIMITIVES["gammaincc"]()(1 / beta, Power()(Absolute()(y), beta)) * 0.5
    return Where()(y.exceeds(0), 1 - tail, tail)


def _of_gennorm_below(z_bar: Var, z: Var, y: Var, beta: Var) -> Cotangents:
    density = Exp()(log_gennorm(y, beta))
    half = Sign()(y) * PRIMITIVES["gammainc_in_a"](1)(1 / beta, abs_power(y, beta)) * -0.5
    in_beta = half / (beta * beta) + XLogY()(y * density, Absolute()(y)) / beta
    return z_bar * density, z_bar * in_beta


RULES |= {
    "select": _of_select,
    "connected": _of_connected,
    "passing": _of_passing,
    "sqrt": _of_sqrt,
    "sqrt_slope": _of_sqrt_slope,
    "rsqrt": _of_rsqrt,
    "rsqrt_slope": _of_rsqrt_slope,
    "reciprocal": _of_reciprocal,
    "reciprocal_slope": _of_reciprocal_slope,
    "log": _of_log,
    "log1p": _of_log1p,
    "remainder": _of_remainder,
    "gammaln": _of_gammaln,
    "digamma": _of_digamma,
    "trigamma": _of_trigamma,
    "power": _of_power,
    "arctan2": _of_arctan2,
    "arcsin": _of_arcsin,
    "arccos": _of_arccos,
    "arccosh": _of_arccosh,
    "arctanh": _of_arctanh,
    "multiply_no_nan": _of_multiply_no_nan,
    "xdivy": _of_xdivy,
    "relu": _of_relu,
    "relu6": _of_relu6,
    "leaky_relu": _of_leaky_relu,
    "elu": _of_elu,
    "abs_power": _of_abs_power,
    "signed_power": _of_signed_power,
    "gennorm_below": _of_gennorm_below,
}
