"""Problems 1 to 35 of Moré, Garbow and Hillstrom, in their usual sizes.

Source: Testing Unconstrained Optimization Software, ACM Transactions on Mathematical Software 7
(1981), pp. 17-41.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.more_data import BARD, GAUSSIAN, KOWALIK_T, KOWALIK_Y, MEYER, OSBORNE_1, OSBORNE_2
from solvers.problems import Array, Problem


def _squares(
    name: str, text: str, start: Sequence[float], minima: Sequence[float], **further: Any
) -> Problem:
    """Residuals, which the last line of the text names ``r``."""
    return Problem(name=name, text=text, start=start, minima=minima, form="squares", **further)


def _numbers(first: int, last: int) -> Array:
    return np.arange(first, last + 1.0)


_TEN = _numbers(1, 10)
_ROSENBROCK = "r = [10*(x[1] - x[0]**2), 1 - x[0]]"
_WATSON = """s = sum(x * t**j, axis=1)
d = sum(j[1:] * x[1:] * t**(j[1:] - 1), axis=1)
r = concatenate([d - s**2 - 1, [x[0], x[1] - x[0]**2 - 1]])"""
_PENALTY_1 = "r = concatenate([sqrt(1e-5)*(x - 1), [sum(x**2) - 0.25]])"
_PENALTY_2 = """e = exp(x/10)
r = concatenate([
    [x[0] - 0.2],
    sqrt(1e-5)*(e[1:] + e[:-1] - y),
    sqrt(1e-5)*(e[1:] - exp(-0.1)),
    [sum(w*x**2) - 1],
])"""
_CHEBYQUAD = """z = 2*x - 1
before, now = 1 + 0*z, z
sums = [mean(now)]
for i in range(n - 1):
    before, now = now, 2*z*now - before
    sums += [mean(now)]
