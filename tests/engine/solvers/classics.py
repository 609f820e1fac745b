"""Classic problems of optimisation: residuals by a program, and where a run starts.

Source: Moré, Garbow and Hillstrom (1981), Testing Unconstrained Optimization Software, ACM TOMS 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np


class Classic(NamedTuple):
    """Residuals ``r(x)``: the program computes them, with these data, and starts from ``start``."""

    text: str
    start: Any
    data: Mapping[str, Any] = MappingProxyType({})

    @property
    def is_square(self) -> bool:
        """True if there are as many residuals as elements of ``x``."""
        return self.text in _SQUARE


def _tenths(number: int) -> Any:
    return 0.1 * np.arange(1, number + 1)


def _joined(*residuals: str) -> str:
    return f"stack([{', '.join(residuals)}])"


def _chebyquad(number: int) -> str:
    lines = ["u = 2 * x - 1", "t0 = 0 * x + 1", "t1 = u"]
    lines += [f"t{i} = 2 * u * t{i - 1} - t{i - 2}" for i in range(2, number + 1)]
    integrals = [0.0 if i % 2 else -1.0 / (i * i - 1) for i in range(1, number + 1)]
    means = [f"mean(t{i}) - ({integrals[i - 1]!r})" for i in range(1, number + 1)]
    return "\n".join([*lines, _joined(*means)])


_BARD = np.array(
    [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.1, 4.39]
)
_KOWALIK = np.array(
    [0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246]
)
_OSBORNE = np.array(
    [
        *(0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751),
        *(0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490),
        *(0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406),
    ]
)
_GAUSSIAN = np.array([0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989])
_T = _tenths(13)
_NUMBERS = np.arange(1.0, 16.0)
_TRIDIAGONAL = (
    "below = concatenate([zeros(1), x[:-1]])\nabove = concatenate([x[1:], zeros(1)])\n"
    "(3 - 2 * x) * x - below - 2 * above + 1"
)
_DISCRETE = (
    "n = x.size\nh = 1 / (n + 1)\nt = arange(1, n + 1) * h\n"
    "below = concatenate([zeros(1), x[:-1]])\nabove = concatenate([x[1:], zeros(1)])\n"
    "2 * x - below - above + h**2 * (x + t + 1)**3 / 2"
)

CLASSICS: dict[str, Classic] = {
    "Rosenbrock": Classic(_joined("10 * (x[1] - x[0]**2)", "1 - x[0]"), [-1.2, 1.0]),
    "extended Rosenbrock": Classic(
        "concatenate([10 * (x[1::2] - x[::2]**2), 1 - x[::2]])", [-1.2, 1.0] * 4
    ),
    "Freudenstein and Roth": Classic(
        _joined(
            "-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1]",
            "-29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]",
        ),
        [0.5, -2.0],
    ),
    "Powell badly scaled": Classic(
        _joined("1e4 * x[0] * x[1] - 1", "exp(-x[0]) + exp(-x[1]) - 1.0001"), [0.0, 1.0]
    ),
    "Brown badly scaled": Classic(
        _joined("x[0] - 1e6", "x[1] - 2e-6", "x[0] * x[1] - 2"), [1.0, 1.0]
    ),
    "Beale": Classic("y - x[0] * (1 - x[1]**arange(1, 4))", [1.0, 1.0], {"y": [1.5, 2.25, 2.625]}),
    "Jennrich and Sampson": Classic(
        "2 + 2 * i - (exp(i * x[0]) + exp(i * x[1]))", [0.3, 0.4], {"i": np.arange(1.0, 11.0)}
    ),
    "helical valley": Classic(
        "turn = arctan2(x[1], x[0]) / (2 * pi)\n"
        + _joined("10 * (x[2] - 10 * turn)", "10 * (sqrt(x[0]**2 + x[1]**2) - 1)", "x[2]"),
        [-1.0, 0.1, 0.0],
    ),
    "Bard": Classic(
        "y - (x[0] + u / (v * x[1] + w * x[2]))",
        [1.0, 1.0, 1.0],
        {
            "y": _BARD,
            "u": _NUMBERS,
            "v": 16 - _NUMBERS,
            "w": np.minimum(_NUMBERS, 16 - _NUMBERS),
        },
    ),
    "Gaussian": Classic(
        "x[0] * exp(-x[1] * (t - x[2])**2 / 2) - y",
        [0.4, 1.0, 0.0],
        {"t": (8 - np.arange(1, 9)) / 2, "y": _GAUSSIAN},
    ),
    "Meyer": Classic(
        "log(x[0]) + x[1] / (t + x[2]) - y",
        [0.02, 4000.0, 250.0],
        {
            "t": 45 + 5.0 * np.arange(1, 17),
            "y": np.log(
                [
                    *(34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744),
                    *(8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872),
                ]
            ),
        },
    ),
    "box": Classic(
        "exp(-t * x[0]) - exp(-t * x[1]) - x[2] * (exp(-t) - exp(-10 * t))",
        [0.0, 10.0, 20.0],
        {"t": _tenths(10)},
    ),
    "Powell singular": Classic(
        _joined(
            "x[0] + 10 * x[1]",
            "sqrt(5) * (x[2] - x[3])",
            "(x[1] - 2 * x[2])**2",
            "sqrt(10) * (x[0] - x[3])**2",
        ),
        [3.0, -1.0, 0.0, 1.0],
    ),
    "extended Powell": Classic(
        "a = x.reshape(-1, 4).T\nconcatenate([a[0] + 10 * a[1], sqrt(5) * (a[2] - a[3]),"
        " (a[1] - 2 * a[2])**2, sqrt(10) * (a[0] - a[3])**2])",
        [3.0, -1.0, 0.0, 1.0] * 3,
    ),
    "Wood": Classic(
        _joined(
            "10 * (x[1] - x[0]**2)",
            "1 - x[0]",
            "sqrt(90) * (x[3] - x[2]**2)",
            "1 - x[2]",
            "sqrt(10) * (x[1] + x[3] - 2)",
            "(x[1] - x[3]) / sqrt(10)",
        ),
        [-3.0, -1.0, -3.0, -1.0],
    ),
    "Kowalik and Osborne": Classic(
        "y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])",
        [0.25, 0.39, 0.415, 0.39],
        {
            "y": _KOWALIK,
            "u": [4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625],
        },
    ),
    "Brown and Dennis": Classic(
        "(x[0] + t * x[1] - exp(t))**2 + (x[2] + x[3] * sin(t) - cos(t))**2",
        [25.0, 5.0, -5.0, -1.0],
        {"t": np.arange(1, 21) / 5},
    ),
    "Osborne 1": Classic(
        "y - (x[0] + x[1] * exp(-t * x[3]) + x[2] * exp(-t * x[4]))",
        [0.5, 1.5, -1.0, 0.01, 0.02],
        {"t": 10.0 * np.arange(33), "y": _OSBORNE},
    ),
    "Biggs": Classic(
        "x[2] * exp(-t * x[0]) - x[3] * exp(-t * x[1]) + x[5] * exp(-t * x[4]) - y",
        [1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
        {"t": _T, "y": np.exp(-_T) - 5 * np.exp(-10 * _T) + 3 * np.exp(-4 * _T)},
    ),
    "Watson": Classic(
        "j = arange(1, x.size)\npowers = t[:, newaxis]**(j - 1)\n"
        "concatenate([powers @ (j * x[1:]) - (t[:, newaxis]**arange(x.size) @ x)**2 - 1,"
        " x[:1], x[1:2] - x[:1]**2 - 1])",
        [0.0] * 6,
        {"t": np.arange(1, 30) / 29},
    ),
    "penalty 1": Classic(
        "concatenate([sqrt(1e-5) * (x - 1), [sum(x**2) - 0.25]])", [1.0, 2.0, 3.0, 4.0]
    ),
    "variably dimensioned": Classic(
        "s = sum(arange(1, x.size + 1) * (x - 1))\nconcatenate([x - 1, [s], [s**2]])",
        [0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0.0],
    ),
    "trigonometric": Classic(
        "n = x.size\nn - sum(cos(x)) + arange(1, n + 1) * (1 - cos(x)) - sin(x)", [0.125] * 8
    ),
    "Brown almost linear": Classic(
        "concatenate([x[:-1] + sum(x) - (x.size + 1), [prod(x) - 1]])", [0.5] * 7
    ),
    "discrete boundary value": Classic(_DISCRETE, [i / 11 * (i / 11 - 1) for i in range(1, 11)]),
    "Broyden tridiagonal": Classic(_TRIDIAGONAL, [-1.0] * 12),
    "Broyden tridiagonal of many": Classic(_TRIDIAGONAL, [-1.0] * 120),
    "linear of full rank": Classic(
        "concatenate([x - 2 * sum(x) / 14 - 1, zeros(7) - 2 * sum(x) / 14 - 1])", [1.0] * 7
    ),
    "Chebyquad": Classic(_chebyquad(6), [i / 7 for i in range(1, 7)]),
    "logistic regression": Classic(
        "sqrt(log1p(exp(-y * (a @ x))))",
        [0.0, 0.0, 0.0],
        {
            "a": np.random.default_rng(0).normal(size=(60, 3)),
            "y": np.sign(np.random.default_rng(1).normal(size=60)),
        },
    ),
}
_SQUARE = {
    CLASSICS[name].text
    for name in (
        *("Rosenbrock", "extended Rosenbrock", "Freudenstein and Roth", "Powell badly scaled"),
        *("helical valley", "Powell singular", "extended Powell", "trigonometric", "Chebyquad"),
        *("Brown almost linear", "discrete boundary value", "Broyden tridiagonal"),
    )
}
