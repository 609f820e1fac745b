"""bfloat16: bytes are read as they are, numbers rounded once and written in few digits."""

import base64
import math
import struct
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import raw_array
from gradwire_service.wire.bfloat16 import BFLOAT16, rounded, shortest
from gradwire_service.wire.leaves import read_variables
from gradwire_service.wire.references import References
from hypothesis import example, given
from hypothesis import strategies as st

LARGEST = float.fromhex("0x1.fep127")
TOO_LARGE = float.fromhex("0x1.ffp127")  # halfway to the next power of two


def read(leaf):
    return read_variables({"x": leaf}, References())["x"].value


def sent(*numbers):
    return read({"value": list(numbers), "dtype": "bfloat16"})


def refused(leaf):
    with pytest.raises(RequestError) as caught:
        read_variables({"x": leaf}, References())
    return caught.value


def from_bits_all(bits):
    """The numbers whose upper halves these are, as float64."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def from_bits(bits):
    """The number whose upper half this is, by the standard library."""
    (number,) = struct.unpack("<f", struct.pack("<HH", 0, bits))
    return number


#: Every bfloat16 that is finite.
EVERY = np.arange(1 << 16, dtype=np.uint16)
EVERY = EVERY[EVERY & 0x7F80 != 0x7F80]


def test_every_pair_of_bytes_is_read_exactly():
    raw = struct.pack("<65536H", *range(1 << 16))
    expected = np.array([from_bits(bits) for bits in range(1 << 16)], np.float32)
    for leaf in ({"base64": base64.b64encode(raw).decode()}, {"data": raw}):
        array = read({"dtype": "bfloat16", "shape": [256, 256], **leaf})
        assert (array.dtype, array.shape) == (BFLOAT16, (256, 256))
        assert array.tobytes() == raw
        np.testing.assert_array_equal(array.ravel().astype(np.float32), expected)


def test_bytes_are_read_in_place():
    raw = EVERY.tobytes()
    assert np.shares_memory(
        raw_array(memoryview(raw), "data", BFLOAT16, [len(EVERY)]), np.frombuffer(raw, np.uint8)
    )


def test_ties_of_all_numbers_are_rounded_to_even_as_ml_dtypes_rounds_them():
    below, above = (from_bits_all(EVERY + step) for step in (0, 1))
    middles = (below + above)[np.isfinite(above)] / 2
    found = rounded(middles)
    assert found.tobytes() == middles.astype(np.float32).astype(BFLOAT16).tobytes()
    assert not (found.view(np.uint16) & 1).any()


@given(st.lists(st.floats(-LARGEST, LARGEST, width=32), min_size=1))
def test_numbers_are_rounded_as_ml_dtypes_rounds_them(numbers):
    assert sent(*numbers).tobytes() == np.array(numbers, ml_dtypes.bfloat16).tobytes()


@given(st.floats(-LARGEST, LARGEST))
@example(1 + 2**-8)  # a tie: to even, down
@example(1 + 3 * 2**-8)  # a tie: to even, up
@example(1 + 2**-8 + 2**-40)  # no tie, though float32 would make it one
@example(2**-134)  # half the smallest number
@example(5e-324)
def test_numbers_are_rounded_once_to_the_nearest(number):
    array = sent(number)
    (found,), (upper,) = array.tolist(), array.view(np.uint16).tolist()
    near = [from_bits(upper + step) for step in (-1, 0, 1) if 0 <= upper + step < 1 << 16]
    # What is beside it, in both directions; beyond the largest there are infinities.
    distances = {
        value: abs(Fraction(value) - Fraction(number)) for value in near if math.isfinite(value)
    }
    own = distances[found]
    assert own == min(distances.values())
    tied = [value for value, distance in distances.items() if distance == own]
    assert len(tied) == 1 or upper % 2 == 0
    assert math.copysign(1, found) == math.copysign(1, number)


def test_words_booleans_and_scalars_are_read_as_in_other_floats():
    assert np.isnan(sent("NaN")[0])
    assert sent("Infinity", "-Infinity", True, 3).tolist() == [math.inf, -math.inf, 1, 3]
    scalar = read({"value": 0.1, "dtype": "bfloat16"})
    assert (scalar.dtype, scalar.shape, float(scalar)) == (BFLOAT16, (), 0.10009765625)


def test_numbers_that_round_to_infinity_are_refused_with_their_place():
    below = math.nextafter(TOO_LARGE, 0)
    assert sent(below, -below).tolist() == [LARGEST, -LARGEST]
    for number in (TOO_LARGE, -1e39, 1.7e308, 1.7976931348623157e308):
        error = refused({"value": [[1], [number]], "dtype": "bfloat16"})
        assert (error.code, error.pointer) == ("malformed_tensor", "/variables/x/value/1/0")
        assert error.detail == "the number is too large for bfloat16"


@pytest.mark.parametrize(
    ("leaf", "place", "detail"),
    [
        ({"shape": [2], "base64": "AAAA"}, "base64", "bfloat16 of this shape has 4 bytes, got 3"),
        ({"shape": [1], "base64": "AAAAAA=="}, "base64", "of this shape has 2 bytes, got 4"),
        ({"shape": [1], "base64": "?"}, "base64", "invalid base64"),
        ({"re": 1, "im": 2}, "dtype", "complex64 or complex128"),
        ({"value": {"re": 1, "im": 2}}, "value/dtype", "complex64 or complex128"),
        ({"value": ["one"]}, "value/0", "a string is not a number"),
        (
            {"values": {"value": [1.1], "dtype": "float32"}, "row_splits": [0, 1]},
            "values",
            "the values are float32, but the tensor is bfloat16",
        ),
        ({"values": [1], "row_splits": {"value": [0, 1]}}, "row_splits", "must be integers"),
    ],
)
def test_invalid_leaves_are_refused_with_their_place(leaf, place, detail):
    error = refused({"dtype": "bfloat16", **leaf})
    assert error.pointer == f"/variables/x/{place}"
    assert detail in error.detail


def test_values_of_sparse_and_ragged_tensors_are_rounded():
    for leaf in (
        {"values": [0.1, 0.2], "row_splits": [0, 2], "dtype": "bfloat16"},
        {"values": {"value": [0.1, 0.2], "dtype": "bfloat16"}, "row_splits": [0, 2]},
        {"values": [0.1, 0.2], "indices": [[0], [2]], "shape": [3], "dtype": "bfloat16"},
    ):
        values = read_variables({"x": leaf}, References())["x"]["values"].value
        assert values.dtype == BFLOAT16
        assert values.tolist() == sent(0.1, 0.2).tolist()


@pytest.mark.thorough
def test_the_written_decimals_are_the_shortest_that_read_back():
    every = EVERY.view(BFLOAT16)
    decimals = [shortest(number) for number in every]
    assert rounded(np.array(decimals)).tobytes() == every.tobytes()
    wide = every.astype(np.float64)
    for number, decimal in zip(wide.tolist(), decimals, strict=True):
        digits = Decimal(repr(decimal)).normalize().as_tuple().digits
        assert len(digits) <= 4
        if len(digits) > 1:  # with one digit less another number is read
            with np.errstate(over="ignore"):
                assert rounded(np.array(float(f"{number:.{len(digits) - 2}e}"))) != number
    assert [repr(shortest(BFLOAT16.type(x))) for x in (0.1, -3.0, math.inf, math.nan)] == [
        "0.1",
        "-3.0",
        "inf",
        "nan",
    ]
