"""Arithmetic, exponentials, trigonometry and complex numbers as in NumPy."""

from typing import Any

import numpy as np
import scipy.special

RNG = np.random.default_rng(1)
X = RNG.uniform(0.2, 0.9, (2, 3))
Y = RNG.uniform(1.2, 2.9, (3,))
T = 0.7
F = X.astype(np.float32)
N = np.array([3, -4, 5])
B = np.array([True, False, True])
Z = RNG.uniform(0.2, 0.9, (3,)) + 1j * RNG.uniform(0.2, 0.9, (3,))
S = RNG.uniform(-0.9, -0.2, (2, 3))

ARITHMETIC: list[Any] = [
    ("add", lambda x, y: (x + y, np.add(x, y), 1 + x, x + 1, np.add(x, 2.0)), X, Y),
    ("add", lambda x, y: x + y, F, np.float32(2.0)),
    ("add", lambda x, y: (x + 0.5, x + y, x + np.float64(1)), F, N),
    ("sub", lambda x, y: (x - y, np.subtract(y, x), 1 - x), X, Y),
    ("mul", lambda x, y: (x * y, np.multiply(x, y), 3 * x, x * True), X, Y),
    ("div", lambda x, y: (x / y, np.divide(y, x), 1 / x, np.true_divide(x, 2)), X, Y),
    ("div", lambda n: n / 2, N),
    ("neg", lambda x: (-x, np.negative(x), +x, np.positive(x)), X),
    ("pow", lambda x, y: (x**y, np.power(y, x), 2**x, np.float_power(x, y)), X, Y),
    ("pow", lambda n: (n**2, np.power(n, 3)), N),
    ("pow_const", lambda x: (x**2, x**0.5, x**-1.5, np.power(x, 3)), X),
    ("remainder", lambda x, y: (y % x, np.remainder(y, x), np.mod(-y, x), np.fmod(-y, x)), X, Y),
    ("remainder", lambda x, y: (divmod(y, x), np.divmod(y, x), 5 % y), X, Y),
    ("floor_divide (zero)", lambda x, y: (y // x, np.floor_divide(y, 0.4), 7 // y), X, Y),
    ("floor_divide (zero)", lambda n: (n // 2, n % 3), N),
    ("maximum", lambda x, s: np.maximum(x, -s), X, S),
    ("minimum", lambda x, s: np.minimum(x, -s), X, S),
    ("fmax", lambda x, s: np.fmax(x, -s), X, S),
    ("fmin", lambda x, s: np.fmin(x, -s), X, S),
    ("abs", lambda s: (abs(s), np.abs(s), np.absolute(s), np.fabs(s)), S),
    ("sign (zero)", lambda s: (np.sign(s), np.signbit(s)), S),
    ("floor/ceil/round (zero)", lambda y: (np.floor(y), np.ceil(y), np.trunc(y), np.rint(y)), Y),
    ("floor/ceil/round (zero)", lambda y: (np.round(y), np.round(y, 1), y.round(1)), Y),
    ("floor/ceil/round (zero)", lambda y: (y.round(), np.around(y, decimals=1), y.astype(int)), Y),
    ("clip", lambda x: (np.clip(x, 0.35, 0.6), x.clip(0.4), np.clip(x, None, 0.45)), X),
    ("clip", lambda x, y: (np.clip(x, y / 9, y), np.clip(x, min=0.35, max=0.45)), X, Y),
    ("copysign", np.copysign, X, S),
    ("where", lambda x, y: (np.where(x > 0.5, x, y), np.where(x > 0.5, 0, x**2)), X, Y),
    ("where", lambda x: np.where(x > 0.5), X),
    ("nan_to_num", lambda x: np.nan_to_num(np.where(x > 0.5, x, np.nan), nan=2.0), X),
    ("heaviside (zero)", lambda x: np.heaviside(x - 0.5, 0.5), X),
    ("comparison", lambda x, y: (x < y, x >= 0.5, x < 0.5, x != y, np.equal(x, x)), X, Y),
    ("comparison", lambda x: (np.isclose(x, x), np.isnan(x), np.isfinite(x), np.isinf(x)), X),
    ("comparison", lambda x: x if np.allclose(x, x) and not np.array_equal(x, 2 * x) else -x, X),
    ("comparison", lambda x: -x if np.array_equiv(x, x[:1]) or not np.any(x > 0.5) else x, X),
    ("logic", lambda b, c: (b & c, b | c, b ^ c, ~b, np.logical_not(b)), B, B[::-1]),
    ("logic", lambda b, c: (np.logical_and(b, c), np.logical_or(b, c), np.logical_xor(b, c)), B, B),
    ("integers", lambda n: (n << 1, n >> 1, n & 6, n | 1, np.invert(n), np.gcd(n, 6)), N),
    ("integers", lambda n: (abs(n), -n, n * 2.5, n + 1, n.astype(np.float32)), N),
    ("several", lambda y: (np.modf(y), np.frexp(y)), Y),
]
EXPONENTIAL = [
    ("arcsin", lambda x: (np.arcsin(x), np.asin(x)), X),
    ("arccos", lambda x: (np.arccos(x), np.acos(x)), X),
    ("arctan", lambda x: (np.arctan(x), np.atan(x)), X),
    ("arcsinh", lambda x: (np.arcsinh(x), np.asinh(x)), X),
    ("arccosh", lambda y: (np.arccosh(y), np.acosh(y)), Y),
    ("arctanh", lambda x: (np.arctanh(x), np.atanh(x)), X),
    ("arctan2", lambda x, y: (np.arctan2(x, y), np.atan2(x, y)), X, Y),
    ("deg2rad", lambda x: (np.deg2rad(x), np.radians(x), np.rad2deg(x), np.degrees(x)), X),
    ("exp", lambda f: (np.exp(f), np.exp(f) * 0.5, np.sqrt(f, dtype=np.float64)), F),
]
ACTIVATIONS = [
    ("softmax", lambda x: (scipy.special.softmax(x), scipy.special.softmax(x, axis=1)), X),
    ("log_softmax", lambda x: scipy.special.log_softmax(x, axis=-1), X),
    ("softplus", lambda x: np.logaddexp(0, x), X),
    ("relu", lambda x: np.maximum(x - 0.5, 0), X),
    (
        "huber / smooth l1",
        lambda x: (scipy.special.huber(0.5, x), scipy.special.pseudo_huber(0.5, x)),
        X,
    ),
]
COMPLEX: list[Any] = [
    ("real/imag/conj", lambda z: (np.real(z), np.imag(z), np.conj(z), z.real, z.imag), Z),
    ("real/imag/conj", lambda z: (z.conj(), z.conjugate(), np.iscomplex(z), np.isreal(z)), Z),
    ("real/imag/conj", lambda x: (x.real, np.conj(x), np.real(x)), X),
    ("complex mul/div", lambda z, y: (z * z, z / y, 2j * z, z - 1, y * 1j), Z, Y),
    ("complex abs/angle", lambda z: (np.abs(z), np.angle(z), np.angle(z, deg=True)), Z),
    ("complex exp/log/sqrt", lambda z: (np.exp(z), np.log(z), np.sqrt(z), np.sin(z)), Z),
    ("complex exp/log/sqrt", lambda z: (np.tanh(z), np.square(z), 1 / z), Z),
    ("complex pow", lambda z, y: (z**2, z**y, z ** (1 + 1j)), Z, Y),
    ("complex matmul", lambda z: (z @ z, np.outer(z, z) @ z, np.vdot(z, z)), Z),
    ("complex solve", lambda z: np.linalg.solve(np.outer(z, z) + 2 * np.eye(3), z), Z),
]

#: Functions of one array, and of two.
OF_ONE: tuple[Any, ...] = (
    np.reciprocal, np.square, np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2,
    np.log10, np.log1p, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.sinc,
    scipy.special.expit, scipy.special.logit, scipy.special.log_expit,
)  # fmt: skip
OF_TWO = (np.hypot, np.logaddexp, np.logaddexp2)
CASES: list[Any] = ARITHMETIC + EXPONENTIAL + ACTIVATIONS + COMPLEX
CASES += [(f.__name__, f, X) for f in OF_ONE] + [(f.__name__, f, X, Y) for f in OF_TWO]


def test_elementwise_functions_agree_with_numpy(case, check):
    _, f, *args = case
    check(f, *args)