r = stack(sums) + c"""
_CHEBYQUAD_10 = [0.033, 0.155, 0.200, 0.383, 0.383, 0.529, 0.640, 0.714, 0.828, 0.925]
_MGH_17 = [0.3754, 1.9358, -1.4647, 0.012868, 0.022123]
_MGH_19 = [1.31, 0.4316, 0.6337, 0.5994, 0.7542, 0.9056, 1.3658, 4.8237, 2.3987, 4.5689, 5.6753]


def _watson(n: int, least: float) -> Problem:
    numbers = {"t": _numbers(1, 29)[:, None] / 29, "j": _numbers(0, n - 1)}
    return _squares(f"20 Watson, {n}", _WATSON, [0.0] * n, [least], fixed=numbers, at_start=30.0)


def _penalty_1(n: int, least: float, at_start: float) -> Problem:
    start = _numbers(1, n).tolist()
    return _squares(f"23 penalty I, {n}", _PENALTY_1, start, [least], at_start=at_start)


def _penalty_2(n: int, least: float, at_start: float) -> Problem:
    i = _numbers(2, n)
    fixed = {"y": np.exp(i / 10) + np.exp((i - 1) / 10), "w": _numbers(1, n)[::-1]}
    start = [0.5] * n
    return _squares(
        f"24 penalty II, {n}", _PENALTY_2, start, [least], fixed=fixed, at_start=at_start
    )


def _chebyquad(
    n: int, minima: Sequence[float], at_start: float | None = None, **further: Any
) -> Problem:
    # Minus the integral of the shifted Chebyshev polynomial: 0 for odd degrees, -1/(i² - 1) else.
    integrals = [0.0 if i % 2 else 1 / (i**2 - 1) for i in range(1, n + 1)]
    start = (_numbers(1, n) / (n + 1)).tolist()
    fixed = {"n": np.int64(n), "c": integrals}
    return _squares(
        f"35 Chebyquad, {n}",
        _CHEBYQUAD,
        start,
        minima,
        fixed=fixed,
        at_start=at_start,
        square=True,
        **further,
    )


_GRID = {"t": _TEN / 11, "h": 1 / 11}
_GRID_START = (_TEN / 11 * (_TEN / 11 - 1)).tolist()
_LINEAR = {"i": _numbers(1, 20), "j": _TEN}
_GULF = np.arange(1, 100) / 100
_FIFTH = np.arange(1, 21) / 5

PROBLEMS: Sequence[Problem] = (
    _squares("1 Rosenbrock", _ROSENBROCK, [-1.2, 1.0], [0.0], at_start=24.2, square=True),
    _squares(
        "2 Freudenstein and Roth",
        "r = [-13 + x[0] + ((5 - x[1])*x[1] - 2)*x[1], -29 + x[0] + ((x[1] + 1)*x[1] - 14)*x[1]]",
        [0.5, -2.0],
        [0.0, 48.9842536792],
        at_start=400.5,
        near=[5.1, 4.1],
        square=True,
    ),
    _squares(
        "3 Powell badly scaled",
        "r = [1e4*x[0]*x[1] - 1, exp(-x[0]) + exp(-x[1]) - 1.0001]",
        [0.0, 1.0],
        [0.0],
        at_start=1.13526171734838,
        near=[1.098e-5, 9.106],
        square=True,
    ),
    _squares(
        "4 Brown badly scaled",
        "r = [x[0] - 1e6, x[1] - 2e-6, x[0]*x[1] - 2]",
        [1.0, 1.0],
        [0.0],
        at_start=999998000003.0,
    ),
    _squares(
        "5 Beale",
        "r = y - x[0]*(1 - x[1]**i)",
        [1.0, 1.0],
        [0.0],
        fixed={"y": [1.5, 2.25, 2.625], "i": [1.0, 2.0, 3.0]},
        at_start=14.203125,
    ),
    _squares(
        "6 Jennrich and Sampson",
        "r = 2 + 2*i - (exp(i*x[0]) + exp(i*x[1]))",
        [0.3, 0.4],
        [124.362182355615],
        fixed={"i": _TEN},
        at_start=4171.306,
        near=[0.2578, 0.2578],
    ),
    _squares(
        "7 helical valley",
        """theta = arctan(x[1]/x[0])/(2*pi) + where(x[0] < 0, 0.5, 0.0)
