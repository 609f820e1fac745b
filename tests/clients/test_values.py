from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from gradwire import codec, values


@dataclass
class Layer:
    w: Any
    b: Any


@dataclass
class Named:
    value: Any


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (3, 3.0),
        (True, True),
        (2.5, 2.5),
        (float("nan"), "NaN"),
        (1 + 2j, {"re": 1.0, "im": 2.0}),
        (complex(0, float("-inf")), {"re": 0.0, "im": "-Infinity"}),
        ("NaN", "NaN"),
        ("text", "text"),
        ([1, 2], [1.0, 2.0]),
        ([True, False], [True, False]),
        ([True, 2], [1.0, 2.0]),
        ([[1, "NaN"], [float("inf"), -1]], [[1.0, "NaN"], ["Infinity", -1.0]]),
        ([], []),
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        (np.int64(3), {"value": 3, "dtype": "int64"}),
        (np.float32(0.5), {"value": 0.5, "dtype": "float32"}),
        ([np.int8(1), np.int8(2)], {"value": [1, 2], "dtype": "int8"}),
        (np.array([1.0, np.nan]), [1.0, "NaN"]),
        (np.array([1, np.inf], np.float16), {"value": [1.0, "Infinity"], "dtype": "float16"}),
        (np.array([1j], np.complex64), {"re": [0.0], "im": [1.0], "dtype": "complex64"}),
        (np.array([], bool), {"value": [], "dtype": "bool"}),
        (np.zeros((0, 3)), {"dtype": "float64", "shape": [0, 3], "base64": ""}),
        ({"value": 3, "trainable": False}, {"value": 3.0, "trainable": False}),
        ({"value": np.array([1], np.int8)}, {"value": [1], "dtype": "int8"}),
        ({"value": [1, 2], "dtype": "int32"}, {"value": [1, 2], "dtype": "int32"}),
        ({"value": 1j, "dtype": "complex64"}, {"re": 0.0, "im": 1.0, "dtype": "complex64"}),
        ({"ref": "sha256:0"}, {"ref": "sha256:0"}),
        ({"value": "text"}, {"value": "text"}),
    ],
    ids=repr,
)
def test_a_leaf_is_written_in_the_protocols_notation(value, document):
    assert values.encode_variables({"x": value}) == {"x": document}


def test_a_long_array_is_packed():
    array = np.arange(33, dtype=np.float32)
    (document,) = values.encode_variables({"x": array}).values()
    np.testing.assert_array_equal(codec.unpack(document), array)
    assert values.encode_variables({"x": [0.0] * 33}) == {"x": codec.pack(np.zeros(33))}
    frozen = values.encode_variables({"x": {"value": array, "trainable": False}})
    assert frozen == {"x": document | {"trainable": False}}


def test_levels_become_objects_and_lists():
    variables = {"layers": [Layer(np.ones(2), 0.5), {"w": (np.zeros(1), 2)}], "value": 1}
    assert values.encode_variables(variables) == {
        "layers": [{"w": [1.0, 1.0], "b": 0.5}, {"w": [{"value": [0.0]}, {"value": 2.0}]}],
        "value": 1.0,
    }


def test_arrays_side_by_side_stay_two_variables():
    assert values.encode_variables({"x": [np.array(1.0), np.array(np.nan)]}) == {
        "x": [{"value": 1.0}, {"value": "NaN"}]
    }


def test_anything_that_numpy_can_read_is_sent():
    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1, 2], np.int16)

    assert values.encode_variables({"x": Tensor()}) == {"x": {"value": [1, 2], "dtype": "int16"}}


