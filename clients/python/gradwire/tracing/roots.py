"""SciPy's roots of functions of one number, by the same iterations, in a loop of the program.

They are differentiated by the implicit function theorem, in all that the function reads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire import hints
from gradwire.tracing.control import while_loop
from gradwire.tracing.equations import EQUATIONS, implicit
from gradwire.tracing.linear_maps import arguments
from gradwire.tracing.tracer import python_number
from gradwire.tracing.traces import not_traceable, recording

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: The relative step from one point to the second of the secant method.
_STEP = 1e-4
#: The state of an iteration.
_State = dict[str, Any]


def _bracketed(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``brentq``, ``brenth`` and ``bisect``: a root between two points of different signs."""
    given = arguments(original, args, kwargs)
    f = _scalar(given["f"], given["args"])
    a, b = _number(given["a"]), _number(given["b"])
    at_a, at_b = f(a), f(b)
    alike = np.sign(at_a) * np.sign(at_b) > 0
    if recording().scope is None and bool(alike):
        raise ValueError("f(a) and f(b) must have different signs")
    begin, step = (_bisecting if original.__name__ == "bisect" else _brent)(
        f, original.__name__, given["xtol"], given["rtol"]
    )
    exact = (at_a == 0) | (at_b == 0)
    ends = {"x": _np.where(at_a == 0, a, b), "done": exact | alike}
    found = _iterated(begin(a, b, at_a, at_b) | ends, step, given)
    return _result(f, _np.where(alike, np.nan, found), given, original)


def _brent(f: Any, name: str, xtol: Any, rtol: Any) -> tuple[Any, Any]:
    """Bisection, or a step of interpolation where that is safe.

    Source: Brent, Algorithms for Minimization without Derivatives (1973), chapter 4.
    """

    def begin(a: Any, b: Any, at_a: Any, at_b: Any) -> _State:
        zero = 0 * a * at_a
        return {"y": at_b, "x0": a, "y0": at_a, "xb": zero, "yb": zero, "s": zero, "s0": zero}

    def step(at: _State) -> _State:
        where, size = _np.where, np.abs
        x, y, x0, y0, xb, yb, s, s0 = (at[key] for key in "x y x0 y0 xb yb s s0".split())
        crossed = (y0 != 0) & (y != 0) & (np.signbit(y0) != np.signbit(y))
        xb, yb = where(crossed, x0, xb), where(crossed, y0, yb)
        s, s0 = where(crossed, x - x0, s), where(crossed, x - x0, s0)
        other = size(yb) < size(y)
        x0, x, xb = where(other, x, x0), where(other, xb, x), where(other, x, xb)
        y0, y, yb = where(other, y, y0), where(other, yb, y), where(other, y, yb)
        delta, half = (xtol + rtol * size(x)) / 2, (xb - x) / 2
        done = (y == 0) | (size(half) < delta)
        slope, slope_b = (y0 - y) / (x0 - x), (yb - y) / (xb - x)
        secant = -y * (x - x0) / (y - y0)
        if name == "brentq":
            curved = -y * (yb * slope_b - y0 * slope) / (slope_b * slope * (yb - y0))
        else:
            curved = -y * (yb - y0) / (yb * slope - y0 * slope_b)
        tried = where(x0 == xb, secant, curved)
        short = 2 * size(tried) < np.minimum(size(s0), 3 * size(half) - delta)
        taken = (size(s0) > delta) & (size(y) < size(y0)) & short
        s0, s = where(taken, s, half), where(taken, tried, half)
        moved = x + where(size(s) > delta, s, where(half > 0, delta, -delta))
        ahead = where(done, x, moved)
        return {
            "x": ahead, "y": f(ahead), "x0": x, "y0": y, "xb": xb, "yb": yb, "s": s, "s0": s0,
            "done": done,
        }  # fmt: skip

    return begin, step


def _bisecting(f: Any, name: str, xtol: Any, rtol: Any) -> tuple[Any, Any]:
    def begin(a: Any, b: Any, at_a: Any, at_b: Any) -> _State:
        return {"a": a, "y": at_a, "width": b - a}

    def step(at: _State) -> _State:
        width = at["width"] / 2
        middle = at["a"] + width
        y = f(middle)
        a = _np.where(np.signbit(y) == np.signbit(at["y"]), middle, at["a"])
        done = (y == 0) | (np.abs(width) < xtol + rtol * np.abs(middle))
        return {"a": a, "y": at["y"], "width": width, "x": middle, "done": done}

    return begin, step


