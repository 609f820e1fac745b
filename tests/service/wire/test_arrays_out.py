"""Written arrays read back exactly: to the last digit in JSON, bit for bit in base64."""

import math

import numpy as np
import orjson
import pytest
from gradwire_service.wire.arrays_in import DTYPES
from gradwire_service.wire.arrays_out import write_json
from gradwire_service.wire.leaves import read_variables
from gradwire_service.wire.references import References
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.arrays import arrays_of


def same_bits(left, right):
    """Equal in dtype, shape and bits; all NaN are equal."""
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    equal = np.ascontiguousarray(left).view(np.uint8) == np.ascontiguousarray(right).view(np.uint8)
    assert equal.all() or np.array_equal(comparable(left), comparable(right), equal_nan=True)


def comparable(array):
    """The same numbers in a dtype of NumPy."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def written(document, **how):
    """The joined pieces."""
    return b"".join(write_json(document, **how))


def arrays(dtype):
    shapes = npst.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4)
    return arrays_of(DTYPES[dtype], shapes)


any_array = st.sampled_from(list(DTYPES)).flatmap(arrays)


@given(any_array)
def test_json_keeps_every_digit(array):
    document = orjson.loads(written({"x": array}))
    if array.dtype.kind == "c":
        leaf = {**document["x"], "dtype": array.dtype.name}
    else:
        leaf = {"value": document["x"], "dtype": array.dtype.name}
    same_bits(read_variables({"x": leaf}, References())["x"].value, array)


@given(any_array)
def test_base64_keeps_every_bit(array):
    document = orjson.loads(written({"x": array}, as_bytes=True))
    back = read_variables(document, References())["x"].value
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_shortest_digits_are_written(dtype):
    scalar, array = np.array(0.1, dtype), np.array([0.1, 0.2], dtype)
    assert written({"a": scalar, "b": array, "c": scalar[()]}) == (
        b'{"a":0.1,"b":[0.1,0.2],"c":0.1}'
    )


def test_nonfinite_numbers_are_strings():
    array = np.array([[math.nan, 1.5], [math.inf, -math.inf]], np.float32)
    document = {
        "array": array,
        "scalar": np.array(math.nan),
        "float": -math.inf,
        "none": None,
        "text": "null",
        "half": np.array([math.nan, 0.1], np.float16),
        "brain": np.array([math.nan, 0.1, -math.inf], DTYPES["bfloat16"]),
        "complex": np.array([complex(math.nan, 1)]),
        "nested": [{"whole": np.arange(2), "truth": np.array([True])}, (1.0, True)],
    }
    assert orjson.loads(written(document)) == {
        "array": [["NaN", 1.5], ["Infinity", "-Infinity"]],
        "scalar": "NaN",
        "float": "-Infinity",
        "none": None,
        "text": "null",
        "half": ["NaN", 0.1],
        "brain": ["NaN", 0.1, "-Infinity"],
        "complex": {"re": ["NaN"], "im": [1.0]},
        "nested": [{"whole": [0, 1], "truth": [True]}, [1.0, True]],
    }


def test_memory_order_does_not_matter():
    array = np.arange(6.0).reshape(2, 3)
    for view in array.T, array[:, ::-1], np.asfortranarray(array):
        for as_bytes in False, True:
            document = orjson.loads(written({"x": view}, as_bytes=as_bytes))
            np.testing.assert_array_equal(read_variables(document, References())["x"].value, view)


@pytest.mark.parametrize(("shape", "text"), [((0,), b"[]"), ((2, 0), b"[[],[]]")])
def test_empty_arrays_are_written(shape, text):
    assert written({"x": np.zeros(shape)}) == b'{"x":' + text + b"}"
    raw = orjson.loads(written({"x": np.zeros(shape)}, as_bytes=True))
    assert raw["x"] == {"dtype": "float64", "shape": list(shape), "base64": ""}


LARGE = [
    ((300_000,), "float64"),
    ((2, 200_000), "float32"),
    ((150_000, 2), "float64"),
    ((100_000, 1, 1), "int8"),
    ((30_000, 2, 0), "float64"),
    ((3, 5, 20_000), "complex128"),
    ((200_000,), "float16"),
    ((200_000,), "bfloat16"),
    ((150_000,), "bool"),
]


@pytest.mark.parametrize(("shape", "dtype"), LARGE)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_large_arrays_are_written_in_pieces_like_small_ones(shape, dtype, as_bytes):
    rng = np.random.default_rng(0)
    array = (100 * rng.normal(size=shape)).astype(dtype)
    if array.dtype.kind in "fc" and array.size:
        array.reshape(-1)[::997] = math.nan
        array.reshape(-1)[1::997] = -math.inf
    nested = {"y": [array, array[::-1]]}
    document = {"first": array[:5], "x": nested, "few": array[..., :2], "text": 'a "mark"'}
    pieces = write_json(document, as_bytes=as_bytes)
    assert max(map(len, pieces)) < 8 << 20
    found = orjson.loads(b"".join(pieces))
    assert list(found) == list(document)
    assert found["text"] == document["text"]
    assert orjson.dumps(found["first"]) == orjson.dumps(
        orjson.loads(written({"x": array[:5]}, as_bytes=as_bytes))["x"]
    )
    if as_bytes:
        back = read_variables({"x": found["x"]["y"][1]}, References())["x"].value
        assert back.tobytes() == array[::-1].tobytes()
    else:
        for part, kept in (("re", array.real), ("im", array.imag)):
            rows = found["x"]["y"][1]
            rows = rows[part] if array.dtype.kind == "c" else rows
            same = {"value": rows, "dtype": kept.dtype.name}
            if part == "re" or array.dtype.kind == "c":
                same_bits(read_variables({"x": same}, References())["x"].value, kept[::-1])
