"""Elementary functions of vectors: their errors against more digits, and special values."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples, share

pytest.importorskip("llvmlite")
special = pytest.importorskip("scipy.special")
mpmath = pytest.importorskip("mpmath")

import llvmlite.binding as llvm  # noqa: E402
from gradwire_engine.backends.llvm.compiler import _machine  # noqa: E402
from gradwire_engine.backends.llvm.functions.forms import (  # noqa: E402
    DOUBLES,
    SINGLES,
    VECTORS,
    Form,
)
from gradwire_engine.backends.llvm.functions.library import (  # noqa: E402
    NAMES,
    functions_text,
    operands,
)
from gradwire_engine.backends.llvm.functions.trigonometric import FAR, SINGLE_FAR  # noqa: E402

from tests.engine.backends.llvm.function_arrays import (  # noqa: E402
    ALL,
    SPECIAL,
    Compiled,
    arrays,
    dtype_of,
    held,
    of_all_exponents,
    of_moderate_size,
)

#: Units in the last place that a function of doubles may be off, and one of floats.
MOST_ULPS = {"double": 1.5, "float": 2.0}
OF_ONE = [name for name in NAMES if operands(name) == 1]


def _lgamma(x: Any) -> Any:
    return mpmath.re(mpmath.loggamma(x))


def _trigamma(x: Any) -> Any:
    return mpmath.polygamma(1, x)


def _erfcx(x: Any) -> Any:
    if x > 1e9:  # DLMF 7.12.1
        return (1 - 1 / (2 * x * x)) / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.exp(x * x) * mpmath.erfc(x)


#: Functions that mpmath has by other names, or not.
EXACT: dict[str, Callable[..., Any]] = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "erfcx": _erfcx,
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "lgamma": _lgamma,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
    "pow": mpmath.power,
}


def spacing(x: float, form: Form) -> float:
    """The unit in the last place of a number of a form."""
    return max(math.ulp(x) * 2.0**29, 2.0**-149) if form.single else math.ulp(x)


def precise(name: str) -> Any:
    """A context of as many bits as true values need, for some to reduce the largest arguments."""
    return mpmath.workprec(1400 if name in ("sin", "cos", "tan") else 250)


def truths(name: str, *xs: np.ndarray) -> list[Any]:
    """The true values."""
    exact = EXACT.get(name) or getattr(mpmath, name)
    with precise(name):
        return [
            exact(*map(mpmath.mpf, each)) for each in zip(*[x.tolist() for x in xs], strict=True)
        ]


def ulps(name: str, *xs: np.ndarray, true: Sequence[Any], of: Compiled) -> np.ndarray:
    """The errors of the values, in units in the last place of the true ones."""
    (form, _), found = of, arrays(name, of)(*xs)
    off = []
    with precise(name):
        for exact, z in zip(true, found, strict=True):
            with np.errstate(over="ignore"):
                nearest = dtype_of(form)(float(exact))
            if math.isinf(nearest) or not math.isfinite(z):
                off.append(0.0 if z == nearest else math.inf)
            else:
                off.append(float(abs(exact - mpmath.mpf(float(z))) / spacing(float(nearest), form)))
    return np.array(off)


def assert_near(name: str, *xs: np.ndarray, beside: bool = False) -> None:
    """Check a function in all forms, at numbers of its domain and perhaps those beside them."""
    for _, same_numbers in groupby(ALL, lambda of: of[0].single):
        forms = [*same_numbers]
        own = [held(x, forms[0][0]) for x in xs]
        if beside:
            own = [neighbours(x) for x in own]
        if operands(name) == 1:
            own = [domain(name, *own)]
        if not own[0].size:
            continue
        true = truths(name, *own)
        for of in forms:
            off = ulps(name, *own, true=true, of=of)
            at = int(np.argmax(off))
            assert off[at] <= MOST_ULPS[of[0].element], (of, [float(x[at]) for x in own])


def domain(name: str, x: np.ndarray) -> np.ndarray:
    """The elements of ``x`` for which the function has a finite argument."""
    most = {"exp": 746, "expm1": 746, "exp2": 1100, "sinh": 711, "cosh": 711, "erfc": 1e6}
    if name in most:
        return x[np.abs(x) < most[name]]
    if name in ("log", "log2", "log10", "lgamma", "digamma"):
        return np.abs(x[x != 0])
    if name == "acosh":
        return 1 + np.abs(x)
    if name in ("asin", "acos", "atanh"):
        return np.divide(1, x, out=x.copy(), where=np.abs(x) > 1)
    if name == "erfcx":
        return x[x > -26.6]
    return x[x > -1] if name == "log1p" else x


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF_ONE)
def test_errors_over_all_exponents(name):
    assert_near(name, of_all_exponents(share(4000)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", OF_ONE)
def test_errors_at_moderate_sizes(name):
    assert_near(name, of_moderate_size(share(3000)))


@pytest.mark.parametrize("name", OF_ONE)
@examples(200)
@given(x=st.floats(allow_nan=False, allow_infinity=False))
def test_error_at_any_number(name, x):
    assert_near(name, np.array([x]))


#: Functions of which NumPy or SciPy has doubles that are as good as exact beside floats.
IN_DOUBLES = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log1p", "log2")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "log10": np.log10,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asinh", "acosh", "atanh")},
    "erf": special.erf,
    "erfc": special.erfc,
}


@pytest.mark.parametrize("name", IN_DOUBLES)
def test_errors_of_floats_at_every_so_many_bits(name):
    bits = np.arange(0, 1 << 32, (1 << 32) // share(1_000_003), dtype=np.uint64)
    x = bits.astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        true = IN_DOUBLES[name](x.astype(np.float64))
        nearest = true.astype(np.float32)
    found = arrays(name, (SINGLES, ""))(x)
    finite = np.isfinite(nearest) & np.isfinite(found)
    assert_array_equal(found[~finite], nearest[~finite])
    off = np.abs(found[finite] - true[finite]) / np.spacing(np.abs(nearest[finite]))
    assert off.max() <= MOST_ULPS["float"], x[finite][off.argmax()]


def neighbours(xs: np.ndarray) -> np.ndarray:
    """The numbers, and those just below and above."""
    return np.concatenate([np.nextafter(xs, -np.inf), xs, np.nextafter(xs, np.inf)])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_errors_near_multiples_of_half_pi(name):
    rng = np.random.default_rng(2)
    far = rng.integers(-(1 << 20), 1 << 20, share(1500))
    quarters = np.concatenate([np.arange(-64, 65), far])
    with mpmath.workprec(300):
        xs = np.array([float(int(k) * mpmath.pi / 2) for k in quarters])
    assert_near(name, xs, beside=True)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_errors_where_another_reduction_begins(name):
    assert_near(name, np.array([FAR, -FAR, SINGLE_FAR, -SINGLE_FAR]), beside=True)
    far = of_all_exponents(share(4000))
    far = far[np.abs(far) >= FAR]
    expected = [getattr(math, name)(x) for x in far]
    assert_array_equal(arrays(name)(far), expected)


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("exp", [709.782712893384, -708.3964185322641, -745.1332191019411, -745.1332191019412]),
        ("exp", [math.log(2) / 2, -math.log(2) / 2, 709.782712893384, 2.0**-54, 2.0**-30]),
        ("expm1", [40.0, -40.0, 2.0**-54, -(2.0**-54), 709.782712893384, 0.3465735902799726]),
        ("log", [1.0, 0.5, 2.0, math.sqrt(0.5), math.sqrt(2), 2.2250738585072014e-308]),
        ("log1p", [1.0, -0.5, 2.0**-54, 2.0**54, -0.9999999999999999, 0.4142135623730951]),
        ("log1p", [-0.2928932188134524, 2.0**53, 2.0**-30, -(2.0**-30), 1e-5]),
        ("sinh", [1.0, -1.0, 710.4758600739439, 2.0**-30, 2.0**-54, 22.0, 709.782712893384]),
        ("cosh", [0.3465735902799726, 1.0, 710.4758600739439, -(2.0**-30), 22.0]),
        ("exp2", [0.5, -0.5, 1.5, 1023.9999999999999, -1022.0, -1074.5]),
        ("log2", [1.0, 0.5, 2.0, math.sqrt(0.5), math.sqrt(2), 2.2250738585072014e-308]),
        ("log10", [1.0, 10.0, 0.1, math.sqrt(0.5), math.sqrt(2), 1e300]),
        ("cbrt", [1.0, 2.0, 4.0, 8.0, 27.0, -0.125, 2.2250738585072014e-308, 1e-310]),
        ("asin", [0.5, -0.5, 0.9999999999999999, 2.0**-30, 0.49999]),
        ("acos", [0.5, -0.5, 0.9999999999999999, -0.9999999999999999, 2.0**-54]),
        ("atan", [0.41421356237309503, 2.414213562373095, -1.0, 2.0**-30, 2.0**60, 2.0**75]),
        ("asinh", [1 / 6, -1 / 6, 2.0**30, 2.0**31, -1.0, 1e300, 2.0**-30]),
        ("acosh", [1.0000000000000002, 2.0**30, 2.0**31, 1e300, 1.5]),
        ("atanh", [1 / 6, -1 / 6, 0.9999999999999999, -0.5, 2.0**-30]),
        ("erf", [1.0, -1.0, 0.5, 5.9, 6.0, 2.0**-30]),
        ("erfc", [0.75, -0.75, 0.5, 1.0, 26.5, 27.2, -6.0, 2.0**-54]),
        ("erfcx", [0.75, -1.0, -0.5, -26.6, 27.0, 2.0**50, 2.0**60, 2.0**-54]),
        ("lgamma", [0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 2.0**-54, 2.0**52]),
        ("digamma", [1.0, 1.4616321449683623, 1.5, 2.5, 3.5, 4.5, 2.0**-54, 2.0**52]),
        ("exp", [88.72283935546875, -87.33654022216797, -103.97207641601562, 2.0**-25]),
        ("exp2", [127.99999237060547, -126.0, -149.5]),
        ("expm1", [18.0, -18.0, 2.0**-25, -(2.0**-25), 88.72283935546875]),
        ("log1p", [2.0**-25, 2.0**25, 2.0**24, -0.9999999403953552]),
        ("sinh", [89.41598510742188, 88.72283935546875]),
        ("cosh", [89.41598510742188, 88.72283935546875]),
        ("asin", [2.0**-13, 0.9999999403953552]),
        ("atan", [2.0**-13, 2.0**30]),
        ("asinh", [2.0**13, 2.0**14, 1e38, 2.0**-13]),
        ("acosh", [2.0**13, 2.0**14, 1e38, 1.00000011920929]),
        ("erf", [3.9, 4.0]),
        ("erfc", [9.1, 10.05, 10.5, -4.0, 2.0**-25]),
        ("erfcx", [-9.38, -9.45, -9.5, 2.0**20, 2.0**30]),
        ("lgamma", [4.085003108497519e36, 2.0**100, 2.0**1000, 2.553e305, 2.0**23]),
        ("lgamma", [2.5599833278516383e305, 2.5563481638716906e305]),
        ("tanh", [0.625, -0.625, 19.0, 22.0, 355.0, 2.0**-30, 2.0**-54]),
    ],
)
def test_errors_where_forms_meet(name, edges):
    assert_near(name, np.array(edges), beside=True)
    rng = np.random.default_rng(3)
    around = np.repeat(edges, share(200)) * (1 + rng.normal(size=share(200) * len(edges)) * 1e-9)
    assert_near(name, around)


def of_all_pairs(name: str, values: Any) -> list[np.ndarray]:
    """All numbers of a list, for functions of two operands all pairs."""
    return [np.array(each) for each in zip(*product(values, repeat=operands(name)), strict=True)]


def reference(name: str, *xs: np.ndarray) -> np.ndarray:
    """SciPy's values of functions that C does not have, and the C library's of all others."""
    if name in ("erfcx", "digamma"):
        return np.asarray(getattr(special, name)(*xs))
    function = c_library(name)
    return np.array([function(*each) for each in zip(*xs, strict=True)])


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_those_of_c(name, of):
    xs = of_all_pairs(name, [*SPECIAL, -1.5, -745.0, 1025.0, -1075.0])
    xs = [held(x, of[0]) for x in xs]
    dtype = dtype_of(of[0])
    with np.errstate(over="ignore"):
        expected = reference(name, *[x.astype(float) for x in xs]).astype(dtype)
    found = arrays(name, of)(*xs)
    assert_array_equal(np.isnan(found), np.isnan(expected))
    assert_array_equal(np.isinf(found), np.isinf(expected))
    number, eps = ~np.isnan(expected), np.finfo(dtype)
    least = float(eps.smallest_subnormal) if of[0].single else 0
    assert_allclose(found[number], expected[number], rtol=float(9 * eps.eps), atol=least)
    assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))


def bounded_powers(rng: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all sizes, and exponents to which they are neither 0 nor infinite, mostly."""
    x = np.abs(of_all_exponents(count))
    with np.errstate(divide="ignore"):
        most = 745 / np.abs(np.log(x))
    return x, rng.uniform(-1, 1, count) * most


