"""Lists, numbers and bytes as arrays; errors name the place of the invalid element."""

import base64
import contextlib
import math

import numpy as np
import pytest
from gradwire_service.wire import arrays_in
from gradwire_service.wire.arrays_in import DTYPES, Malformed
from hypothesis import given
from hypothesis import strategies as st


def refused(read, *arguments):
    with pytest.raises(Malformed) as caught:
        read(*arguments)
    return caught.value


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        ([1, 2, 3], "float64", (3,)),
        ([1.5, True], "float64", (2,)),
        ([True, False], "bool", (2,)),
        ([[True], [False]], "bool", (2, 1)),
        ([[1], [2.5]], "float64", (2, 1)),
        ([], "float64", (0,)),
        ([[], []], "float64", (2, 0)),
        ([[[]]], "float64", (1, 1, 0)),
        (["NaN", 1, "-Infinity"], "float64", (3,)),
        ([2**63, -1], "float64", (2,)),
        ([1.8446744073709552e19], "float64", (1,)),
    ],
)
def test_lists_without_a_dtype_are_float64_or_bool(value, dtype, shape):
    array = arrays_in.array_or_none(value)
    assert array is not None
    assert (array.dtype.name, array.shape) == (dtype, shape)


def test_strings_represent_nan_and_infinity():
    array = arrays_in.list_array([["NaN", "Infinity"], ["-Infinity", 0]])
    assert np.isnan(array[0, 0])
    assert array[0, 1] == math.inf
    assert array[1, 0] == -math.inf


@pytest.mark.parametrize(
    "value", [["a", "b"], [1, None], [{"value": 1}], [[1, 2], {"re": 1, "im": 2}], [[1, "x"], [2]]]
)
def test_lists_with_anything_else_are_nesting_levels(value):
    assert arrays_in.array_or_none(value) is None


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ([[1, 2], [3]], "/1"),
        ([1, [2]], "/1"),
        ([[1], 2], "/1"),
        ([[[1], [2]], [[3], [4, 5]]], "/1/1"),
        ([[[1], 2]], "/0/1"),
        ([[1, 2], [3, 4], []], "/2"),
    ],
)
def test_ragged_lists_are_refused_at_the_first_uneven_element(value, pointer):
    for read in arrays_in.array_or_none, arrays_in.list_array:
        assert refused(read, value).pointer == pointer


@pytest.mark.parametrize(
    ("value", "pointer"),
    [([1, "two"], "/1"), ([[1, 2], [3, None]], "/1/1"), ([{}, 1], "/0"), ([[1], [[{}]]], "/1/0")],
)
def test_an_invalid_element_of_an_array_is_named(value, pointer):
    error = refused(arrays_in.list_array, value)
    assert error.pointer.startswith(pointer[:2])


def test_depth_is_limited_as_in_numpy():
    deepest = [1.0]
    for _ in range(63):
        deepest = [deepest]  # type: ignore[list-item]
    assert arrays_in.list_array(deepest).ndim == 64
    assert "64" in refused(arrays_in.array_or_none, [deepest]).detail


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([2**63, 1], "uint64"),
        ([-(2**63), 2**63 - 1], "int64"),
        ([2**53 + 1, 1.0], "int64"),
        ([127, -128, 3.0, True], "int8"),
        ([65504, 1e-7, "NaN"], "float16"),
        ([0, 1, True, 1.0], "bool"),
        ([1, 2.5], "complex64"),
    ],
)
def test_values_that_fit_a_dtype_are_exact(value, dtype):
    array = arrays_in.list_array(value, DTYPES[dtype])
    assert array.dtype == dtype
    for got, sent in zip(array.tolist(), value, strict=True):
        if sent != "NaN":
            assert got == (sent if dtype != "float16" else float(np.float16(sent)))


