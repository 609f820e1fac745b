"""SciPy's ``quad``, by adaptive Gauss-Kronrod quadrature in a loop of the program.

Its derivatives are those of the sum on the panels that the loop has found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tracing.bodies import Nest, applied, body_of
from gradwire.tracing.control import stop_gradient, while_loop
from gradwire.tracing.equations import implicit
from gradwire.tracing.integrators import as_tuple, known_arguments
from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.tracer import python_number, term_of
from gradwire.tracing.traces import not_traceable, recording

#: Where the first panels end. Some are short, as derivatives may have a logarithm at a limit of the
#: range that the function itself has not. Nearer to 0, perhaps infinity, powers might overflow.
ENDS = np.array(
    [0, *2.0 ** np.arange(-10, -4), *np.arange(1, 16) / 16, *1 - 2.0 ** -np.arange(5, 11), 1]
)
PANELS = len(ENDS) - 1
#: The panels that are added at most, unless ``limit`` is more.
MORE_PANELS = 184
#: The part of the tolerances that panels are divided for: derivatives are less exact at a kink.
AIM = 0.01
#: The exponent that an infinite range is transformed by, for tails that are powers.
TAIL = 2
_EPS = float(np.finfo(float).eps)
_HALF = [
    0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845,
    0.7808177265864169, 0.6794095682990244, 0.5627571346686047, 0.4333953941292472,
    0.2943928627014602, 0.1488743389816312,
]  # fmt: skip
_KRONROD = [
    0.011694638867371874, 0.032558162307964725, 0.054755896574352, 0.07503967481091996,
    0.0931254545836976, 0.10938715880229764, 0.12349197626206584, 0.13470921731147334,
    0.14277593857706009, 0.1477391049013385,
]  # fmt: skip
#: The points of a panel from 0 to 1, and their weights: of Kronrod's sum, and less those of Gauss'.
#: Source: Piessens and others, QUADPACK (1983), QK21.
POINTS = (np.array([*(-np.array(_HALF)), 0.0, *_HALF[::-1]]) + 1) / 2
WEIGHTS = np.array([*_KRONROD, 0.14944555400291690, *_KRONROD[::-1]]) / 2
DIFFERENCES = WEIGHTS.copy()
DIFFERENCES[1::2] -= np.polynomial.legendre.leggauss(10)[1] / 2
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def record_quad(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``scipy.integrate.quad``: the integral, and its estimated error.

    Raises: ``NotTraceable`` where the error is more than the tolerances allow. Inside a function
    of the program the integral is nan there.
    """
    given = known_arguments(original, args, kwargs, "func a b args epsabs epsrel")
    extra = as_tuple(given["args"])

    def f(t: Any) -> Any:
        return _number(given["func"](t, *extra))

    transformed = _transformed(f, given["a"], given["b"])
    most = PANELS + max(given["limit"], MORE_PANELS)
    places = np.arange(most)

    def goal(sums: Any) -> Any:
        return np.maximum(given["epsabs"], given["epsrel"] * np.abs(np.sum(sums)))

    def goes_on(at: dict[str, Any]) -> Any:
        return (np.sum(at["errors"]) > AIM * goal(at["sums"])) & (at["count"] < most) & at["finite"]

    def bisected(at: dict[str, Any]) -> dict[str, Any]:
        worst = np.argmax(at["errors"])
        width = at["widths"][worst] / 2
        begin = at["begins"][worst]
        begins, widths = _np.stack([begin, begin + width]), _np.stack([width, width])
        made = begins, widths, *_estimates(transformed, begins, widths)

        finite = np.isfinite(np.sum(made[3]))  # not so near to a singularity that it is met

        def placed(name: str, new: Any) -> Any:
            added = _np.where(places == at["count"], new[1], at[name])
            return _np.where(finite, _np.where(places == worst, new[0], added), at[name])

        names = "begins", "widths", "sums", "errors"
        moved = {name: placed(name, new) for name, new in zip(names, made, strict=True)}
        return moved | {"count": at["count"] + _np.where(finite, 1, 0), "finite": finite}

    first = ENDS[:-1], np.diff(ENDS)
    rest = np.zeros(most - PANELS)
    sums, errors = [_np.concatenate([found, rest]) for found in _estimates(transformed, *first)]
    begun = {
        "begins": np.concatenate([first[0], rest]),
        "widths": np.concatenate([first[1], rest + ENDS[1]]), "sums": sums, "errors": errors,
        "count": np.int64(PANELS), "finite": np.isfinite(np.sum(errors)),
    }  # fmt: skip
    end = stop_gradient(while_loop(goes_on, bisected, begun))
    value, error = np.sum(end["sums"]), np.sum(end["errors"])
    found = error <= goal(end["sums"])
    if recording().scope is None and not bool(found):
        raise not_traceable(
            "scipy.integrate.quad does not reach its tolerances here, or the integral diverges",
            "give a larger limit, epsabs or epsrel, or divide the range where the function is "
            "difficult",
        )
    widths = _np.where(places < end["count"], end["widths"], 0.0)  # the rest repeats the first

    def whole(integral: Any) -> Any:
        rows = _values(transformed, end["begins"], end["widths"])
        return integral - np.sum((rows @ WEIGHTS) * widths)

    return python_number(implicit(whole, _np.where(found, value, np.nan))), python_number(error)


