"""Functions to optimise, as SciPy has them as well."""

from typing import Any

import numpy as np

START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
#: Options of an optimisation that takes minutes.
LONG: dict[str, Any] = {"method": "adam", "options": {"maxiter": 10**7, "learning_rate": 1e-4}}
MANY = np.full(50, -1.0)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def decay(p, t, y):
    return p["height"] * np.exp(-p["rate"] * t) + p["floor"] - y
