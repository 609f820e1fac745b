"""Elementwise functions beside mpmath: at 0, at the least and largest numbers, at ends, in tails.

Values, slopes and second derivatives have an error of some units of rounding, times the condition
of each; where they overflow they are infinite with their sign, and what underflows may be 0.
"""

import math

import numpy as np
import pytest

mpmath = pytest.importorskip("mpmath")
mp, mpf = mpmath.mp, mpmath.mpf
#: Exponents beyond are as infinite; more would take all memory.
LARGEST = mpf(10) ** 6


def exp(x):
    return mp.exp(min(max(x, -LARGEST), LARGEST))


def real(x):
    """Refuse complex numbers, which are outside of a domain."""
    if isinstance(x, mpmath.mpc):
        raise ValueError("outside")
    return x


def sigmoid(x):
    return 1 / (1 + exp(-x))


def softplus(x):
    return max(x, mpf(0)) + mp.log1p(exp(-abs(x)))


def tanh(x):
    return mp.sign(x) * mp.expm1(2 * min(abs(x), LARGEST)) / (exp(2 * abs(x)) + 1)


def normal(x):
    """Φ, whose tails mpmath takes no time for."""
    return mp.erfc(min(max(-x, mpf(-400)), mpf(400)) / mp.sqrt(2)) / 2


def power(y):
    return lambda x: real(mpf(x) ** y)


def signed(f):
    return lambda x: mp.sign(x) * f(abs(x))


def degrees(f):
    return lambda x: f((x % 360) * mp.pi / 180)


#: By program: its truth. Those of many parameters are tested in one.
FUNCTIONS = {
    "exp(x)": exp,
    "expm1(x)": lambda x: mp.expm1(min(max(x, -LARGEST), LARGEST)),
    "exp2(x)": lambda x: exp(x * mp.ln2),
    "exp10(x)": lambda x: exp(x * mp.ln10),
    "log(x)": lambda x: real(mp.log(x)),
    "log1p(x)": lambda x: real(mp.log1p(x)),
    "log2(x)": lambda x: real(mp.log(x)) / mp.ln2,
    "log10(x)": lambda x: real(mp.log(x)) / mp.ln10,
    "cbrt(x)": signed(lambda x: mp.root(x, 3)),
    "sqrt(x)": power(mpf(0.5)),
    "rsqrt(x)": power(mpf(-0.5)),
    "square(x)": power(2),
    "reciprocal(x)": power(-1),
    "x ** 2.5": power(mpf(2.5)),
    "x ** 0.0": lambda x: mpf(1),
    "x ** 1.0": lambda x: x,
    "0.5 ** x": lambda x: exp(-x * mp.ln2),
    "powm1(x, 2.5)": lambda x: real(x ** mpf(2.5)) - 1,
    "powm1(2.5, x)": lambda x: mp.expm1(min(max(x, -LARGEST), LARGEST) * mp.log(mpf(2.5))),
    "boxcox(x, 0.5)": lambda x: (real(mp.sqrt(x)) - 1) * 2,
    "inv_boxcox(x, 0.5)": lambda x: (1 + x / 2) ** 2 if x >= -2 else mp.nan,
    "inv_boxcox1p(x, 0.5)": lambda x: (1 + x / 2) ** 2 - 1 if x >= -2 else mp.nan,
    "inv_boxcox(0.5, x)": lambda x: exp(real(mp.log1p(x / 2)) / x) if x else mp.exp(0.5),
    "sin(x)": mp.sin,
    "tan(x)": mp.tan,
    "sindg(x)": degrees(mp.sin),
    "cosdg(x)": degrees(mp.cos),
    "tandg(x)": degrees(mp.tan),
    "cotdg(x)": degrees(mp.cot),
    "arcsin(x)": lambda x: real(mp.asin(x)),
    "arccos(x)": lambda x: real(mp.acos(x)),
    "arctan(x)": mp.atan,
    "arctan2(1.0, x)": lambda x: mp.atan2(1, x),
    "sinh(x)": lambda x: (exp(x) - exp(-x)) / 2,
    "cosh(x)": lambda x: (exp(x) + exp(-x)) / 2,
    "arcsinh(x)": signed(mp.asinh),
    "arccosh(x)": lambda x: real(mp.acosh(x)),
    "arctanh(x)": lambda x: real(mp.atanh(x)),
    "hypot(x, 1.0)": lambda x: mp.sqrt(x * x + 1),
    "sigmoid(x)": sigmoid,
    "softplus(x, 2.5)": lambda x: softplus(x * mpf(2.5)) / mpf(2.5),
    "logaddexp(x, 1.5)": lambda x: mpf(1.5) + softplus(x - mpf(1.5)),
    "log_sigmoid(x)": lambda x: -softplus(-x),
    "silu(x)": lambda x: x * sigmoid(x),
    "tf.nn.silu(x, 1.5)": lambda x: x * sigmoid(x * mpf(1.5)),
    "mish(x)": lambda x: x * tanh(softplus(x)),
    "gelu(x)": lambda x: x * normal(x),
    "gelu(x, 'tanh')": lambda x: x * sigmoid(2 * mp.sqrt(2 / mp.pi) * (x + mpf(0.044715) * x**3)),
    "elu(x, 1.7)": lambda x: x if x > 0 else mpf(1.7) * mp.expm1(max(x, -LARGEST)),
    "celu(x, 1.7)": lambda x: x if x > 0 else mpf(1.7) * mp.expm1(max(x / mpf(1.7), -LARGEST)),
    "softsign(x)": lambda x: x / (1 + abs(x)),
    "xlogy(2.5, x)": lambda x: mpf(2.5) * real(mp.log(x)),
    "log1mexp(x)": lambda x: real(mp.log(-mp.expm1(-min(x, LARGEST)))),
    "exprel(x)": lambda x: mp.expm1(min(max(x, -LARGEST), LARGEST)) / x if x else mpf(1),
    "tf.keras.losses.logcosh([0.0], x[:, None])": lambda x: (
        abs(x) + mp.log1p(mp.expm1(-2 * min(abs(x), LARGEST)) / 2)
    ),
    "sigmoid_cross_entropy_with_logits(0.25, x)": lambda x: softplus(x) - x / 4,
    "sigmoid_cross_entropy_with_logits(1.0, x)": lambda x: softplus(-x),
    "tf.math.squared_difference(x, 1.5)": lambda x: (x - mpf(1.5)) ** 2,
}
POINTS = [1e-300, 1e-154, 1e-16, 1e-5, 0.3, 5.0, 18.5, 40.0, 300.0, 1e3, 1e8, 1e16, 1e100, 1e154]
POINTS = [0.0, *[s * x for s in (1, -1) for x in [*POINTS, 1e300, np.nextafter(1, 0), 1 + 2**-52]]]
#: Less may be 0; of more, the last digit decides whether it is infinite.
TINY, HUGE = mpf(2) ** -1022, mpf(2) ** 1023