def _transformed(f: Callable[[Any], Any], start: Any, end: Any) -> Callable[[Any], Any]:
    """A function whose integral from 0 to 1 is that of ``f`` between limits.

    It has weaker singularities at the ends than ``f``. An infinite limit is at 0.
    """
    signs = [
        0.0 if holds_recorded(bound) or not np.isinf(bound) else float(np.sign(bound))
        for bound in (start, end)
    ]
    if not any(signs):
        begin, length = _number(start), _number(end) - _number(start)
        return lambda x: f(begin + length * (x * x * (3 - 2 * x))) * length * (6 * x * (1 - x))

    def of_tail(x: Any) -> Any:
        ratio = (1 - x) / x
        u, slope = ratio**TAIL, TAIL * ratio ** (TAIL - 1) / (x * x)
        if all(signs):
            return (f(u) + f(-u)) * slope * ((signs[1] - signs[0]) / 2)
        if signs[1]:
            return f(_number(start) + signs[1] * u) * slope * signs[1]
        return f(_number(end) + signs[0] * u) * slope * -signs[0]

    return of_tail


def _values(f: Callable[[Any], Any], begins: Any, widths: Any) -> Any:
    """The values at the points of each panel, as rows."""
    points = _np.expand_dims(begins, 1) + _np.expand_dims(widths, 1) * POINTS
    nest = Nest(_np.reshape(points, (-1,)), rows=True)
    body, returned = body_of(f, [nest])
    mapped = term_of("vmap", body, in_axes=[0], out_axes=0)
    size = np.size(points)
    return _np.reshape(returned.read(applied(mapped, [nest.term]), (size,)), np.shape(points))


def _estimates(f: Callable[[Any], Any], begins: Any, widths: Any) -> tuple[Any, Any]:
    """The integrals of panels, and their estimated errors, as QUADPACK has them."""
    rows = _values(f, begins, widths)
    means = rows @ WEIGHTS
    error = np.abs(rows @ DIFFERENCES)
    spread = np.abs(rows - _np.expand_dims(means, 1)) @ WEIGHTS
    relative = error / _np.where(spread == 0, 1.0, spread)
    error = _np.where(spread == 0, error, spread * np.minimum(1.0, (200 * relative) ** 1.5))
    return means * widths, np.maximum(error, 50 * _EPS * (np.abs(rows) @ WEIGHTS)) * widths


def _number(value: Any) -> Any:
    return _np.reshape(_np.asarray(value), ()).astype(float)