def _newton(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``newton`` from one number: with derivatives, or the secant method."""
    given = arguments(original, args, kwargs)
    if np.ndim(given["x0"]) and np.size(given["x0"]) != 1:
        raise not_traceable(
            "scipy.optimize.newton from an array cannot be recorded",
            "gradwire.vmap maps it over numbers",
        )
    f, x0 = _scalar(given["func"], given["args"]), _number(given["x0"])
    tol, rtol = given["tol"], given["rtol"]

    def near(x: Any, other: Any) -> Any:
        return np.abs(x - other) <= tol + rtol * np.abs(other)

    if given["fprime"] is None:
        begun, step = _secant(f, x0, given["x1"], near)
    else:
        slope = _scalar(given["fprime"], given["args"])
        bend = given["fprime2"] and _scalar(given["fprime2"], given["args"])

        def step(at: _State) -> _State:
            x = at["x"]
            y, along = f(x), slope(x)
            moved = y / along
            if bend:
                more = moved * bend(x) / along / 2
                moved = _np.where(np.abs(more) < 1, moved / (1 - more), moved)
            ahead = _np.where(y == 0, x, x - moved)
            return {"x": ahead, "done": (y == 0) | near(ahead, x)}

        begun = {"x": x0, "done": False & (x0 == 0)}
    return _result(f, _iterated(begun, step, given), given, original)


def _secant(f: Any, x0: Any, x1: Any, near: Any) -> tuple[_State, Any]:
    if x1 is None:
        shifted = x0 * (1 + _STEP)
        x1 = shifted + _np.where(shifted >= 0, _STEP, -_STEP)
    x1 = _number(x1)
    y0, y1 = f(x0), f(x1)
    swapped = np.abs(y1) < np.abs(y0)
    pair = [_np.where(swapped, *each) for each in ((x1, x0), (x0, x1), (y1, y0), (y0, y1))]

    def step(at: _State) -> _State:
        where = _np.where
        x0, x1, y0, y1 = (at[key] for key in ("x0", "x1", "y0", "y1"))
        flat, small = y0 == y1, np.abs(y1) > np.abs(y0)
        by_0 = (-y0 / y1 * x1 + x0) / (1 - y0 / y1)
        by_1 = (-y1 / y0 * x0 + x1) / (1 - y1 / y0)
        x = where(flat, (x0 + x1) / 2, where(small, by_0, by_1))
        done = (flat & (x0 == x1)) | (~flat & near(x, x1))
        return {"x": x, "done": done, "x0": x1, "y0": y1, "x1": x, "y1": f(x)}

    begun = dict(zip(("x0", "x1", "y0", "y1"), (pair[0], pair[1], pair[2], pair[3]), strict=True))
    return begun | {"x": pair[1], "done": False & (y0 == 0)}, step


def _root_scalar(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``root_scalar`` by the methods above."""
    given = arguments(original, args, kwargs)
    method = given["method"]
    if method is None:
        method = "brentq" if given["bracket"] is not None else "newton"
    optimize = vars(sys.modules["scipy.optimize"])
    f, beside = given["f"], {"args": given["args"], "disp": False, "full_output": True}
    beside |= {name: given[name] for name in ("rtol", "maxiter") if given[name] is not None}
    if given["options"] or callable(given["fprime"]) != (given["fprime"] is not None):
        raise not_traceable(
            "scipy.optimize.root_scalar with options, or f that gives its derivative, cannot be "
            "recorded",
            "give xtol, rtol, maxiter and a function as fprime",
        )
    if method in ("brentq", "brenth", "bisect"):
        beside |= {} if given["xtol"] is None else {"xtol": given["xtol"]}
        return _bracketed(optimize[method], f, *given["bracket"], **beside)[1]
    if method in ("newton", "halley", "secant"):
        names = {"newton": ["fprime"], "halley": ["fprime", "fprime2"], "secant": ["x1"]}[method]
        if given["method"] is None:
            names = ["fprime", "fprime2", "x1"]
        beside |= {name: given[name] for name in names}
        beside |= {} if given["xtol"] is None else {"tol": given["xtol"]}
        return _newton(optimize["newton"], f, given["x0"], **beside)[1]
    raise not_traceable(
        f"scipy.optimize.root_scalar with method={method!r} cannot be recorded",
        "use brentq, brenth, bisect, newton, halley or secant",
    )


def _refused(original: Any, *args: Any, **kwargs: Any) -> Any:
    """Of minima by comparisons, whose steps do not move as the minimum does, and of code in C."""
    name = f"scipy.optimize.{original.__name__}"
    _, hint = hints.instead_of([name]) or ("", hints.RECORDED)
    raise not_traceable(f"{name} cannot be recorded", hint)


def _number(value: Any) -> Any:
    return _np.reshape(_np.asarray(value), ()).astype(float)


def _scalar(f: Callable[..., Any], args: Any) -> Callable[[Any], Any]:
    extra = args if isinstance(args, tuple) else (args,)
    return lambda x: _number(f(x, *extra))


def _iterated(begun: _State, step: Any, given: Mapping[str, Any]) -> Any:
    """The number at which the iteration ends.

    Raises: an error where it does not converge, also where SciPy gives what it has by then: that is
    no root, and has no derivative. Inside a function of the program the number is nan there.
    """
    many = int(given["maxiter"])

    def once(at: _State) -> _State:
        ahead = step(at)
        return {name: ahead.get(name, at["count"] + 1) for name in at}

    def goes_on(at: _State) -> Any:
        return ~at["done"] & (at["count"] < many)

    found: _State = while_loop(goes_on, once, begun | {"count": np.int64(0)})
    if recording().scope is None and not bool(found["done"]):
        raise RuntimeError(f"Failed to converge after {many} iterations.")
    return _np.where(found["done"], found["x"], np.nan)


def _result(f: Any, x: Any, given: Mapping[str, Any], original: Any) -> Any:
    root = implicit(f, x)
    root = root if original.__name__ == "newton" else python_number(root)  # as of code in C
    if not given["full_output"]:
        return root
    results = vars(sys.modules["scipy.optimize"])["RootResults"]
    return root, results(root, np.nan, np.nan, 0, original.__name__)


#: Records of functions of ``scipy.optimize``, given the original first.
ROOTS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("brentq", "brenth", "bisect"), _bracketed),
    **dict.fromkeys(
        "minimize_scalar fminbound brent golden bracket ridder toms748".split(),
        _refused,
    ),
    "newton": _newton,
    "root_scalar": _root_scalar,
    **EQUATIONS,
}