@pytest.mark.parametrize(
    ("value", "dtype", "pointer"),
    [
        ([0, 128], "int8", "/1"),
        ([-1], "uint64", "/0"),
        ([1, 2.5], "int64", "/1"),
        ([1.8446744073709552e19], "uint64", "/0"),
        ([[1, 2], [3, "NaN"]], "int32", "/1/1"),
        ([1e39], "float32", "/0"),
        ([[1.0], [65520.0]], "float16", "/1/0"),
        ([1e39], "complex64", "/0"),
        ([1, 2], "bool", "/1"),
        ([0.5], "bool", "/0"),
        (["NaN"], "bool", "/0"),
    ],
)
def test_values_that_do_not_fit_a_dtype_are_refused_with_their_place(value, dtype, pointer):
    assert refused(arrays_in.list_array, value, DTYPES[dtype]).pointer == pointer


def test_errors_about_a_scalar_point_to_the_leaf():
    assert refused(arrays_in.scalar_array, 300, DTYPES["uint8"]).pointer == ""
    assert refused(arrays_in.scalar_array, "x", None).detail == "a string is not a number"


def test_infinity_is_not_an_overflow():
    array = arrays_in.list_array(["Infinity", "-Infinity"], DTYPES["float32"])
    assert array.tolist() == [math.inf, -math.inf]


def test_complex_parts_keep_infinities_and_signs():
    array = arrays_in.complex_array(["Infinity", -0.0], [0, "NaN"], None)
    assert array.dtype == np.complex128
    assert array[0] == complex(math.inf, 0)
    assert math.copysign(1, array[1].real) == -1
    assert arrays_in.complex_array(1, 2, DTYPES["complex64"]).shape == ()


@pytest.mark.parametrize(
    ("re", "im", "dtype", "pointer"),
    [
        ([1, 2], [1], None, ""),
        (1, "x", None, "/im"),
        ([1, None], [1, 2], None, "/re/1"),
        (1, 2, "float32", "/dtype"),
        (1e39, 2, "complex64", "/re"),
    ],
)
def test_invalid_complex_parts_are_refused(re, im, dtype, pointer):
    error = refused(arrays_in.complex_array, re, im, arrays_in.dtype_named(dtype))
    assert error.pointer == pointer


@pytest.mark.parametrize("dtype", DTYPES)
def test_raw_bytes_are_read_bit_for_bit(dtype):
    raw = bytes(range(1, 49)) if dtype != "bool" else bytes([0, 1] * 24)
    shape = [3, 16 // DTYPES[dtype].itemsize]
    array = arrays_in.raw_array(base64.b64encode(raw).decode(), "base64", DTYPES[dtype], shape)
    assert array.dtype == dtype
    assert array.shape == tuple(shape)
    assert array.tobytes() == raw


@pytest.mark.parametrize(
    ("text", "dtype", "shape", "pointer"),
    [
        ("AAAA", "uint8", None, "/shape"),
        ("AAAA", "uint8", [True], "/shape"),
        ("AAAA", "uint8", [-3], "/shape"),
        ("AAAA", "uint8", [4], "/base64"),
        ("AAA", "uint8", [2], "/base64"),
        ("A\ud800==", "uint8", [2], "/base64"),
        ("!AAAA", "uint8", [3], "/base64"),
        (5, "uint8", [3], "/base64"),
        ("", "uint8", [0, 10**30], "/shape"),
        ("", "uint8", [1] * 65 + [0], "/shape"),
        (b"abc", "uint8", [3], "/base64"),
        ("", "uint8", [10**4000] * 2, "/base64"),  # more digits than Python converts to a string
        ("", "uint8", [2**62] * 1_000_000, "/shape"),  # their product would take minutes
        ("AgIC", "bool", [3], "/base64"),
    ],
)
def test_invalid_raw_bytes_are_refused(text, dtype, shape, pointer):
    error = refused(arrays_in.raw_array, text, "base64", DTYPES[dtype], shape)
    assert error.pointer == pointer


@pytest.mark.parametrize("name", ["float128", "f8", 5, ["float32"], "bfloat8", ""])
def test_unknown_dtypes_are_refused(name):
    assert refused(arrays_in.dtype_named, name).pointer == "/dtype"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["NaN", "x"]),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=20,
    ).map(lambda value: value if isinstance(value, list) else [value])
)
def test_any_list_is_an_array_or_a_nesting_level_or_refused(value):
    with contextlib.suppress(Malformed):
        array = arrays_in.array_or_none(value)
        assert array is None or np.array(value, object).size == array.size
