"""Whether a run's success is right, by what is published and by derivatives of JAX."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import lsq_linear

from solvers.formulas import Exact, function, violation
from solvers.problems import Array, Problem

#: A run's end: at a published minimum or root; at another stationary point; a success at neither; a
#: failure that is one; a failure at a published minimum; a request that was refused.
Verdict: TypeAlias = Literal["right", "elsewhere", "wrong", "failed", "missed", "refused"]
VERDICTS: tuple[Verdict, ...] = ("right", "elsewhere", "wrong", "failed", "missed", "refused")

#: How far a success may be from a minimum that it is at: a share of the minimum, and one of the
#: decrease from the start, up to a most unless this is a very small share.
_OF_MINIMUM, _OF_DECREASE, _MOST, _SMALL = 1e-5, 1e-6, 1e-7, 1e-12
#: The shares of this within which a failure has nothing left to find, and by which values may still
#: fall at another stationary point.
_FAILURE, _FALL = 1e-4, 1e-2
#: Certified digits of all parameters that a success, and a failure, has at a data set's solution.
_DIGITS, _FAILURE_DIGITS = 4.0, 6.0
#: How far values may be outside their limits, relative to these or 1.
_VIOLATED = 1e-6
#: The distance at which limits and bounds are active, and what may be left of the gradient.
_ACTIVE, _LEFT = 1e-5, 1e-4
#: Residuals at a root relative to those at the start or 1; or, where they are larger, how far the
#: root may still be away by Newton's step, relative to each element.
_ROOT, _LARGE_ROOT, _STEP = 1e-8, 1e-5, 1e-3
_NO_ROOT_LEFT = 1e-12

exact: Callable[[Problem], Exact] = cache(Exact)


def digits(x: Array, parameters: Array) -> float:
    """The certified digits of the worst parameter: ``-log10 |x - p| / |p|``, 0 to 11."""
    with np.errstate(all="ignore"):
        worst = np.max(np.abs(x - parameters) / np.abs(parameters))
    return 0.0 if not np.isfinite(worst) else float(np.clip(-np.log10(max(worst, 1e-11)), 0, 11))


def of_minimum(problem: Problem, x: Array, value: float, *, success: bool) -> Verdict:
    """The verdict on a least value, of residuals that of the sum of their squares."""
    outside = _violation(problem, x)
    if problem.parameters is not None:
        certified = digits(x, np.array(problem.parameters))
        at, exactly = certified >= _DIGITS, certified >= _FAILURE_DIGITS
    else:
        gaps = [abs(value - least) / _tolerance(problem, least) for least in problem.minima]
        at, exactly = min(gaps) <= 1, min(gaps) <= _FAILURE
    if not success:
        return "missed" if exactly and outside <= _VIOLATED * 1e-2 else "failed"
    if outside > _VIOLATED:
        return "wrong"
    if at:
        return "right"
    return "elsewhere" if _is_stationary(problem, x, value) else "wrong"


def of_root(problem: Problem, x: Array, *, success: bool) -> Verdict:
    """The verdict on a root."""
    residuals = exact(problem)("residuals", x)
    start = max(1.0, float(np.abs(exact(problem)("residuals", _start(problem))).max()))
    largest = float(np.abs(residuals).max())
    if not success:
        return "missed" if largest <= _NO_ROOT_LEFT * start else "failed"
    if largest <= _ROOT * start:
        return "right"
    if not largest <= _LARGE_ROOT * start:
        return "wrong"
    step = np.linalg.lstsq(exact(problem)("jacobian", x), residuals)[0]
    size = np.maximum(np.abs(x), _STEP * np.abs(x).max())
    return "right" if (np.abs(step) <= _STEP * size).all() else "wrong"


def _start(problem: Problem) -> Array:
    return np.clip(np.array(problem.start, np.float64), *problem.box)


def _tolerance(problem: Problem, value: float) -> float:
    """How far a value may be from this one to be the same; of regressions, relative alone."""
    of_value = _OF_MINIMUM * abs(value)
    if problem.parameters is not None:
        return of_value
    start = function(problem, problem.text, np)(_start(problem))
    first = float(start if problem.form == "least" else np.sum(start**2))
    decrease = abs(first - value)
    return of_value + max(min(_OF_DECREASE * decrease, _MOST), _SMALL * decrease)


def _violation(problem: Problem, x: Array) -> float:
    """The largest violation of a limit or bound, relative to it or 1."""
    low, high = problem.box
    found = [float(np.maximum(np.maximum(low - x, x - high), 0).max())]
    if problem.limits:
        with np.errstate(all="ignore"):
            values = [float(function(problem, each.text, np)(x)) for each in problem.limits]
        found += [
            violation(limit, value) / max(1.0, abs(limit.low or 0.0), abs(limit.high or 0.0))
            for limit, value in zip(problem.limits, values, strict=True)
        ]
    return float(np.max(found))


def _is_stationary(problem: Problem, x: Array, value: float) -> bool:
    if not np.isfinite(x).all():
        return False
    if problem.limits or problem.is_bounded:
        return _is_kkt(problem, x)
    least = _FALL * _tolerance(problem, value)
    if problem.form == "squares" and _gauss_newton(problem, x) <= least:
        return True
    return _newton(problem, x) <= least


def _gauss_newton(problem: Problem, x: Array) -> float:
    """The decrease that the linearised residuals promise: ``|J J⁺ r|²``."""
    residuals, jacobian = exact(problem)("residuals", x), exact(problem)("jacobian", x)
    if not (np.isfinite(jacobian).all() and np.isfinite(residuals).all()):
        return np.inf
    lengths = np.linalg.norm(jacobian, axis=0)
    u, sizes, _ = np.linalg.svd(jacobian / np.where(lengths > 0, lengths, 1), full_matrices=False)
    kept = u[:, sizes > 1e-12 * max(sizes.max(), 1e-300)]
    return float(np.sum((kept.T @ residuals) ** 2))


def _newton(problem: Problem, x: Array) -> float:
    """The decrease that the quadratic model promises: ``½ gᵀ |H|⁻¹ g``."""
    gradient, hessian = exact(problem)("gradient", x), exact(problem)("hessian", x)
    if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
        return np.inf
    size = np.maximum(np.abs(x), 1e-3 * max(np.abs(x).max(), 1e-300))
    curvatures, directions = np.linalg.eigh(hessian * np.outer(size, size))
    slopes = directions.T @ (gradient * size)
    least = 1e-14 * max(np.abs(curvatures).max(), 1e-300)
    return float(0.5 * np.sum(slopes**2 / np.maximum(np.abs(curvatures), least)))


def _is_kkt(problem: Problem, x: Array) -> bool:
    """Whether multipliers of the right signs leave nothing of the gradient."""
    gradient, (low, high) = exact(problem)("gradient", x), problem.box
    normals, least = [], []
    for sign, bound in ((1.0, low), (-1.0, high)):
        for k in np.flatnonzero(np.abs(x - bound) <= _ACTIVE * np.maximum(1.0, np.abs(bound))):
            if np.isfinite(bound[k]):
                normals.append(sign * np.eye(x.size)[k])
                least.append(0.0)
    if problem.limits:
        values, rows = exact(problem)("limits", x), exact(problem)("normals", x)
        for limit, value, row in zip(problem.limits, values, rows, strict=True):
            if limit.low == limit.high:
                normals.append(row)
                least.append(-np.inf)
                continue
            for sign, end in ((1.0, limit.low), (-1.0, limit.high)):
                if end is not None and abs(value - end) <= _ACTIVE * max(1.0, abs(end)):
                    normals.append(sign * row)
                    least.append(0.0)
    size = max(1.0, float(np.abs(gradient).max()))
    if not normals:
        return bool(np.abs(gradient).max() <= _LEFT * size)
    columns = np.array(normals).T
    lengths = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found = lsq_linear(columns / lengths, gradient / size, (least, np.inf), tol=1e-12)
    return bool(np.abs(found.fun).max() <= _LEFT)
