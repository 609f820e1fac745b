"""Solutions of differential equations that the service computes, and SciPy's integrators as such.

These agree with SciPy's to the tolerances that these ask for, which are at most 1.5e-8 here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.bfloat16 import INEXACT
from gradwire.tracing.bodies import Nest, step_of
from gradwire.tracing.recordable import holds_recorded
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.tracing.traces import not_traceable

#: SciPy's default tolerances of ``odeint`` and ``quad``.
TOLERANCE = 1.49012e-8
#: Steps from each time to the next.
STEPS = 10_000
#: The end of the transformed axis, where 1 is infinity: what is beyond has less than TOLERANCE.
NEARLY_INFINITE = 1 - 1e-9
#: Methods of ``solve_ivp`` that are not for stiff equations.
EXPLICIT = ("RK45", "RK23", "DOP853", "LSODA")
#: Arguments that make it faster, or say more about how it went.
OF_NO_CONSEQUENCE = frozenset(
    "Dfun col_deriv ml mu mxhnil mxordn mxords ixpr printmessg h0 limit limlst maxp1 jac "
    "jac_sparsity lband uband first_step".split()
)
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def solution(f: Callable[..., Any], options: Mapping[str, Any], y0: Any, t: Any, *args: Any) -> Any:
    """``y`` at the times ``t``, stacked, where ``dy/dt = f(y, t, *args)`` and ``y(t[0]) = y0``."""
    t = t if isinstance(t, Tracer) else np.asarray(t)
    if np.ndim(t) != 1:
        raise not_traceable(
            f"times have one axis, got an array of shape {np.shape(t)}",
            "a solution is given at all times of an array that begins with that of y0",
        )
    y, times = Nest(y0), Nest(t)
    given = [Nest(arg) for arg in args]
    slope = step_of(f, [y, Nest(t, rows=True), *given], y)
    terms = [nest.term for nest in (y, times, *given)]
    return y.read(term_of("odeint", slope, *terms, **options), (len(times.leaves[0]),))


def record_odeint(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``scipy.integrate.odeint``: the solution at each time, as rows."""
    given = _given(original, args, kwargs, "func y0 t args rtol atol mxstep tfirst")
    slope = _slope(given["func"], _tuple(given["args"]), time_first=given["tfirst"])
    tolerances = _tolerances("odeint", given["rtol"], given["atol"])
    return _solved(slope, given["y0"], given["t"], tolerances, given["mxstep"])


def record_solve_ivp(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``scipy.integrate.solve_ivp`` at given times: the solution at each, as columns."""
    given = _given(original, args, kwargs, "fun t_span y0 method t_eval vectorized args rtol atol")
    if given["t_eval"] is None:
        raise not_traceable(
            "scipy.integrate.solve_ivp without t_eval cannot be recorded: it chooses the times",
            "give t_eval, or use gradwire.odeint(f, y0, t)",
        )
    if given["method"] not in EXPLICIT:
        raise not_traceable(
            f"scipy.integrate.solve_ivp with method={given['method']!r} cannot be recorded",
            f"use one of {', '.join(EXPLICIT)}, or gradwire.odeint(f, y0, t)",
        )
    slope = _slope(given["fun"], _tuple(given["args"]), time_first=True)
    times = given["t_eval"]
    all_times = _np.concatenate([_np.reshape(given["t_span"][0], (1,)), _np.asarray(times)])
    tolerances = _tolerances("solve_ivp", given.get("rtol"), given.get("atol"))
    rows = _solved(slope, given["y0"], all_times, tolerances)
    from scipy.optimize import OptimizeResult  # noqa: PLC0415 - SciPy is loaded, if it is there

    return OptimizeResult(
        t=times, y=_np.transpose(rows[1:]), sol=None, t_events=None, y_events=None, status=0,
        message="The solver successfully reached the end of the integration interval.",
        success=True,
    )  # fmt: skip


def record_quad(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``scipy.integrate.quad``: the integral, whose estimated error is not known (NaN)."""
    given = _given(original, args, kwargs, "func a b args epsabs epsrel")
    function, extra = given["func"], _tuple(given["args"])
    start, end = given["a"], given["b"]
    infinite = [not holds_recorded(bound) and bool(np.isinf(bound)) for bound in (start, end)]

    def slope(_: Any, u: Any) -> Any:
        if not any(infinite):
            return function(u, *extra)
        # x = u / (1 - u²) takes the open interval from -1 to 1 to all numbers
        within = 1 - u * u
        return function(u / within, *extra) * (1 + u * u) / (within * within)

    def place(bound: Any, is_infinite: bool) -> Any:
        if is_infinite:
            return np.sign(bound) * NEARLY_INFINITE
        if not any(infinite):
            return bound
        return 2 * bound / (1 + np.sqrt(1 + 4 * bound * bound))

    ends = [place(bound, known) for bound, known in zip((start, end), infinite, strict=True)]
    tolerances = _tolerances("quad", given["epsrel"], given["epsabs"])
    rows = _solved(lambda y, t: _np.reshape(slope(y, t), (1,)), 0.0, ends, tolerances)
    return rows[1, 0], np.nan


def _given(
    original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], known: str
) -> dict[str, Any]:
    """The arguments by name; others than the known ones must have their defaults."""
    signature = inspect.signature(original)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    given |= given.pop("options", {})
    names = {*known.split(), *OF_NO_CONSEQUENCE}
    for name, value in given.items():
        parameter = signature.parameters.get(name)
        if name not in names and (parameter is None or value is not parameter.default):
            raise not_traceable(
                f"scipy.integrate.{original.__name__} with {name} cannot be recorded",
                "leave it out, or use gradwire.odeint(f, y0, t)",
            )
    return given


def _tuple(args: Any) -> tuple[Any, ...]:
    if args is None:
        return ()
    return args if isinstance(args, tuple) else (args,)


def _slope(function: Callable[..., Any], extra: tuple[Any, ...], *, time_first: bool) -> Any:
    def slope(y: Any, t: Any) -> Any:
        made = function(t, y, *extra) if time_first else function(y, t, *extra)
        return _np.reshape(_np.array(made), np.shape(y))

    return slope


def _solved(
    slope: Any, y0: Any, t: Any, tolerances: Mapping[str, float], most_steps: int = 0
) -> Any:
    initial = _np.atleast_1d(_np.array(y0))
    if initial.dtype.kind not in INEXACT:
        initial = initial.astype(float)
    options = {"method": "dopri5", "max_steps": most_steps or STEPS, "adjoint": False}
    return solution(slope, options | dict(tolerances), initial, _np.array(t))


def _tolerances(function: str, rtol: Any, atol: Any) -> dict[str, float]:
    given = {"rtol": rtol, "atol": atol}
    for name, value in given.items():
        if np.ndim(value):
            raise not_traceable(
                f"scipy.integrate.{function} with {name} for each component cannot be recorded",
                "give one number for all",
            )
    return {
        name: TOLERANCE if value is None else min(float(value), TOLERANCE)
        for name, value in given.items()
    }
