"""Substitutes of the functions of ``math`` and of SciPy, as calls of the same name."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from gradwire.tracing import literals, normal_vectors
from gradwire.tracing.calls import record_call
from gradwire.tracing.decided import matrix_function
from gradwire.tracing.integrators import record_odeint, record_quad, record_solve_ivp
from gradwire.tracing.recordable import holds_recorded
from gradwire.tracing.shapes import elementwise
from gradwire.tracing.substitutes import Method, Record, Substitute, reads_recorded, recording
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import Trace, not_traceable

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
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "rv_continuous": ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"),
    "rv_discrete": ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"),
}
#: Objects with methods of their own.
VECTOR_DISTRIBUTIONS = ("dirichlet", "multinomial")


def functions(home: str, module: ModuleType) -> Iterator[Substitute]:
    """The substitutes of a module's functions."""
    if module is math:
        yield from _of_math()
        return
    for name in getattr(module, "__all__", ()):
        original = vars(module).get(name)  # none, if it is imported only when it is asked for
        if not callable(original) or isinstance(original, (type, np.ufunc)):
            continue
        if any(hasattr(original, method) for method in ("logcdf", "logpdf", "logpmf")):
            continue
        record = DECOMPOSITIONS.get(f"{home}.{name}", partial(_written, f"{home}.{name}"))
        concerns = reads_recorded if home == "scipy.integrate" else holds_recorded
        yield original, recording(original, record, concerns)


def methods(home: str, module: ModuleType) -> Iterator[Method]:
    """The substitutes of methods of a module's classes."""
    if home == "scipy.stats":
        yield from _of_distributions(module)
    if home == "scipy.sparse":
        yield from _of_sparse(module)


def _of_math() -> Iterator[Substitute]:
    """Those of ``math`` that are ufuncs; ``floor`` and the like ask for integers themselves."""
    for name, original in vars(math).items():
        home = RENAMED.get(f"math.{name}", f"np.{name}")
        known = not home.startswith("np.") or isinstance(getattr(np, name, None), np.ufunc)
        if known and callable(original) and name not in ("floor", "ceil", "trunc"):
            record = _logarithm if name == "log" else partial(_written, home)
            yield original, recording(original, record)


def _logarithm(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    x, *base = args
    return np.log(x) / np.log(base[0]) if base else np.log(x)


def _of_sparse(sparse: ModuleType) -> Iterator[Method]:
    """Products of sparse matrices with recorded arrays."""
    for kind in vars(sparse)["csr_array"].__mro__:  # what all formats have
        for name in ("__matmul__", "dot"):
            original = vars(kind).get(name)
            if original is not None:
                yield kind, name, recording(original, _product)


def _of_distributions(stats: ModuleType) -> Iterator[Method]:
    for base, names in DISTRIBUTIONS.items():
        kind = vars(stats)[base]
        for name in names:
            yield kind, name, recording(vars(kind)[name], partial(_of_distribution, name))
    yield from normal_vectors.methods(vars(stats)["multivariate_normal"])
    for law in VECTOR_DISTRIBUTIONS:
        kind = type(vars(stats)[law])
        for name in {"pdf", "logpdf", "pmf", "logpmf"} & set(vars(kind)):
            yield kind, name, recording(vars(kind)[name], partial(_of_vectors, f"{law}.{name}"))


def _written(
    name: str,
    trace: Trace,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    return record_call(trace, name, original, args, kwargs)


def _product(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    matrix, other = args
    term = literals.call("@", (matrix, other), {}, lambda value: to_term(value, trace))
    stand_in = np.broadcast_to(np.ones((), matrix.dtype), matrix.shape)
    return Tracer(term, trace, infer=lambda: elementwise(np.matmul, (stand_in, other)))


def _of_distribution(
    method: str,
    trace: Trace,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    distribution, *given = args
    law = distribution.name
    if type(getattr(sys.modules["scipy.stats"], law, None)) is not type(distribution):
        raise not_traceable(
            f"{law} is not a distribution of scipy.stats",
            "compute it from NumPy's functions",
        )
    name = f"scipy.stats.{law}.{method}"
    return record_call(trace, name, partial(original, distribution), tuple(given), kwargs)


def _of_vectors(
    name: str,
    trace: Trace,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    distribution, *given = args
    return record_call(
        trace, f"scipy.stats.{name}", partial(original, distribution), tuple(given), kwargs
    )


def _cdist(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Distances of all pairs of rows."""
    given = dict(zip(("XA", "XB", "metric"), args, strict=False)) | dict(kwargs)
    first, second, metric = given["XA"], given["XB"], given.get("metric", "euclidean")
    if metric == "sqeuclidean":
        difference = first[:, None, :] - np.asarray(second)[None]
        return np.sum(difference * difference, axis=-1)
    orders = {"euclidean": 2, "cityblock": 1, "chebyshev": math.inf, "minkowski": given.get("p", 2)}
    if metric not in orders:
        raise not_traceable(
            f"cdist with the metric {metric!r} cannot be recorded",
            f"use one of {', '.join(orders)}",
        )
    return record_call(trace, "torch.cdist", original, (first, second), {"p": orders[metric]})


def _lambertw(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Complex, also where the principal branch is real."""
    made = record_call(trace, "scipy.special.lambertw", original, args, kwargs)
    return Tracer(Term("np.astype", (made._term, "complex128")), trace, made.aval)


DECOMPOSITIONS: dict[str, Record] = {
    "scipy.spatial.distance.cdist": _cdist,
    "scipy.special.lambertw": _lambertw,
    "scipy.linalg.sqrtm": partial(matrix_function, "scipy.linalg.sqrtm"),
    "scipy.linalg.logm": partial(matrix_function, "scipy.linalg.logm"),
    "scipy.integrate.odeint": record_odeint,
    "scipy.integrate.solve_ivp": record_solve_ivp,
    "scipy.integrate.quad": record_quad,
}