def test_errors_of_powers():
    rng = np.random.default_rng(7)
    x, y = bounded_powers(rng, share(6000))
    near = np.exp(rng.normal(size=x.size) * rng.choice([1e-8, 1e-3, 1.0], x.size))
    for base, exponent in [(x, y), (near, rng.normal(size=x.size) / np.log(near))]:
        assert_near("pow", base, exponent)


def test_powers_of_negative_numbers_and_whole_powers():
    rng = np.random.default_rng(8)
    whole = rng.integers(-40, 41, share(3000)).astype(float)
    x = rng.normal(size=whole.size) * 3
    assert_near("pow", x, whole)
    small = rng.integers(-9, 10, whole.size).astype(float)
    exponents = np.abs(whole) % 16
    for of in ALL:
        exact = small**exponents
        kept = held(exact, of[0]) == exact  # floats do not have all of these
        given_values = [held(each[kept], of[0]) for each in (small, exponents)]
        assert_array_equal(arrays("pow", of)(*given_values), exact[kept])


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_errors_of_two_operands(name):
    rng = np.random.default_rng(9)
    for draw in (of_all_exponents, of_moderate_size):
        x = draw(share(3000))
        assert_near(name, x, rng.permutation(x))
    x = of_all_exponents(share(1000))
    ratio = np.exp(rng.normal(size=x.size))
    ratio[np.abs(x) > 1e290] = 0.5
    assert_near(name, x, x * ratio)


