"""Patches of functions that do not dispatch: SciPy's, ``math``'s, and NumPy's array makers.

Of the libraries that have been imported, that is; none is imported here. For each function there is
another that records its call where an argument is a recorded array, see ``replaced``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial, update_wrapper
from types import ModuleType
from typing import Any, cast

import numpy as np

import gradwire.tracing.numpy_calls  # noqa: F401 - its tables name what is replaced here, later
from gradwire.tracing import literals
from gradwire.tracing.calls import record_call
from gradwire.tracing.patching import Binding, Patch
from gradwire.tracing.shapes import elementwise
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import Trace, current, not_traceable

#: Modules of SciPy whose public functions are recorded by their names.
SCIPY = (
    "scipy.linalg", "scipy.special", "scipy.fft", "scipy.signal", "scipy.integrate",
    "scipy.ndimage", "scipy.spatial.distance", "scipy.stats", "scipy.sparse", "scipy.sparse.linalg",
)  # fmt: skip
#: Their names in the language, if different.
RENAMED = {
    "math.pow": "np.power",
    "math.fabs": "np.fabs",
    "math.gamma": "scipy.special.gamma",
    "math.lgamma": "scipy.special.gammaln",
    "math.erf": "scipy.special.erf",
    "math.erfc": "scipy.special.erfc",
}
#: NumPy's functions of one array that are called with lists of numbers, which do not dispatch.
OF_LISTS = (
    "sum", "prod", "mean", "max", "min", "amax", "amin", "var", "std", "median", "average", "ptp",
    "any", "all", "argmax", "argmin", "sort", "argsort", "cumsum", "cumprod", "diff", "dot", "vdot",
    "inner", "outer", "kron", "cross", "trapezoid", "interp", "convolve", "polyval", "diag", "flip",
    "linalg.norm", "linalg.det", "linalg.inv", "linalg.solve", "linalg.eigvalsh", "linalg.cholesky",
)  # fmt: skip
#: Methods of distributions, which are objects of ``scipy.stats``.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {
    "rv_continuous": ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"),
    "rv_discrete": ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"),
}
#: Objects with methods of their own.
VECTOR_DISTRIBUTIONS = ("multivariate_normal", "dirichlet", "multinomial")


def loaded_patches() -> tuple[Patch, ...]:
    """The patches of the loaded libraries' modules."""
    loaded = tuple(sys.modules.get(name) for name in SCIPY)
    return _patches(loaded)


def substitute_of(value: Any) -> Any:
    """The substitute of a function that the user's code has by name, else ``None``."""
    try:
        return _by_original(tuple(sys.modules.get(name) for name in SCIPY)).get(value)
    except TypeError:  # not hashable, so none of ours
        return None


@cache
def _patches(loaded: tuple[ModuleType | None, ...]) -> tuple[Patch, ...]:
    found = [*_of_numpy(), *_of_math()]
    for home, module in zip(SCIPY, loaded, strict=True):
        if module is not None:
            found += _of_scipy(home, module)
    stats = loaded[SCIPY.index("scipy.stats")]
    if stats is not None:
        found += _of_distributions(stats)
    sparse = loaded[SCIPY.index("scipy.sparse")]
    if sparse is not None:
        found += _of_sparse(sparse)
    return tuple(found)


@cache
def _by_original(loaded: tuple[ModuleType | None, ...]) -> dict[Any, Any]:
    return {
        original: substitute
        for binding, original, substitute in _patches(loaded)
        if isinstance(binding.holder, ModuleType)
    }


def _of_numpy() -> Iterator[Patch]:
    for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"):
        original = getattr(np, name)
        yield Patch(Binding(np, name), original, _recording(original, _array))
    for path in OF_LISTS:
        holder, _, name = path.rpartition(".")
        module = getattr(np, holder) if holder else np
        original = getattr(module, name)
        yield Patch(Binding(module, name), original, _recording(original, _of_lists))
    yield Patch(Binding(np, "full"), np.full, _recording(np.full, _full))
    methods: list[tuple[type, str, Record]] = [
        (np.vectorize, "__call__", _vectorized),
        (type(np.r_).__mro__[1], "__getitem__", _joined),
    ]
    for kind, name, record in methods:
        original = getattr(kind, name)
        yield Patch(Binding(kind, name), original, _recording(original, record))


def _of_math() -> Iterator[Patch]:
    """Those of ``math`` that are ufuncs; ``floor`` and the like ask for integers themselves."""
    for name, original in vars(math).items():
        home = RENAMED.get(f"math.{name}", f"np.{name}")
        known = not home.startswith("np.") or isinstance(getattr(np, name, None), np.ufunc)
        if known and callable(original) and name not in ("floor", "ceil", "trunc"):
            record = _logarithm if name == "log" else partial(_written, home)
            yield Patch(Binding(math, name), original, _recording(original, record))


