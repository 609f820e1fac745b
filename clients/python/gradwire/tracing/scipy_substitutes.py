"""Substitutes of the functions of ``math`` and of SciPy, as calls of the same name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial, reduce
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from gradwire.tracing import normal_vectors, splines
from gradwire.tracing.calls import listed, record_call
from gradwire.tracing.filters import FILTERS
from gradwire.tracing.guarded import matrix_function
from gradwire.tracing.image_filters import IMAGE_FILTERS
from gradwire.tracing.integrators import record_odeint, record_solve_ivp
from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.number_classes import converted
from gradwire.tracing.quadrature import record_quad
from gradwire.tracing.raising import checked
from gradwire.tracing.roots import ROOTS
from gradwire.tracing.shapes import Aval, elementwise, stand_in
from gradwire.tracing.substitutes import (
    Method,
    Substitute,
    making,
    reads_recorded,
    substitute,
    substituted_method,
)
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, python_number, term_of
from gradwire.tracing.traces import not_traceable, recording

#: Their names in the language, if different.
RENAMED = {
    "math.pow": "np.power",
    "math.fabs": "np.fabs",
    "math.gamma": "scipy.special.gamma",
    "math.lgamma": "scipy.special.gammaln",
    "math.erf": "scipy.special.erf",
    "math.erfc": "scipy.special.erfc",
}
#: Methods of distributions, which are objects of ``scipy.stats``.
DISTRIBUTIONS = {
    "rv_continuous": {"pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"},
    "rv_discrete": {"pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"},
}
OF_VECTORS = {"pdf", "logpdf", "pmf", "logpmf"}


def functions(home: str, module: ModuleType) -> Iterator[Substitute]:
    """The substitutes of a module's functions."""
    if module is math:
        yield from _of_math()
        return
    if home == "scipy.interpolate":
        yield from splines.functions(module)
        return
    if home == "scipy.spatial":  # they call NumPy's, or do not take recorded arrays
        return
    if home == "scipy.optimize":  # all others fail by themselves, with a hint
        for name, record in ROOTS.items():
            found = vars(module)[name]
            yield found, substitute(found, partial(record, found), reads_recorded)
        return
    concerns = reads_recorded if home == "scipy.integrate" else holds_recorded
    for name in getattr(module, "__all__", ()):
        original = vars(module).get(name)  # none, if it is imported only when it is asked for
        if not callable(original) or isinstance(original, (type, np.ufunc)):
            continue
        if any(hasattr(original, method) for method in ("logcdf", "logpdf", "logpmf")):
            continue
        record = DECOMPOSITIONS.get(f"{home}.{name}", partial(record_call, f"{home}.{name}"))
        if home == "scipy.sparse" and name.startswith("is"):
            record = _is_sparse
        yield original, making(original, substitute(original, partial(record, original), concerns))


def methods(home: str, module: ModuleType) -> Iterator[Method]:
    """The substitutes of methods of a module's classes."""
    if home == "scipy.interpolate":
        yield from splines.methods(module)
    if home == "scipy.stats":
        yield from _of_distributions(module)
    if home == "scipy.spatial":  # given an object that is no array, Qhull ends the process
        for name in ("ConvexHull", "Delaunay", "HalfspaceIntersection", "Voronoi"):
            kind = vars(module)[name]
            yield substituted_method(kind, "__init__", partial(_refused, f"scipy.spatial.{name}"))
    if home == "scipy.sparse":  # products with recorded arrays
        for kind in vars(module)["csr_array"].__mro__:  # what all formats have
            for name in {"__matmul__", "dot"} & set(vars(kind)):
                yield substituted_method(kind, name, _product)


def _of_math() -> Iterator[Substitute]:
    """Those of ``math`` that are ufuncs; ``floor`` and the like ask for integers themselves."""
    for name, original in vars(math).items():
        home = RENAMED.get(f"math.{name}", f"np.{name}")
        known = not home.startswith("np.") or isinstance(getattr(np, name, None), np.ufunc)
        if known and callable(original) and name not in ("floor", "ceil", "trunc"):
            record = _OF_MATH.get(name, partial(record_call, home, original))
            convert = _as_is if name in ("gcd", "lcm") else _as_float
            yield original, substitute(original, partial(_number, record, original, convert))