@pytest.mark.parametrize("of", ALL)
def test_the_rest_of_a_division_is_exact(of):
    rng = np.random.default_rng(10)
    for draw in (of_all_exponents, of_moderate_size):
        x = held(draw(share(20000)), of[0])
        y = rng.permutation(x[x != 0])
        x = x[: y.size]
        expected = [math.fmod(*each) for each in zip(x, y, strict=True)]
        assert_array_equal(arrays("fmod", of)(x, y), expected)


def test_angles_of_very_unequal_numbers():
    y, x = np.array([2.0**-500, 2.0**-1070, 2.0**500]), np.array([2.0**501, 2.0**-100, 2.0**-501])
    assert_near("atan2", y, x)


def test_vectors_have_the_c_librarys_gamma_of_negative_numbers():
    x = -np.abs(of_moderate_size(share(2000)))
    assert_array_equal(arrays("lgamma")(x), reference("lgamma", x))


@cache
def exact_values(function: Callable[[Any], Any], x: tuple[float, ...]) -> np.ndarray:
    """The nearest doubles to a function's values."""
    with mpmath.workprec(200):
        return np.array([float(function(mpmath.mpf(each))) for each in x])


@pytest.mark.thorough
@pytest.mark.parametrize("of", ALL)
def test_negative_arguments_of_gamma(of):
    x = held(-np.abs(of_moderate_size(share(2000))), of[0])
    x = x[(x > -1e3) & (x < -1e-3) & (x % 1 != 0)]
    eps = float(np.finfo(x.dtype).eps)
    numbers = tuple(x.tolist())
    # near zeros of the sum its parts count
    true, positive = (
        exact_values(_lgamma, numbers),
        np.abs(exact_values(_lgamma, tuple((-x).tolist()))),
    )
    own = 3.0 if of[0].wide else 1.5  # vectors' are the C library's
    most = eps * (own * np.abs(true) + 0.5 + 0.1 * positive)
    assert np.all(np.abs(arrays("lgamma", of)(x) - true) <= most)
    true, slope = exact_values(mpmath.digamma, numbers), exact_values(_trigamma, numbers)
    # an argument that is rounded counts by the slope
    most = 1.8 * eps * (np.abs(true) + np.abs(slope) * np.abs(x % 1) + np.log(2 + np.abs(x)))
    assert np.all(np.abs(arrays("digamma", of)(x) - true) <= most)