def derivatives(function, x):
    """The function and its first three derivatives at ``x``, as far as there are any."""
    step = min(abs(mpf(x)), 1) * mpf(10) ** -30 if x else mpf(10) ** -400
    with mp.workdps(1500 if abs(step) < mpf(10) ** -100 or abs(x) > 1e50 else 550):
        try:
            a, b, c, d, e = [function(mpf(x) + k * step) for k in (-2, -1, 0, 1, 2)]
        except (ValueError, ZeroDivisionError):
            return []
        if not mp.isfinite(a + b + c + d + e) or abs(c) > mpf(10) ** 10_000:
            return []
        slope = (a - 8 * b + 8 * d - e) / (12 * step)
        second = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * step * step)
        kink = x == 0 and (abs(d - 2 * c + b) > abs(d - b) / 1000 > 0 or abs(slope) > 1e100)
        third = (-a + 2 * b - 2 * d + e) / (2 * step**3)
        if x == 0 and abs((a - 2 * b + c) - (c - 2 * d + e)) > abs(a - 2 * b + c) / 1000:
            return [c] if kink else [c, slope]
        return [c] if kink else [c, slope, second, third]


def is_right(found, true, more, x):
    """Whether a number is the true one, rounded, or one for an argument next to ``x``."""
    if abs(true) > HUGE:
        return math.isinf(found) == (abs(true) > 2 * HUGE) and found * mp.sign(true) > 0
    error = abs(mpf(found) - true)
    return error <= TINY or error <= mpf(2) ** -44 * (abs(true) + abs(x * more))


@pytest.mark.parametrize("text", FUNCTIONS)
def test_derivatives_have_the_digits_that_their_condition_leaves(ask, text):
    program = f"y = {text}\nd = grad(sum(y), x)\ny, d, grad(sum(d), x)"
    found = [np.ravel(z) for z in ask.value(program, {"x": np.array([*POINTS, np.nan])})]
    wrong = []
    for i, x in enumerate(POINTS):
        true = derivatives(FUNCTIONS[text], x)
        for order, want in enumerate(true[:3]):
            more = true[order + 1] if order + 1 < len(true) else 0
            if not is_right(found[order][i], want, more, x):
                wrong.append((x, order, found[order][i], mp.nstr(want)))
    assert not wrong
    constant = text in ("x ** 0.0", "x ** 1.0")
    assert constant or np.isnan([found[0][-1], found[1][-1]]).all()