r = [10*(x[2] - 10*theta), 10*(sqrt(x[0]**2 + x[1]**2) - 1), x[2]]""",
        [-1.0, 0.0, 0.0],
        [0.0],
        at_start=2500.0,
        square=True,
    ),
    _squares(
        "8 Bard",
        "r = y - (x[0] + u/(v*x[1] + w*x[2]))",
        [1.0, 1.0, 1.0],
        [8.21487730658e-3, 17.4286933333],
        fixed={
            "y": BARD,
            "u": _numbers(1, 15),
            "v": 16 - _numbers(1, 15),
            "w": np.minimum(_numbers(1, 15), 16 - _numbers(1, 15)),
        },
        at_start=41.6817,
    ),
    _squares(
        "9 Gaussian",
        "r = x[0]*exp(-x[1]*(t - x[2])**2/2) - y",
        [0.4, 1.0, 0.0],
        [1.12793276961912e-8],
        fixed={"y": GAUSSIAN, "t": (8 - _numbers(1, 15)) / 2},
        at_start=3.88810699116688e-6,
    ),
    _squares(
        "10 Meyer",
        "r = x[0]*exp(x[1]/(t + x[2])) - y",
        [0.02, 4000.0, 250.0],
        [87.9458551709729],
        fixed={"y": MEYER, "t": 45 + 5 * _numbers(1, 16)},
        at_start=1.69361e9,
        near=[0.0056096364710, 6181.3463463, 345.22363462],
    ),
    _squares(
        "11 Gulf research and development",
        "r = exp(-abs(y - x[1])**x[2]/x[0]) - t",
        [5.0, 2.5, 0.15],
        [0.0],
        fixed={"t": _GULF, "y": 25 + (-50 * np.log(_GULF)) ** (2 / 3)},
        at_start=12.11070582556949,
        near=[50.0, 25.0, 1.5],
    ),
    _squares(
        "12 Box three-dimensional",
        "r = exp(-t*x[0]) - exp(-t*x[1]) - x[2]*(exp(-t) - exp(-10*t))",
        [0.0, 10.0, 20.0],
        [0.0],
        fixed={"t": _TEN / 10},
        at_start=1031.15381060940,
    ),
    _squares(
        "13 Powell singular",
        """r = [
    x[0] + 10*x[1], sqrt(5)*(x[2] - x[3]), (x[1] - 2*x[2])**2, sqrt(10)*(x[0] - x[3])**2,
]""",
        [3.0, -1.0, 0.0, 1.0],
        [0.0],
        at_start=215.0,
        square=True,
    ),
    _squares(
        "14 Wood",
        """r = [
    10*(x[1] - x[0]**2), 1 - x[0], sqrt(90)*(x[3] - x[2]**2), 1 - x[2],
    sqrt(10)*(x[1] + x[3] - 2), (x[1] - x[3])/sqrt(10),
]""",
        [-3.0, -1.0, -3.0, -1.0],
        [0.0],
        at_start=19192.0,
    ),
    _squares(
        "15 Kowalik and Osborne",
        "r = y - x[0]*(u**2 + u*x[1])/(u**2 + u*x[2] + x[3])",
        [0.25, 0.39, 0.415, 0.39],
        [3.07505603849e-4, 1.02734304870e-3],
        fixed={"y": KOWALIK_Y, "u": KOWALIK_T},
        at_start=5.31317e-3,
        near=[0.1928, 0.1913, 0.1231, 0.1361],
    ),
    _squares(
        "16 Brown and Dennis",
        "r = (x[0] + t*x[1] - exp(t))**2 + (x[2] + x[3]*sin(t) - cos(t))**2",
        [25.0, 5.0, -5.0, -1.0],
        [85822.2016263],
        fixed={"t": _FIFTH},
        at_start=7926693.33699794,
        near=[-11.594, 13.2036, -0.4034, 0.2368],
    ),
    _squares(
        "17 Osborne 1",
        "r = y - (x[0] + x[1]*exp(-t*x[3]) + x[2]*exp(-t*x[4]))",
        [0.5, 1.5, -1.0, 0.01, 0.02],
        [5.46489469748e-5],
        fixed={"y": OSBORNE_1, "t": 10 * _numbers(0, 32)},
        at_start=0.87902576,
        near=_MGH_17,
    ),
    _squares(
        "18 Biggs EXP6",
        "r = x[2]*exp(-t*x[0]) - x[3]*exp(-t*x[1]) + x[5]*exp(-t*x[4]) - y",
        [1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 5.65564991721e-3],
        fixed={
            "t": (t := _numbers(1, 13) / 10),
            "y": np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t),
        },
        at_start=0.779070,
        near=[1.0, 10.0, 1.0, 5.0, 4.0, 3.0],
    ),
    _squares(
        "19 Osborne 2",
        """r = y - (
    x[0]*exp(-t*x[4]) + x[1]*exp(-(t - x[8])**2*x[5])
    + x[2]*exp(-(t - x[9])**2*x[6]) + x[3]*exp(-(t - x[10])**2*x[7])
)""",
        [1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5],
        [4.01377362935e-2],
        fixed={"y": OSBORNE_2, "t": _numbers(0, 64) / 10},
        at_start=2.09342,
        near=_MGH_19,
    ),
    _watson(6, 2.28767005355e-3),
    _watson(9, 1.39976013809e-6),
    _watson(12, 4.722381103e-10),
    _squares(
        "21 extended Rosenbrock, 10",
        "r = concatenate([10*(x[1::2] - x[::2]**2), 1 - x[::2]])",
        [-1.2, 1.0] * 5,
        [0.0],
        at_start=121.0,
        square=True,
    ),
    _squares(
        "22 extended Powell singular, 12",
        """a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
