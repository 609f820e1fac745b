"""Solutions of differential equations that the service computes, and SciPy's integrators as such.

These agree with SciPy's to the tolerances that these ask for, which are at most 1.5e-8 here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from gradwire.bfloat16 import INEXACT
from gradwire.tracing.bodies import Nest, step_of
from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.tracing.traces import not_traceable

#: SciPy's default tolerances of ``odeint``.
TOLERANCE = 1.49012e-8
#: Steps from each time to the next.
STEPS = 10_000
#: The methods that stand in for those of ``solve_ivp``: where these are implicit, so are they.
METHODS = {
    **dict.fromkeys(("RK45", "RK23", "DOP853"), "dopri5"),
    **dict.fromkeys(("Radau", "BDF"), "rodas5p"),
    "LSODA": "auto",
}
#: Arguments that make it faster, or say more about how it went.
OF_NO_CONSEQUENCE = frozenset(
    "Dfun col_deriv ml mu mxhnil mxordn mxords ixpr printmessg h0 limit limlst maxp1 jac "
    "jac_sparsity lband uband first_step".split()
)
#: What else to do.
HINTS = {
    "events": "the time of one is gradwire.custom_root(lambda t: "
    "event(t, gradwire.odeint(f, y0, [t0, t])[-1]), guess)",
    "max_step": "give times in t_eval between which there is a step at least",
}
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
    given = known_arguments(original, args, kwargs, "func y0 t args rtol atol mxstep tfirst")
    slope = _slope(given["func"], as_tuple(given["args"]), time_first=given["tfirst"])
    tolerances = _tolerances(given["rtol"], given["atol"])
    return _solved(slope, given["y0"], given["t"], tolerances, "auto", given["mxstep"])


def record_solve_ivp(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``scipy.integrate.solve_ivp``: the solution at each time, as columns.

    Without times it is known where it begins and ends. With ``dense_output`` it is solved again for
    the times that it is asked for. ``success`` and ``status`` depend on the values, so that to ask
    for them computes these, and raises what they raise where no step is short enough.
    """
    from scipy import integrate  # noqa: PLC0415 - SciPy is loaded, if it is there
    from scipy.optimize import OptimizeResult  # noqa: PLC0415

    known = "fun t_span y0 method t_eval dense_output vectorized args rtol atol"
    given = known_arguments(original, args, kwargs, known)
    method = given["method"]
    classes = {getattr(integrate, name): name for name in METHODS}
    name = method if isinstance(method, str) else classes.get(method)
    if name not in METHODS:
        raise not_traceable(
            f"scipy.integrate.solve_ivp with method={method!r} cannot be recorded",
            f"use one of {', '.join(METHODS)}, or gradwire.odeint(f, y0, t)",
        )
    extra, function = as_tuple(given["args"]), given["fun"]

    def of_column(t: Any, y: Any, *args: Any) -> Any:
        return function(t, y[:, None], *args)

    slope = _slope(of_column if given["vectorized"] else function, extra, time_first=True)
    begin, end = (_np.reshape(bound, (1,)) for bound in given["t_span"])
    tolerances = _tolerances(given.get("rtol"), given.get("atol"))

    def at(times: Any) -> Any:
        """The solution at times, as columns."""
        every = _np.concatenate([begin, _np.asarray(times)])
        return _np.transpose(_solved(slope, given["y0"], every, tolerances, METHODS[name])[1:])

    def dense(t: Any) -> Any:
        """The solution at a time, or at several as columns."""
        times = _np.asarray(t)
        order = _np.argsort(times * _np.sign(end - begin)) if _np.ndim(times) else None
        if order is None:
            return at(_np.reshape(times, (1,)))[:, 0]
        return at(times[order])[:, _np.argsort(order)]

    times = given["t_eval"]
    if times is None:
        found = at(end)
        success = _np.all(_np.isfinite(found))
        first = _np.reshape(_np.asarray(given["y0"]), np.shape(found)[:1])
        times, found = _Ends(begin[0], end[0]), _Ends(first, found[:, 0])
    else:
        _check_times(given["t_span"], times)
        found = at(times)
        success = _np.all(_np.isfinite(found))
    return OptimizeResult(
        t=times, y=found, sol=dense if given["dense_output"] else None,
        t_events=None, y_events=None, status=_np.where(success, 0, -1), success=success,
        message="The solver successfully reached the end of the integration interval.",
    )  # fmt: skip


