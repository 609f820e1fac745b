"""SciPy's ``fsolve`` and ``root`` of systems of equations, by MINPACK's steps in a loop.

Roots are differentiated by the implicit function theorem, in all that the functions read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gradwire.tracing.bodies import Nest, step_of
from gradwire.tracing.control import cond, scan, while_loop
from gradwire.tracing.linear_maps import arguments
from gradwire.tracing.tracer import term_of
from gradwire.tracing.traces import not_traceable, recording

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
_EPS = float(np.finfo(float).eps)
#: The gain over the predicted one from which a step is taken, is good, and is as predicted.
_TAKEN, _POOR, _GOOD = 1e-4, 0.1, 0.5
#: Options of MINPACK's ``hybr`` that are computed here.
_OPTIONS = frozenset({"xtol", "maxfev", "eps", "factor", "col_deriv"})
#: What an iteration carries.
_State = dict[str, Any]


class _System(NamedTuple):
    """Functions of a vector, and what MINPACK is told."""

    f: Callable[[Any], Any]
    jacobian: Callable[[Any], Any] | None
    xtol: float
    most: int
    relative_step: float
    factor: float

    def slopes(self, x: Any, y: Any) -> Any:
        """The matrix of derivatives: as given, or by forward differences."""
        if self.jacobian is not None:
            return self.jacobian(x)
        size = self.relative_step * np.abs(x)
        size = _np.where(size == 0, self.relative_step, size)
        _, moved = scan(lambda none, at: (none, self.f(at)), (), x + _np.diag(size))
        return _np.transpose((moved - y) / _np.expand_dims(size, 1))

    def evaluations(self, n: int) -> int:
        """Those that a matrix of derivatives takes."""
        return n if self.jacobian is None else 0


def _fsolve(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``fsolve``: a root near a point, or it with what is known of the search."""
    given = arguments(original, args, kwargs)
    if given["band"] is not None or given["diag"] is not None:
        raise not_traceable(
            "scipy.optimize.fsolve with band or diag cannot be recorded", "leave them out"
        )
    root, values = _found("fsolve", given, given["func"], given["fprime"])
    if not given["full_output"]:
        return root
    return root, {"fvec": values}, 1, "The solution converged."