def _logarithm(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    x, *base = args
    return np.log(x) / np.log(base[0]) if base else np.log(x)


def _of_scipy(home: str, module: ModuleType) -> Iterator[Patch]:
    for name in getattr(module, "__all__", ()):
        original = getattr(module, name)
        if not callable(original) or isinstance(original, (type, np.ufunc)):
            continue
        if name in VECTOR_DISTRIBUTIONS or hasattr(original, "logcdf"):
            continue
        record = DECOMPOSITIONS.get(f"{home}.{name}", partial(_written, f"{home}.{name}"))
        yield Patch(Binding(module, name), original, _recording(original, record))


def _of_sparse(sparse: ModuleType) -> Iterator[Patch]:
    """Products of sparse matrices with recorded arrays."""
    for kind in sparse.csr_array.__mro__:  # what all formats have
        for name in ("__matmul__", "dot"):
            original = vars(kind).get(name)
            if original is not None:
                yield Patch(Binding(kind, name), original, _recording(original, _product))


def _of_distributions(stats: ModuleType) -> Iterator[Patch]:
    for base, methods in DISTRIBUTIONS.items():
        for method in methods:
            original = getattr(getattr(stats, base), method)
            substitute = _recording(original, partial(_of_distribution, method))
            yield Patch(Binding(getattr(stats, base), method), original, substitute)
    for name in VECTOR_DISTRIBUTIONS:
        kind = type(getattr(stats, name))
        for method in {"pdf", "logpdf", "pmf", "logpmf"} & set(vars(kind)):
            original = getattr(kind, method)
            substitute = _recording(original, partial(_of_vectors, f"{name}.{method}"))
            yield Patch(Binding(kind, method), original, substitute)


#: The ``copy`` argument of ``numpy.array`` for a copy only if needed.
_ONLY_IF_NEEDED = (None, False, np._CopyMode.IF_NEEDED, np._CopyMode.NEVER)

Record = Callable[[Trace, Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]


def _recording(original: Callable[..., Any], record: Record) -> Callable[..., Any]:
    """A function that records calls with recorded arrays, and otherwise calls the original."""

    def function(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is None or not _holds_tracer((*args, *kwargs.values())):
            return original(*args, **kwargs)
        return record(trace, original, args, kwargs)

    return update_wrapper(function, original)


def _written(
    name: str,
    trace: Trace,
    original: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    return record_call(trace, name, original, args, kwargs)


def _array(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """``np.array`` and the like: a copy, the array itself, or a list's rows stacked."""
    given, dtype = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
    made = _stacked(given)
    if dtype is not None and made.dtype != np.dtype(dtype):
        made = made.astype(dtype)
    copied = original.__name__ == "array" and kwargs.get("copy", True) not in _ONLY_IF_NEEDED
    in_order = original.__name__ in ("ascontiguousarray", "asfortranarray")
    return made.copy() if (copied or in_order) and made is given else made


def _of_lists(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """A function of NumPy that dispatches once lists among its arguments are arrays."""
    return original(
        *map(_stacked, args), **{name: _stacked(value) for name, value in kwargs.items()}
    )


def _stacked(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and _holds_tracer(value):
        stack = cast(Any, np.stack)
        rows = [_stacked(item) for item in value]
        shapes = {np.shape(row) for row in rows}
        if len(shapes) > 1:
            raise not_traceable(
                f"an array needs rows of one shape, got {sorted(shapes)}",
                "numpy.concatenate joins arrays of unequal lengths",
            )
        return stack(rows)
    return value


def _vectorized(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """``np.vectorize(f)(…)``: ``f`` of each element."""
    function, *given = args
    if kwargs or function.signature is not None or function.excluded:
        raise not_traceable(
            "numpy.vectorize with a signature, excluded or named arguments cannot be recorded",
            "gradwire.vmap maps a function over an axis",
        )
    arrays: Any = np.broadcast_arrays(*given)
    flat = [array.reshape(-1) for array in arrays]
    each = [function.pyfunc(*[column[i] for column in flat]) for i in range(arrays[0].size)]
    if isinstance(each[0], tuple):
        return tuple(
            [_stacked(list(part)).reshape(arrays[0].shape) for part in zip(*each, strict=True)]
        )
    return _stacked(each).reshape(arrays[0].shape)


def _full(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    given = dict(zip(("shape", "fill_value", "dtype"), args, strict=False)) | dict(kwargs)
    value, dtype = given["fill_value"], given.get("dtype")
    if not isinstance(value, Tracer):  # like=x
        return original(*args, **kwargs)
    broadcast: Any = np.broadcast_to
    made = broadcast(value, given["shape"]).copy()
    return made if dtype is None else made.astype(dtype)


def _joined(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The arrays that ``np.r_[…]`` and ``np.c_[…]`` join."""
    joining, key = args
    items = key if isinstance(key, tuple) else (key,)
    if any(isinstance(item, str) for item in items):
        raise not_traceable(
            "numpy.r_ with axes as text cannot be recorded", "join with numpy.concatenate"
        )
    rows = [
        original(joining, item) if isinstance(item, slice) else np.atleast_1d(_stacked(item))
        for item in items
    ]
    if joining is np.c_:
        rows = [np.reshape(row, (-1, 1)) if np.ndim(row) == 1 else row for row in rows]
    return np.concatenate(rows, axis=-1 if joining is np.c_ else 0)


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
    name = "torch.cdist"
    return record_call(trace, name, original, (first, second), {"p": orders[metric]})


def _lambertw(
    trace: Trace, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Complex, also where the principal branch is real."""
    made = record_call(trace, "scipy.special.lambertw", original, args, kwargs)
    return Tracer(Term("np.astype", (made._term, "complex128")), trace, made.aval)


DECOMPOSITIONS: dict[str, Record] = {
    "scipy.spatial.distance.cdist": _cdist,
    "scipy.special.lambertw": _lambertw,
}


def _holds_tracer(values: Any) -> bool:
    for value in values:
        if isinstance(value, Tracer):
            return True
        if isinstance(value, (list, tuple)) and _holds_tracer(value):
            return True
    return False