@pytest.mark.thorough
def test_vectors_are_compiled_without_what_a_processor_lacks():
    module = llvm.parse_assembly(functions_text(["exp", "sin"], VECTORS))
    assert "zmm" not in _machine(without="avx512").emit_assembly(module)
    features = llvm.get_host_cpu_features()
    assert ("zmm" in _machine().emit_assembly(module)) == features.get("avx512f", False)


@pytest.mark.parametrize("name", NAMES)
def test_lanes_do_not_depend_on_each_other(name):
    rng = np.random.default_rng(4)
    values = np.concatenate([SPECIAL, of_all_exponents(200), of_moderate_size(200)])
    xs = [rng.permutation(values) for _ in range(operands(name))]
    found = arrays(name)(*xs)
    alone = [arrays(name)(*[x[k : k + 1] for x in xs]) for k in range(values.size)]
    assert found.tobytes() == np.concatenate(alone).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_vectors_have_the_same_bits(name):
    rng = np.random.default_rng(5)
    values = np.concatenate([SPECIAL, of_all_exponents(share(3000)), of_moderate_size(share(3000))])
    if name in ("sin", "cos", "tan"):  # beyond, vectors are computed by the C library
        values = values[np.abs(values) < FAR]
    if name == "lgamma":
        values = np.abs(values)
    xs = [rng.permutation(values) for _ in range(operands(name))]
    one, eight = arrays(name, (DOUBLES, ""))(*xs), arrays(name)(*xs)
    assert_array_equal(np.isnan(one), np.isnan(eight))
    number = ~np.isnan(one)
    assert one[number].tobytes() == eight[number].tobytes()


def c_library(name: str) -> Callable[..., float]:
    """The C library's function, whose special values are those of IEEE 754."""
    found = ctypes.CDLL(None)[name]
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * operands(name)
    return found
