"""Problems of Hock and Schittkowski with two variables."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi, sqrt

from solvers.hock import hock
from solvers.problems import Problem, at_least_0, equal_0

_ROSENBROCK = "100*(x2 - x1**2)**2 + (1 - x1)**2"

PROBLEMS: Sequence[Problem] = (
    hock(1, _ROSENBROCK, [-2, 1], [0.0], low=[None, -1.5], at_start=909.0),
    hock(
        2, _ROSENBROCK, [-2, 1], [0.050426187893607, 4.941229318], low=[None, 1.5], near=[1.2, 1.5]
    ),
    hock(3, "x2 + 1e-5*(x2 - x1)**2", [10, 1], [0.0], low=[None, 0], at_start=1.00081),
    hock(4, "(x1 + 1)**3/3 + x2", [1.125, 0.125], [8 / 3], low=[1, 0], at_start=3.32356770833),
    hock(
        5,
        "sin(x1 + x2) + (x1 - x2)**2 - 1.5*x1 + 2.5*x2 + 1",
        [0, 0],
        [-sqrt(3) / 2 - pi / 3, 2 * pi / 3 - sqrt(3) / 2],
        low=[-1.5, -3],
        high=[4, 3],
        at_start=1.0,
    ),
    hock(6, "(1 - x1)**2", [-1.2, 1], [0.0], limits=equal_0("10*(x2 - x1**2)"), at_start=4.84),
    hock(
        7,
        "log(1 + x1**2) - x2",
        [2, 2],
        [-sqrt(3)],
        limits=equal_0("(1 + x1**2)**2 + x2**2 - 4"),
        at_start=log(5) - 2,
    ),
    hock(
        9,
        "sin(pi*x1/12)*cos(pi*x2/16)",
        [0, 0],
        [-0.5],
        limits=equal_0("4*x1 - 3*x2"),
        at_start=0.0,
    ),
    hock(
        10,
        "x1 - x2",
        [-10, 10],
        [-1.0],
        limits=at_least_0("-3*x1**2 + 2*x1*x2 - x2**2 + 1"),
        at_start=-20.0,
    ),
    hock(
        11,
        "(x1 - 5)**2 + x2**2 - 25",
        [4.9, 0.1],
        [-8.4984642231547],
        limits=at_least_0("x2 - x1**2"),
        at_start=-24.98,
    ),
    hock(
        12,
        "0.5*x1**2 + x2**2 - x1*x2 - 7*x1 - 7*x2",
        [0, 0],
        [-30.0],
        limits=at_least_0("25 - 4*x1**2 - x2**2"),
        at_start=0.0,
    ),
    hock(
        13,
        "(x1 - 2)**2 + x2**2",
        [-2, -2],
        [1.0],
        low=0.0,
        limits=at_least_0("(1 - x1)**3 - x2"),
    ),
    hock(
        14,
        "(x1 - 2)**2 + (x2 - 1)**2",
        [2, 2],
        [9 - 2.875 * sqrt(7)],
        limits=at_least_0("1 - x1**2/4 - x2**2") + equal_0("x1 - 2*x2 + 1"),
        at_start=1.0,
    ),
    hock(
        15,
        _ROSENBROCK,
        [-2, 1],
        [306.5, 360.3797672],
        high=[0.5, None],
        limits=at_least_0("x1*x2 - 1", "x1 + x2**2"),
        at_start=909.0,
        near=[0.5, 2.0],
    ),
    hock(
        16,
        _ROSENBROCK,
        [-2, 1],
        [0.25, 23.1446609407],
        low=[-0.5, None],
        high=[0.5, 1],
        limits=at_least_0("x1 + x2**2", "x1**2 + x2"),
        near=[0.5, 0.25],
    ),
    hock(
        17,
        _ROSENBROCK,
        [-2, 1],
        [1.0],
        low=[-0.5, None],
        high=[0.5, 1],
        limits=at_least_0("x2**2 - x1", "x1**2 - x2"),
    ),
    hock(
        18,
        "0.01*x1**2 + x2**2",
        [2, 2],
        [5.0],
        low=[2, 0],
        high=50.0,
        limits=at_least_0("x1*x2 - 25", "x1**2 + x2**2 - 25"),
        at_start=4.04,
    ),
    hock(
        19,
        "(x1 - 10)**3 + (x2 - 20)**3",
        [20.1, 5.84],
        [-6961.8138755802],
        low=[13, 0],
        high=100.0,
        limits=at_least_0("(x1 - 5)**2 + (x2 - 5)**2 - 100", "82.81 - (x1 - 6)**2 - (x2 - 5)**2"),
        at_start=-1808.858296,
    ),
    hock(
        20,
        _ROSENBROCK,
        [-2, 1],
        [81.5 - 25 * sqrt(3), 40.1987298108],
        low=[-0.5, None],
        high=[0.5, None],
        near=[0.5, 0.866],
        limits=at_least_0("x1 + x2**2", "x1**2 + x2", "x1**2 + x2**2 - 1"),
    ),
    hock(
        21,
        "0.01*x1**2 + x2**2 - 100",
        [-1, -1],
        [-99.96],
        low=[2, -50],
        high=50.0,
        limits=at_least_0("10*x1 - x2 - 10"),
    ),
    hock(
        22,
        "(x1 - 2)**2 + (x2 - 1)**2",
        [2, 2],
        [1.0],
        limits=at_least_0("2 - x1 - x2", "x2 - x1**2"),
        at_start=1.0,
    ),
    hock(
        23,
        "x1**2 + x2**2",
        [3, 1],
        [2.0],
        low=-50.0,
        high=50.0,
        limits=at_least_0(
            "x1 + x2 - 1", "x1**2 + x2**2 - 1", "9*x1**2 + x2**2 - 9", "x1**2 - x2", "x2**2 - x1"
        ),
        at_start=10.0,
    ),
    hock(
        24,
        "((x1 - 3)**2 - 9)*x2**3/(27*sqrt(3))",
        [1, 0.5],
        [-1.0],
        low=0.0,
        limits=at_least_0("x1/sqrt(3) - x2", "x1 + sqrt(3)*x2", "6 - x1 - sqrt(3)*x2"),
        at_start=-0.01336459,
    ),
)