def _check_times(span: Any, times: Any) -> None:
    """Refuse what SciPy does, where it is known: times outside, or in another order."""
    if holds_recorded((span, times)):
        return
    begin, end = span
    along = (np.asarray(times, float) - begin) * np.sign(end - begin)
    if np.ndim(times) != 1 or (along < 0).any() or (along > abs(end - begin)).any():
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    if (np.diff(along) <= 0).any():
        raise ValueError("Values in `t_eval` are not properly sorted.")


class _Ends:
    """Values along a last axis that only SciPy's steps have: the first and the last are known."""

    def __init__(self, first: Any, last: Any) -> None:
        self._ends = {0: first, -1: last}

    def __getitem__(self, key: Any) -> Any:
        """A part with its ends, or one end."""
        first, last = self._ends[0], self._ends[-1]
        ndim, keys = np.ndim(first), key if isinstance(key, tuple) else (key,)
        if Ellipsis in keys:
            place = keys.index(Ellipsis)
            between = (slice(None),) * (ndim + 2 - len(keys))
            keys = (*keys[:place], *between, *keys[place + 1 :])
        if len(keys) <= ndim:
            return _Ends(first[keys], last[keys])
        *rest, step = keys
        if isinstance(step, int) and step in self._ends and len(rest) == ndim:
            end = self._ends[step]
            return end[tuple(rest)] if rest else end
        return self._refused()

    def __iter__(self) -> Any:
        """Parts with their ends."""
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        """The number of parts; that of steps is not known."""
        first = self._ends[0]
        if not np.ndim(first):
            self._refused()
        return int(np.shape(first)[0])

    def __getattr__(self, name: str) -> Any:
        """Nothing else is known."""
        return self._refused()

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise not_traceable(
            "scipy.integrate.solve_ivp without t_eval cannot be recorded but for the ends of "
            "the solution: SciPy chooses the times between",
            "give t_eval; y[:, -1] is the last value",
        )

    __array__ = __array_ufunc__ = __array_function__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __matmul__ = __rmatmul__ = _refused


def known_arguments(
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
        default = None if parameter is None else parameter.default
        ordinary = value is default or (type(value) is type(default) and value == default)
        if name not in names and (parameter is None or not ordinary):
            raise not_traceable(
                f"scipy.integrate.{original.__name__} with {name} cannot be recorded",
                HINTS.get(name, "leave it out, or use gradwire.odeint(f, y0, t)"),
            )
    return given


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Further arguments, of which one may be given as it is."""
    if args is None:
        return ()
    return args if isinstance(args, tuple) else (args,)


def _slope(function: Callable[..., Any], extra: tuple[Any, ...], *, time_first: bool) -> Any:
    def slope(y: Any, t: Any) -> Any:
        made = function(t, y, *extra) if time_first else function(y, t, *extra)
        return _np.reshape(_np.array(made), np.shape(y))

    return slope


def _solved(
    slope: Any,
    y0: Any,
    t: Any,
    tolerances: Mapping[str, Any],
    method: str,
    most_steps: int = 0,
) -> Any:
    initial = _np.atleast_1d(_np.array(y0))
    if initial.dtype.kind not in INEXACT:
        initial = initial.astype(float)
    options = {"method": method, "max_steps": max(most_steps, STEPS), "adjoint": False}
    return solution(slope, options | dict(tolerances), initial, _np.array(t))


def _tolerances(rtol: Any, atol: Any) -> dict[str, Any]:
    """One for all components, or one for each."""
    given = {"rtol": rtol, "atol": atol}
    return {
        name: TOLERANCE if value is None else np.minimum(value, TOLERANCE).tolist()
        for name, value in given.items()
    }
