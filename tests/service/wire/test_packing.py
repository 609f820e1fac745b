"""MessagePack that the service writes, read by another implementation."""

import math

import msgpack
import numpy as np
import pytest
from gradwire_service.wire.packing import pack
from hypothesis import example, given
from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
integers = st.integers(-(1 << 63), (1 << 64) - 1)
documents = st.recursive(
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(texts, inner, max_size=20),
    max_leaves=60,
)


def packed(document, **options):
    return b"".join(bytes(piece) for piece in pack(document, **options))


@pytest.mark.thorough
@given(documents)
@example(["x" * 70_000, list(range(70_000)), {str(i): i for i in range(70_000)}])
@example([-1, -32, -33, 127, 128, 255, 256, -128, -129, 65_535, 65_536, -32_768, -32_769])
def test_documents_equal_those_of_another_implementation(document):
    assert packed(document) == msgpack.packb(document)


def test_integers_beyond_64_bits_are_floats():
    assert msgpack.unpackb(packed([1 << 70, -(1 << 70)])) == [2.0**70, -(2.0**70)]


def test_nonfinite_python_numbers_are_strings():
    words = [math.nan, math.inf, -math.inf, 1.5]
    assert msgpack.unpackb(packed(words)) == ["NaN", "Infinity", "-Infinity", 1.5]


@pytest.mark.parametrize("size", [0, 3, 2047, 2048, 100_000])
@pytest.mark.parametrize("dtype", ["float64", ">f8", "complex128", "bool", "float16", "bfloat16"])
def test_arrays_are_written_as_raw_bytes(size, dtype):
    array = (np.arange(size) % 1000).astype(dtype)
    read = msgpack.unpackb(packed({"x": array}))["x"]
    assert (read["dtype"], read["shape"]) == (array.dtype.name, [size])
    little = np.frombuffer(read["data"], array.dtype.newbyteorder("<"))
    np.testing.assert_array_equal(little, array)


def test_large_arrays_are_not_copied():
    first, second = np.arange(10_000.0), np.arange(20_000.0).reshape(2, 100, 100)
    pieces = pack({"x": first, "y": [second, 1], "z": np.ones(2)})
    views = [np.frombuffer(piece, np.uint8) for piece in pieces]
    assert [np.may_share_memory(view, first) for view in views] == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert [np.may_share_memory(view, second) for view in views] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_memory_order_does_not_matter():
    array = np.arange(60_000.0).reshape(200, 300)
    for view in array.T, array[:, ::-1], np.asfortranarray(array), array[::2]:
        read = msgpack.unpackb(packed({"x": view}))["x"]
        np.testing.assert_array_equal(np.frombuffer(read["data"]).reshape(read["shape"]), view)


def test_arrays_may_be_written_as_lists():
    document = {
        "a": np.arange(6, dtype=np.int16).reshape(2, 3),
        "b": np.array([math.nan, -math.inf, -0.0]),
        "c": np.array([1 + 2j]),
        "d": np.float32(0.5),
        "e": np.array(True),
        "f": np.zeros((2, 0)),
        "g": 1 + 2j,
    }
    assert msgpack.unpackb(packed(document, as_lists=True)) == {
        "a": [[0, 1, 2], [3, 4, 5]],
        "b": ["NaN", "-Infinity", -0.0],
        "c": {"re": [1.0], "im": [2.0]},
        "d": 0.5,
        "e": True,
        "f": [[], []],
        "g": {"re": 1.0, "im": 2.0},
    }