r = concatenate([a + 10*b, sqrt(5)*(c - d), (b - 2*c)**2, sqrt(10)*(a - d)**2])""",
        [3.0, -1.0, 0.0, 1.0] * 3,
        [0.0],
        at_start=645.0,
        square=True,
    ),
    _penalty_1(4, 2.24997750090e-5, 885.06264),
    _penalty_1(10, 7.08765146709e-5, 148032.56535),
    _penalty_2(4, 9.37629300735e-6, 2.34000880546302),
    _penalty_2(10, 2.93660537457e-4, 162.65277656596712),
    _squares(
        "25 variably dimensioned, 10",
        "s = sum(j*(x - 1))\nr = concatenate([x - 1, [s, s**2]])",
        (1 - _TEN / 10).tolist(),
        [0.0],
        fixed={"j": _TEN},
        at_start=2198551.1625,
    ),
    _squares(
        "26 trigonometric, 10",
        "r = n - sum(cos(x)) + i*(1 - cos(x)) - sin(x)",
        [0.1] * 10,
        [0.0, 2.79505612188e-5],
        fixed={"i": _TEN, "n": 10.0},
        at_start=0.00707575946622,
        near=[0.0] * 10,
        square=True,
    ),
    _squares(
        "27 Brown almost-linear, 10",
        "r = concatenate([x[:-1] + sum(x) - 11, [prod(x) - 1]])",
        [0.5] * 10,
        [0.0, 1.0],
        at_start=273.248047828674,
        square=True,
    ),
    _squares(
        "28 discrete boundary value, 10",
        """z = concatenate([[0.0], x, [0.0]])
r = 2*x - z[:-2] - z[2:] + h**2*(x + t + 1)**3/2""",
        _GRID_START,
        [0.0],
        fixed=_GRID,
        square=True,
    ),
    _squares(
        "29 discrete integral equation, 10",
        """f = (x + t + 1)**3
low, high = cumsum(t*f), sum((1 - t)*f) - cumsum((1 - t)*f)
r = x + h*((1 - t)*low + t*high)/2""",
        _GRID_START,
        [0.0],
        fixed=_GRID,
        square=True,
    ),
    _squares(
        "30 Broyden tridiagonal, 10",
        """z = concatenate([[0.0], x, [0.0]])
r = (3 - 2*x)*x - z[:-2] - 2*z[2:] + 1""",
        [-1.0] * 10,
        [0.0],
        at_start=21.0,
        square=True,
    ),
    _squares(
        "31 Broyden banded, 10",
        "r = x*(2 + 5*x**2) + 1 - band @ (x*(1 + x))",
        [-1.0] * 10,
        [0.0],
        fixed={"band": np.tri(10, k=1) - np.tri(10, k=-6) - np.eye(10)},
        at_start=360.0,
        square=True,
    ),
    _squares(
        "32 linear, full rank, 20 by 10",
        "s = 2*sum(x)/20\nr = concatenate([x - s - 1, zeros(10) - s - 1])",
        [1.0] * 10,
        [10.0],
        at_start=50.0,
    ),
    _squares(
        "33 linear, rank 1, 20 by 10",
        "r = i*sum(j*x) - 1",
        [1.0] * 10,
        [20 * 19 / (2 * 41)],
        fixed=_LINEAR,
        at_start=8658670.0,
    ),
    _squares(
        "34 linear, rank 1 with zero columns and rows, 20 by 10",
        """s = sum(j[1:-1]*x[1:-1])
r = concatenate([[-1.0], (i[1:-1] - 1)*s - 1, [-1.0]])""",
        [1.0] * 10,
        [(20**2 + 3 * 20 - 6) / (2 * 37)],
        fixed=_LINEAR,
        at_start=4067996.0,
    ),
    _chebyquad(8, [3.51687372568e-3], 0.0386176982859),
    _chebyquad(9, [0.0]),
    _chebyquad(10, [4.77271369637e-3, 6.50395480088e-3], near=_CHEBYQUAD_10),
)