def _root(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``root`` by ``hybr``, SciPy's default method."""
    given = arguments(original, args, kwargs)
    options: Mapping[str, Any] = given["options"] or {}
    if given["method"] != "hybr" or not _OPTIONS.issuperset(options):
        raise not_traceable(
            f"scipy.optimize.root with method={given['method']!r} and these options cannot be "
            "recorded",
            "leave out the method: hybr takes xtol, maxfev, eps, factor and col_deriv",
        )
    told = {"xtol": 1.49012e-8 if given["tol"] is None else given["tol"], "args": given["args"]}
    told |= {"x0": given["x0"], "maxfev": 0, "epsfcn": None, "factor": 100, "col_deriv": False}
    told |= {"epsfcn" if name == "eps" else name: value for name, value in options.items()}
    f, slopes = given["fun"], given["jac"] or None
    if slopes is True:
        f, slopes = (lambda *at: given["fun"](*at)[0]), (lambda *at: given["fun"](*at)[1])
    root, values = _found("root", told, f, slopes)
    result = vars(sys.modules["scipy.optimize"])["OptimizeResult"]
    return result(
        x=root, fun=values, success=True, status=1, message="The solution converged.", method="hybr"
    )  # fmt: skip


def _found(
    name: str, given: Mapping[str, Any], f: Callable[..., Any], slopes: Any
) -> tuple[Any, Any]:
    """A root, and the functions' values there."""
    extra = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    x0 = _np.reshape(_np.asarray(given["x0"]), (-1,)).astype(float)
    n = len(x0)

    def of(x: Any) -> Any:
        return _np.reshape(_np.asarray(f(x, *extra)), (-1,)).astype(float)

    def matrix(x: Any) -> Any:
        found = _np.asarray(slopes(x, *extra)).astype(float)
        return _np.transpose(found) if given["col_deriv"] else found

    y0 = of(x0)
    if len(y0) != n:
        raise TypeError(
            f"{name}: there is a mismatch between the input and output shape of the functions: "
            f"{n} numbers give {len(y0)} values"
        )
    most = given["maxfev"] or (200 if slopes is None else 100) * (n + 1)
    step = np.sqrt(max(given["epsfcn"] or _EPS, _EPS))
    system = _System(of, slopes and matrix, given["xtol"], most, step, given["factor"])
    end = while_loop(
        lambda at: at["status"] == 0, lambda at: _step(system, at), _begun(system, x0, y0)
    )
    converged = end["status"] == 1
    if recording().scope is None and not bool(converged):
        raise not_traceable(
            f"scipy.optimize.{name} does not converge here: what it gives has no derivative",
            "begin nearer to a root; without Gradwire SciPy says why",
        )
    root = implicit(of, _np.where(converged, end["x"], np.nan))
    return root, of(root)


def _begun(system: _System, x: Any, y: Any) -> _State:
    n, none = len(x), np.int64(0)
    zero = 0.0 * x[0]
    return {
        "x": x, "y": y, "matrix": _np.zeros((n, n)), "scale": 0 * x, "radius": zero, "size": zero,
        "successes": none, "failures": none, "slow": none, "slow_anew": none, "status": none,
        "count": np.int64(1), "anew": True | (x[0] == 0), "first": True | (x[0] == 0),
    }  # fmt: skip


def _step(system: _System, at: _State) -> _State:
    """Powell's step within a radius that the last gains allow, and Broyden's update.

    Source: Powell, A Hybrid Method for Nonlinear Equations (1970); Moré, Garbow and Hillstrom, User
    Guide for MINPACK-1 (1980), HYBRD.
    """
    where, norm = _np.where, np.linalg.norm
    x, y, anew, first, n = at["x"], at["y"], at["anew"], at["first"], len(at["x"])
    matrix = cond(
        anew, lambda x, y, _: system.slopes(x, y), lambda *given: given[2], x, y, at["matrix"]
    )
    columns = norm(matrix, axis=0)
    begun = where(columns == 0, 1.0, columns)
    scale = where(first, begun, at["scale"])
    size = where(first, norm(scale * x), at["size"])
    radius = where(first, system.factor * where(size == 0, 1.0, size), at["radius"])
    scale = where(anew, np.maximum(scale, columns), scale)
    step = -_dogleg(matrix, scale, y, radius)
    length = norm(scale * step)
    radius = where(first, np.minimum(radius, length), radius)
    ahead = x + step
    y_ahead = system.f(ahead)
    before, after, expected = norm(y), norm(y_ahead), norm(y + matrix @ step)
    gain = where(after < before, 1 - (after / before) ** 2, -1.0)
    predicted = where(expected < before, 1 - (expected / before) ** 2, 0.0)
    ratio = where(predicted > 0, gain / where(predicted > 0, predicted, 1.0), 0.0)
    poor = ratio < _POOR
    successes = where(poor, 0, at["successes"] + 1)
    failures = where(poor, at["failures"] + 1, 0)
    wider = where((ratio >= _GOOD) | (successes > 1), np.maximum(radius, 2 * length), radius)
    wider = where(np.abs(ratio - 1) <= _POOR, 2 * length, wider)
    radius = where(poor, radius / 2, wider)
    taken = ratio >= _TAKEN
    size = where(taken, norm(scale * ahead), size)
    slow = where(gain >= 1e-3, 0, at["slow"] + 1)
    slow_anew = where(gain >= 0.1, 0, at["slow_anew"] + where(anew, 1, 0))
    count = at["count"] + 1 + where(anew, system.evaluations(n), 0)
    left = where(taken, after, before)
    status = where(slow == 10, 5, where(slow_anew == 5, 4, 0))
    status = where(0.1 * np.maximum(0.1 * radius, length) <= _EPS * size, 3, status)
    status = where(count >= system.most, 2, status)
    status = where((radius <= system.xtol * size) | (left == 0), 1, status)
    missed = (y_ahead - y - matrix @ step) / where(length == 0, 1.0, length)
    turned = scale * (scale * step) / where(length == 0, 1.0, length)
    return {
        "x": where(taken, ahead, x), "y": where(taken, y_ahead, y),
        "matrix": matrix + _np.outer(missed, turned), "scale": scale, "radius": radius,
        "size": size, "successes": successes, "failures": failures, "slow": slow,
        "slow_anew": slow_anew, "status": status, "count": count, "anew": failures == 2,
        "first": first & ~first,
    }  # fmt: skip


def _dogleg(matrix: Any, scale: Any, y: Any, radius: Any) -> Any:
    """The minimum of ``‖matrix p - y‖`` within a radius, on Powell's way to it."""
    where, norm = _np.where, np.linalg.norm
    q, r = np.linalg.qr(matrix)
    diagonal, largest = _np.diag(r), np.max(np.abs(r), axis=0)
    least = _EPS * where(largest == 0, 1.0, largest)
    safe = r + _np.diag(where(diagonal == 0, least, 0.0))
    newton = np.linalg.solve(safe, q.T @ y)
    newton_size = norm(scale * newton)
    along = (matrix.T @ y) / scale
    slope = norm(along)
    downhill = along / where(slope == 0, 1.0, slope) / scale
    bend = norm(matrix @ downhill)
    lowest = where(slope == 0, 0.0, slope / where(bend == 0, 1.0, bend) ** 2)
    wide, far = newton_size == 0, slope == 0
    reach = radius / where(wide, 1.0, newton_size)
    part = where(lowest < radius, lowest / radius, 0.0)
    rest = norm(y) / where(far, 1.0, slope) * (norm(y) / where(wide, 1.0, newton_size)) * part
    rest = rest - reach * part**2
    rest = rest + np.sqrt(np.maximum((rest - reach) ** 2 + (1 - reach**2) * (1 - part**2), 0.0))
    between = reach * (1 - part**2) / where(rest == 0, 1.0, rest)
    weight = where(far, reach, where(lowest < radius, between, 0.0))
    bent = (1 - weight) * np.minimum(lowest, radius) * downhill + weight * newton
    return where(newton_size <= radius, newton, bent)


def implicit(f: Callable[[Any], Any], x: Any) -> Any:
    """The root ``x`` of ``f``, with the derivatives that the implicit function theorem gives it."""
    guess, nothing = Nest(x), Nest(())
    equation = step_of(f, [guess], guess)
    solver = step_of(lambda _, at: at, [nothing, guess], guess)
    return guess.read(term_of("custom_root", equation, guess.term, solver))


#: Records of functions of ``scipy.optimize``, given the original first.
EQUATIONS: dict[str, Callable[..., Any]] = {"fsolve": _fsolve, "root": _root}
