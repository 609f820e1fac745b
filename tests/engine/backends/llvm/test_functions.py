"""Elementary functions of vectors: their errors against more digits, and special values."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples, share

pytest.importorskip("llvmlite")
mpmath = pytest.importorskip("mpmath")

from gradwire_engine.backends.llvm import functions  # noqa: E402
from gradwire_engine.backends.llvm.compiler import load_text  # noqa: E402

LANES = functions.LANES
#: Units in the last place that a vector function may be off.
MOST_ULPS = 1.5
WRITTEN = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")
BY_LANE = [name for name in functions.NAMES if name not in WRITTEN]
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324]
SPECIAL += [2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308]


@cache
def vectorised(name: str, operands: int = 1) -> Callable[..., np.ndarray]:
    """A function of whole arrays by machine code that goes over them by vectors."""
    vector, arguments = f"<{LANES} x double>", range(operands)
    given_types = ", ".join([vector] * operands)
    loads = [
        f"  %p{k} = getelementptr ptr, ptr %pointers, i64 {k}\n  %q{k} = load ptr, ptr %p{k}\n"
        f"  %a{k} = getelementptr double, ptr %q{k}, i64 %i\n"
        f"  %x{k} = load {vector}, ptr %a{k}, align 8\n"
        for k in arguments
    ]
    text = (
        f"declare {vector} @gw_{name}({given_types})\n"
        "define void @kernel(ptr %pointers, i64 %n) {\nentry:\n  br label %next\nnext:\n"
        f"  %i = phi i64 [ 0, %entry ], [ %j, %next ]\n{''.join(loads)}"
        f"  %z = call {vector} @gw_{name}({', '.join([f'{vector} %x{k}' for k in arguments])})\n"
        f"  %to = getelementptr ptr, ptr %pointers, i64 {operands}\n  %out = load ptr, ptr %to\n"
        "  %at = getelementptr double, ptr %out, i64 %i\n"
        f"  store {vector} %z, ptr %at, align 8\n  %j = add i64 %i, {LANES}\n"
        "  %more = icmp slt i64 %j, %n\n  br i1 %more, label %next, label %done\n"
        "done:\n  ret void\n}\n"
    )
    loaded = load_text(text)
    code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(loaded.address)

    def compute(*xs: np.ndarray) -> np.ndarray:
        if not xs[0].size:
            return np.empty(0)
        n = -(-xs[0].size // LANES) * LANES
        padded = [np.concatenate([x, np.repeat(x[-1:], n - x.size)]) for x in xs]
        z = np.empty(n)
        pointers = np.array([x.ctypes.data for x in [*padded, z]], np.uint64)
        assert loaded.address  # it lives as long as this function
        code(pointers.ctypes.data, n)
        return z[: xs[0].size]

    return compute


def ulps(name: str, xs: np.ndarray) -> np.ndarray:
    """How far the values are from the true ones, in units in the last place of these."""
    exact = getattr(mpmath, name)
    off = []
    with mpmath.workprec(1400 if name in ("sin", "cos") else 250):
        for x, z in zip(xs, vectorised(name)(xs), strict=True):
            true = exact(mpmath.mpf(float(x)))
            nearest = float(true)
            if math.isinf(nearest) or math.isinf(z):
                off.append(0.0 if z == nearest else math.inf)
            else:
                off.append(float(abs(true - mpmath.mpf(float(z))) / math.ulp(nearest)))
    return np.array(off)


def worst(name: str, xs: np.ndarray) -> tuple[float, float]:
    """The largest error, and where it is."""
    off = ulps(name, xs)
    at = int(np.argmax(off))
    return float(off[at]), float(xs[at])


def domain(name: str, x: np.ndarray) -> np.ndarray:
    """What of ``x`` the function has a finite argument for."""
    if name in ("exp", "expm1"):
        return x[np.abs(x) < 746]
    if name == "log":
        return np.abs(x[x != 0])
    return x[x > -1] if name == "log1p" else x


def of_all_exponents(count: int, seed: int = 0) -> np.ndarray:
    """Numbers of either sign with random digits, some of each exponent, subnormal ones too."""
    rng = np.random.default_rng(seed)
    exponents = rng.permutation(np.resize(np.arange(2047, dtype=np.uint64), count))
    digits = rng.integers(0, 1 << 52, count, dtype=np.uint64)
    signs = rng.integers(0, 2, count, dtype=np.uint64)
    return ((signs << np.uint64(63)) | (exponents << np.uint64(52)) | digits).view(np.float64)


def of_moderate_size(count: int, seed: int = 1) -> np.ndarray:
    """Numbers where functions are neither linear nor constant."""
    rng = np.random.default_rng(seed)
    near = rng.normal(size=count) * rng.choice([1e-3, 0.3, 1.0, 5.0, 40.0, 300.0], count)
    return np.concatenate([near, np.nextafter(near, np.inf)])


@pytest.mark.parametrize("name", WRITTEN)
def test_errors_over_all_exponents(name):
    off, at = worst(name, domain(name, of_all_exponents(share(8000))))
    assert off <= MOST_ULPS, at


@pytest.mark.parametrize("name", WRITTEN)
def test_errors_at_moderate_sizes(name):
    off, at = worst(name, domain(name, of_moderate_size(share(5000))))
    assert off <= MOST_ULPS, at


@pytest.mark.parametrize("name", WRITTEN)
@examples(400)
@given(x=st.floats(allow_nan=False, allow_infinity=False))
def test_error_at_any_number(name, x):
    xs = domain(name, np.array([x]))
    if xs.size:
        off, at = worst(name, xs)
        assert off <= MOST_ULPS, at


def neighbours(xs: np.ndarray) -> np.ndarray:
    """The numbers, and those just below and above."""
    return np.concatenate([np.nextafter(xs, -np.inf), xs, np.nextafter(xs, np.inf)])


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_errors_near_multiples_of_half_pi(name):
    rng = np.random.default_rng(2)
    far = rng.integers(-(1 << 20), 1 << 20, share(1500))
    quarters = np.concatenate([np.arange(-64, 65), far])
    with mpmath.workprec(300):
        xs = np.array([float(int(k) * mpmath.pi / 2) for k in quarters])
    off, at = worst(name, neighbours(xs))
    assert off <= MOST_ULPS, at


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_errors_where_another_reduction_begins(name):
    off, at = worst(name, neighbours(np.array([functions._FAR, -functions._FAR])))
    assert off <= MOST_ULPS, at
    far = of_all_exponents(share(4000))
    far = far[np.abs(far) >= functions._FAR]
    expected = [getattr(math, name)(x) for x in far]
    np.testing.assert_array_equal(vectorised(name)(far), expected)


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("exp", [709.782712893384, -708.3964185322641, -745.1332191019411, -745.1332191019412]),
        ("exp", [math.log(2) / 2, -math.log(2) / 2, 709.782712893384, 2.0**-54, 2.0**-30]),
        ("expm1", [40.0, -40.0, 2.0**-54, -(2.0**-54), 709.782712893384, 0.3465735902799726]),
        ("log", [1.0, 0.5, 2.0, math.sqrt(0.5), math.sqrt(2), 2.2250738585072014e-308]),
        ("log1p", [1.0, -0.5, 2.0**-54, 2.0**54, -0.9999999999999999, 0.4142135623730951]),
        ("log1p", [-0.2928932188134524, 2.0**53, 2.0**-30, -(2.0**-30), 1e-5]),
        ("tanh", [0.625, -0.625, 19.0, 22.0, 355.0, 2.0**-30, 2.0**-54]),
    ],
)
def test_errors_where_forms_meet(name, edges):
    near = neighbours(np.array(edges))
    rng = np.random.default_rng(3)
    around = np.repeat(edges, share(200)) * (1 + rng.normal(size=share(200) * len(edges)) * 1e-9)
    off, at = worst(name, domain(name, np.concatenate([near, around])))
    assert off <= MOST_ULPS, at


@pytest.mark.parametrize("name", WRITTEN)
def test_special_values_are_those_of_numpy(name):
    xs = np.array([*SPECIAL, 1e5, -1e5, -1.5, -2.0])
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(xs)
    found = vectorised(name)(xs)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    held = ~np.isnan(expected)
    np.testing.assert_allclose(found[held], expected[held], rtol=1e-15, atol=0)
    np.testing.assert_array_equal(np.signbit(found[held]), np.signbit(expected[held]))


@pytest.mark.parametrize("name", WRITTEN)
def test_lanes_do_not_depend_on_each_other(name):
    rng = np.random.default_rng(4)
    xs = rng.permutation(np.concatenate([SPECIAL, of_all_exponents(200), of_moderate_size(200)]))
    found = vectorised(name)(xs)
    alone = np.concatenate([vectorised(name)(x[None]) for x in xs])
    assert found.tobytes() == alone.tobytes()


def c_library(name: str, operands: int) -> Callable[..., float]:
    """The C library's function, whose special values are those of IEEE 754."""
    found = ctypes.CDLL(None)[name]
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * operands
    return found