@pytest.mark.parametrize(
    ("variables", "error", "message"),
    [
        ({"x": None}, TypeError, "x cannot be sent: .* got NoneType of dtype object"),
        ({"x": {"y": [object()]}}, TypeError, r"x\.y\[0\] cannot be sent: .* got object"),
        ({"x": np.array(["a"])}, TypeError, r"x cannot be sent: .* dtype <U1"),
        ({"x": np.longdouble(1)}, TypeError, "x cannot be sent: .* dtype (longdouble|float128)"),
        ({"x": [[1, 2], [3]]}, ValueError, "x is no array: its rows have unequal lengths"),
        ({1: 2}, TypeError, "variables has the key 1: expected a string"),
        ({"x": {1: 2}}, TypeError, "x has the key 1: expected a string"),
        ({"x": Named(1)}, ValueError, r"x has fields \(value\) whose names the protocol keeps"),
    ],
    ids=str,
)
def test_what_cannot_be_sent_is_named(variables, error, message):
    with pytest.raises(error, match=message):
        values.encode_variables(variables)


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (3, np.float64(3.0)),
        (True, np.bool_(True)),
        ("NaN", np.float64("nan")),
        ([1, 2], np.array([1.0, 2.0])),
        ([True], np.array([True])),
        ([[1, "NaN"], ["-Infinity", 2.5]], np.array([[1, np.nan], [-np.inf, 2.5]])),
        ([], np.array([])),
        ({"re": 1, "im": "NaN"}, np.complex128(complex(1, float("nan")))),
        ({"re": [1, 2], "im": [0, 3]}, np.array([1, 2 + 3j])),
        ({"value": [1, 2], "dtype": "int32"}, np.array([1, 2], np.int32)),
        (codec.pack(np.array([1, 2], np.float32)), np.array([1, 2], np.float32)),
        (codec.pack(np.array(2, np.int8)), np.int8(2)),
    ],
    ids=repr,
)
def test_a_leaf_that_says_nothing_of_its_dtype_is_read_by_what_it_holds(document, value):
    decoded = values.decode(document)
    np.testing.assert_array_equal(decoded, value, strict=True)
    assert type(decoded) is type(value)


def test_nested_values_are_read_as_nested():
    decoded = values.decode({"a": [1.0, None], "b": [[1.0], [2.0, 3.0]], "c": "text"})
    assert decoded["a"] == [1.0, None]
    assert [part.tolist() for part in decoded["b"]] == [[1.0], [2.0, 3.0]]
    assert decoded["c"] == "text"


@pytest.mark.parametrize(
    ("document", "source"),
    [
        ([1, "NaN"], np.array([0, 0], np.float32)),
        (1, np.float16(0)),
        ([], np.zeros((0, 3))),
        ({"re": [1], "im": [2]}, np.array([0], np.complex64)),
        ([1.0, 2.0], [0, 0]),
        (1.5, {"value": 3, "dtype": "float32", "trainable": False}),
    ],
    ids=repr,
)
def test_a_list_takes_its_sources_dtype_and_shape(document, source):
    decoded = values.decode(document, source)
    array = np.asarray(source if not isinstance(source, dict) else np.float32(0))
    assert decoded.dtype == (array.dtype if array.dtype.kind in "fc" else np.float64)
    assert decoded.shape == array.shape


def test_a_leaf_of_unknown_type_is_read_freely():
    assert values.decode(1.5, {"ref": "sha256:0"}) == 1.5
    assert values.decode(1.5, "text") == 1.5


def test_gradients_come_in_the_variables_own_structure():
    variables = {"layer": Layer(np.array([1, 2], np.float32), (np.ones(1), 3)), "n": 1}
    document = {
        "layer": {"w": codec.pack(np.array([3, 4], np.float32)), "b": [[5.0], None]},
        "n": None,
    }
    decoded = values.decode_gradients(document, None, variables)
    assert isinstance(decoded["layer"], Layer)
    np.testing.assert_array_equal(decoded["layer"].w, np.array([3, 4], np.float32), strict=True)
    assert isinstance(decoded["layer"].b, tuple)
    assert decoded["layer"].b[1] is None
    assert decoded["n"] is None


def test_gradients_come_in_the_names_structure():
    variables = {"w": np.array([0.0], np.float32), "n": {"x": 1.0}}
    names = {"first": ("w", None), "second": ["n.x", "elsewhere"]}
    document = {"first": [[1], None], "second": [2, [3]]}
    decoded = values.decode_gradients(document, names, variables)
    assert isinstance(decoded["first"], tuple)
    np.testing.assert_array_equal(decoded["first"][0], np.array([1], np.float32), strict=True)
    assert decoded["first"][1] is None
    assert decoded["second"][0] == 2.0
    assert decoded["second"][1].dtype == np.float64
    assert values.decode_gradients(None, "w", variables) is None
    assert values.decode_named(document, names)["first"][0].dtype == np.float64
    assert values.decode_named([[1.0], 2.0], None)[1] == 2.0


def test_output_gradients_are_nested_as_their_target():
    assert values.encode_seeds(None, None) is None
    assert values.encode_seeds([1, 2], "y") == [1.0, 2.0]
    assert values.encode_seeds([1, None], ["y", "z"]) == [1.0, None]
    assert values.encode_seeds({"a": np.float32(1)}, {"a": "y"}) == {
        "a": {"value": 1.0, "dtype": "float32"}
    }
