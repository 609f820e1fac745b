"""Public functions that take arrays, recorded once: right for other values, or refused.

The arguments are found by trying: a function is tested in the first forms of a call that it takes.
"""

import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import gradwire
import numpy as np
import pytest

from tests.effort import some

#: Of equal types; what is positive, whole, equal, the first or the largest differs.
POINTS = [
    np.array(point, float)
    for point in (
        [1, 0.5, 2, -1], [1, 2, 3, -1], [4, 5.5, 6, 7], [-2, 3, -1, 0.25], [0.75, 3, 3, 1]
    )
]  # fmt: skip
MODULES = (
    "numpy numpy.linalg numpy.fft numpy.lib.scimath numpy.polynomial.polynomial scipy.special "
    "scipy.linalg scipy.fft scipy.signal scipy.stats scipy.ndimage scipy.interpolate "
    "scipy.integrate scipy.spatial.distance math operator builtins functools itertools statistics"
).split()
#: Those of the interpreter, of files and of the whole process, that fill nothing, or never end.
LEFT_OUT = frozenset(
    "input exit quit breakpoint exec eval compile copyright credits license __import__ globals "
    "locals vars dir id hash open print help set_workers set_global_backend register_backend "
    "save savetxt savez savez_compressed seterr seterrcall setbufsize set_printoptions test "
    "itertools.cycle itertools.count itertools.repeat statistics.repeat empty empty_like bootstrap "
    "monte_carlo_test permutation_test argpartition ndarray unique_values Polynomial "
    "float64 double "  # test_to_python.py
    # booleans have fewer bits there, orders and counts no fractions in SciPy, ends one sign
    "i0 softplus wofz kn yn bdtr bdtrc pdtrc geomspace "
    # what is in a triangle, a sign or a null space is any: their own tests look at products
    "cho_factor eigh polar svd".split()
)
#: Fits eighty times what scipy.stats.yeojohnson fits once.
LONG = {"scipy.stats.yeojohnson_normplot"}
#: Forms of a call, of a vector of four numbers.
FORMS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda f, x: f(x),
    lambda f, x: f(x, x[::-1] * 0.5 + 0.3),
    lambda f, x: f(x > 0.6),
    lambda f, x: f(x, x > 0.6),
    lambda f, x: f(x > 0.6, x),
    lambda f, x: f(x > 0.6, x, -x),
    lambda f, x: f(_whole(x)),
    lambda f, x: f(x, _whole(x) % 4),
    lambda f, x: f(_whole(x) % 4, x),
    lambda f, x: f(_rising(x), x),
    lambda f, x: f(_rising(x) + 0.05, _rising(x), x),
    lambda f, x: f(_matrix(x)),
    lambda f, x: f(_matrix(x), x),
    lambda f, x: f(_matrix(x), _matrix(x[::-1])),
    lambda f, x: f([x, x * 2]),
    lambda f, x: f(x[0], x[1]),
    lambda f, x: f(x, 2),
    lambda f, x: f(2, x),
    lambda f, x: f(np.abs(x) * 0.1 + 0.1, 1.5, 2.5),
    lambda f, x: f(lambda v: v * v, x),
)
#: Of a function's forms, so many are tested.
MOST_FORMS = 2


def _whole(x: Any) -> Any:
    return np.asarray(np.abs(x)).astype(int)


def _rising(x: Any) -> Any:
    return np.cumsum(np.abs(x) + 0.1)


def _matrix(x: Any) -> Any:
    return np.outer(x, x) * 0.1 + np.diag([1.0, 2.0, 3.0, 4.0]) + np.eye(4, k=1) * 0.2


def arrays(value: Any) -> list[Any]:
    """The arrays and numbers in a result."""
    if isinstance(value, (str, bytes, type(None))):
        return []
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, Iterator)):
        return [part for each in value for part in arrays(each)]
    return [value]


def first(made: Any) -> Any:
    return np.real(np.ravel(np.asarray(arrays(made)[0]) * 1.0)[0])


def arithmetic(made: Any, x: Any) -> Any:
    total = 0.0 * x[0]
    for i, part in enumerate(arrays(made)):
        flat = np.ravel(np.asarray(part) * 1.0)
        total += np.sum(np.real(flat) * np.cos(np.arange(flat.size) + i)) + np.sum(np.imag(flat))
    return total


def condition(made: Any, x: Any) -> Any:
    return np.sum(x) * 2 if first(made) > 0.9 else np.prod(x)


def loop(made: Any, x: Any) -> Any:
    rows = list(made)
    return functools.reduce(lambda t, row: t * 1.1 + arithmetic(row, x), rows, x[0]) * len(rows)


def length(made: Any, x: Any) -> Any:
    return np.sum(x) * sum(np.size(part) for part in arrays(made))


def whole(made: Any, x: Any) -> Any:
    return np.sum(x) * float(int(first(made) * 2 + 0.123))


USES = (arithmetic, condition, loop, length, whole)


def functions() -> Iterator[str]:
    for module in MODULES:
        for name, value in sorted(vars(importlib.import_module(module)).items()):
            public = not name.startswith("_") and LEFT_OUT.isdisjoint((name, f"{module}.{name}"))
            is_error = isinstance(value, type) and issubclass(value, BaseException)
            if public and callable(value) and not is_error:
                yield f"{module}.{name}"


def outcomes(f: Callable[[Any], Any]) -> list[Any] | None:
    """A function's values at the points, unless it takes no such arguments."""
    try:
        with np.errstate(all="ignore"):
            return [f(point.copy()) for point in POINTS]
    except Exception:  # noqa: BLE001 - any library's own
        return None


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in some([*functions()]) if name not in LONG])
def test_a_function_is_right_for_other_values_or_refused(name, client):
    module, _, attribute = name.rpartition(".")
    library = importlib.import_module(module)
    taken = 0
    for form in FORMS:
        if taken == MOST_FORMS:
            break

        def made(x: Any, form: Any = form) -> Any:
            return form(getattr(library, attribute), x)

        found = outcomes(partial(_parts, made))
        if found is None or not any(found):
            continue
        taken += 1
        uses = [use for use in USES if outcomes(partial(_used, [use], made)) is not None]
        tolerance = max(map(_tolerance, found))
        if uses and not agrees(partial(_used, uses, made), client, tolerance):
            for use in uses:
                agrees(partial(_used, [use], made), client, tolerance)


def _parts(made: Callable[[Any], Any], x: Any) -> list[Any]:
    return arrays(made(x))


def _used(uses: Sequence[Callable[[Any, Any], Any]], made: Callable[[Any], Any], x: Any) -> Any:
    return [use(made(x), x) for use in uses]


def _tolerance(parts: Sequence[Any]) -> float:
    """1e-9, or what results of fewer bits have."""
    dtypes = [np.asarray(part).dtype for part in parts]
    return max([1e-9] + [1e2 * float(np.finfo(each).eps) for each in dtypes if each.kind in "fc"])


def agrees(f: Callable[[Any], Any], client: gradwire.Client, tolerance: float) -> bool:
    """Compare a function, recorded once, at two points, and again; whether it can be recorded."""
    recorded = gradwire.function(f, client)
    for point in (POINTS[0], POINTS[3], POINTS[0]):
        try:
            found = recorded(point)
        except (gradwire.GradwireError, ValueError):  # int(nan), as Python has it
            return False
        with np.errstate(all="ignore"):
            expected = f(point.copy())
        if np.any(np.isnan(found) > np.isnan(expected)):  # outside of the domain of real numbers
            return False
        np.testing.assert_allclose(found, expected, tolerance, 1e-12, err_msg=str(point))
    return True