@pytest.mark.parametrize("name", BY_LANE)
def test_functions_by_lane_are_those_of_the_c_library(name):
    operands = functions._BY_LANE[name]
    xs = np.concatenate([SPECIAL, of_moderate_size(100), of_all_exponents(100)])
    ys = [np.random.default_rng(5).permutation(xs) for _ in range(operands - 1)]
    function = c_library(name, operands)
    expected = np.array([function(*each) for each in zip(xs, *ys, strict=True)])
    found = vectorised(name, operands)(xs, *ys)
    np.testing.assert_array_equal(found, expected)
    held = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[held]), np.signbit(expected[held]))


@pytest.mark.parametrize("name", BY_LANE)
def test_functions_by_lane_are_those_of_math_where_it_has_an_answer(name):
    operands = functions._BY_LANE[name]
    xs = of_moderate_size(50)
    ys = [np.random.default_rng(6).permutation(xs) for _ in range(operands - 1)]
    found = vectorised(name, operands)(xs, *ys)
    compared = 0
    for *given_values, z in zip(xs, *ys, found, strict=True):
        try:
            expected = getattr(math, name)(*given_values)
        except (ValueError, OverflowError):
            continue
        compared += 1
        # its hypot and log2 are not the C library's
        assert z == expected or abs(z - expected) <= math.ulp(expected)
    assert compared > 10