def _number(
    record: Callable[..., Any],
    original: Callable[..., Any],
    convert: Callable[[Any], Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A function of ``math``: of Python numbers, with errors where NumPy's gives ``nan``."""
    given, named = map(convert, args), {name: convert(value) for name, value in kwargs.items()}
    made = record(*given, **named)
    numbers = tuple(map(python_number, listed(made)))
    return checked(numbers if isinstance(made, tuple) else numbers[0], original, args, kwargs)


def _as_is(value: Any) -> Any:
    return value


def _as_float(value: Any) -> Any:
    """An argument as ``float(x)``, unless it is a Python number."""
    if isinstance(value, Tracer):
        return converted(float, value)
    return float(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _logarithm(x: Any, base: Any = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _hypot(*coordinates: Any) -> Any:
    """The length of a vector of any number of coordinates."""
    return reduce(np.hypot, coordinates, 0.0)


def _remainder(x: Any, y: Any) -> Any:
    """The rest of ``x`` after the nearest multiple of ``y``, the even one of two."""
    whole, by = np.fabs(x), np.fabs(y)
    above = np.fmod(whole, by)
    below = by - above
    even = above - 2 * np.fmod(0.5 * (whole - above), by)
    nearest = np.where(above < below, above, np.where(above > below, -below, even))
    return np.copysign(1.0, x) * nearest


#: Functions of ``math`` that are no calls of the same name.
_OF_MATH: dict[str, Callable[..., Any]] = {
    "frexp": np.frexp,
    "hypot": _hypot,
    "log": _logarithm,
    "modf": np.modf,
    "remainder": _remainder,
}


def _of_distributions(stats: ModuleType) -> Iterator[Method]:
    yield from normal_vectors.methods(vars(stats)["multivariate_normal"])
    kinds = {vars(stats)[base]: names for base, names in DISTRIBUTIONS.items()}
    kinds |= {type(vars(stats)[law]): OF_VECTORS for law in ("dirichlet", "multinomial")}
    for kind, names in kinds.items():
        for name in names & vars(kind).keys():
            record = partial(_of_distribution, stats, name, vars(kind)[name])
            yield substituted_method(kind, name, record)


def _of_distribution(
    stats: ModuleType,
    method: str,
    original: Callable[..., Any],
    law: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    name = getattr(law, "name", type(law).__name__.removesuffix("_gen"))
    if type(getattr(stats, name, None)) is not type(law):
        raise not_traceable(
            f"{name} is not a distribution of scipy.stats", "compute it from NumPy's functions"
        )
    return record_call(f"scipy.stats.{name}.{method}", partial(original, law), *args, **kwargs)


def _is_sparse(original: Callable[..., Any], x: Any) -> bool:
    return False


def _decided_by(original: Callable[..., Any], matrix: Any, **kwargs: Any) -> Any:
    """The outcome of a test of a matrix, which is a guard."""
    return recording().decide(matrix._term, partial(original, **kwargs))


def _refused(name: str, *_: Any, **__: Any) -> NoReturn:
    raise not_traceable(f"{name} cannot be recorded", "compute it before, of plain arrays")


def _product(matrix: Any, other: Any) -> Any:
    like = stand_in(Aval(matrix.shape, matrix.dtype))
    return Tracer(term_of("@", matrix, other), infer=lambda: elementwise(np.matmul, (like, other)))


def _cdist(
    original: Callable[..., Any], XA: Any, XB: Any, metric: Any = "euclidean", *, p: Any = 2
) -> Any:
    """Distances of all pairs of rows."""
    if metric == "sqeuclidean":
        difference = XA[:, None, :] - np.asarray(XB)[None]
        return np.sum(difference * difference, axis=-1)
    orders = {"euclidean": 2, "cityblock": 1, "chebyshev": math.inf, "minkowski": p}
    if metric not in orders:
        raise not_traceable(
            f"cdist with the metric {metric!r} cannot be recorded",
            f"use one of {', '.join(orders)}",
        )
    return record_call("torch.cdist", original, XA, XB, p=orders[metric])


def _lambertw(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Complex, also where the principal branch is real."""
    made = record_call("scipy.special.lambertw", original, *args, **kwargs)
    return Tracer(Term("np.astype", (made._term, "complex128")), made.aval)


#: Records of functions that are more than a call of the same name, given the original first.
DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "scipy.spatial.distance.cdist": _cdist,
    "scipy.special.lambertw": _lambertw,
    "scipy.linalg.issymmetric": _decided_by,
    "scipy.linalg.ishermitian": _decided_by,
    "scipy.linalg.sqrtm": partial(matrix_function, "scipy.linalg.sqrtm"),
    "scipy.linalg.logm": partial(matrix_function, "scipy.linalg.logm"),
    **{f"scipy.signal.{name}": record for name, record in FILTERS.items()},
    **{f"scipy.ndimage.{name}": record for name, record in IMAGE_FILTERS.items()},
    "scipy.integrate.odeint": record_odeint,
    "scipy.integrate.solve_ivp": record_solve_ivp,
    "scipy.integrate.quad": record_quad,
}
