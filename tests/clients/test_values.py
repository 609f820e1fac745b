from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from gradwire import codec, values


@dataclass
class Layer:
    w: Any
    b: Any


class Pair(NamedTuple):
    first: Any
    second: Any


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
        ({"x": None}, TypeError, r"variables\.x cannot be sent: .* got NoneType of dtype object"),
        (
            {"x": {"y": [object()]}},
            TypeError,
            r"x\.y\[0\] cannot be sent: .* got object",
        ),
        ({"x": np.array(["a"])}, TypeError, "x cannot be sent: .* dtype <U1"),
        ({"x": np.longdouble(1)}, TypeError, "x cannot be sent: .* dtype (longdouble|float128)"),
        ({"x": [[1, 2], [3]]}, ValueError, "x is no array: its rows have unequal lengths"),
        ([1.0], TypeError, "variables go by name, in a mapping or a dataclass, not in a list"),
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
    "value",
    [np.array([1, 2], np.float32), np.int8(2), np.float64("nan"), np.zeros((0, 3)), np.bool_(True)],
    ids=repr,
)
def test_an_array_comes_back_as_it_was_packed(value):
    decoded = values.decode(codec.pack(np.asarray(value)))
    np.testing.assert_array_equal(decoded, value, strict=True)
    assert type(decoded) is type(value)


W, B, X = np.array([3, 4], np.float32), np.float64(5.0), np.float64(6.0)
PACKED_W, PACKED_B, PACKED_X = (codec.pack(np.asarray(array)) for array in (W, B, X))


def test_what_is_like_nothing_is_nested_as_it_came():
    decoded = values.decode({"a": [PACKED_B, None], "b": [[PACKED_X]], "c": "text"})
    assert decoded == {"a": [B, None], "b": [[X]], "c": "text"}


@pytest.mark.parametrize(
    ("like", "document", "decoded"),
    [
        ([0.0, 0.0], PACKED_B, B),
        ((0.0, 0.0), [PACKED_B, PACKED_X], (B, X)),
        ({"value": (0.0,)}, {"value": [PACKED_X]}, {"value": (X,)}),
        (
            {"layer": Layer((1, 2), 0)},
            {"layer": {"w": [None], "b": None}},
            {"layer": Layer((None,), None)},
        ),
        (Pair([()], 0), {"first": [[PACKED_B]], "second": "text"}, Pair([(B,)], "text")),
        (("x",), [[PACKED_B], [PACKED_X]], ([B], [X])),
    ],
    ids=repr,
)
def test_levels_are_of_the_types_that_they_were_asked_for_in(like, document, decoded):
    assert values.decode(document, like) == decoded


def test_rows_are_nested_as_the_gradients_and_then_as_their_sources():
    like = (Layer(W, 0.0), 1.0)
    gradients = [{"w": PACKED_W, "b": None}, PACKED_X]
    row = [{"w": PACKED_B, "b": None}, PACKED_X]
    decoded = values.decode_rows([{"w": row, "b": None}, row], gradients, like)
    assert decoded == (Layer((Layer(B, None), X), None), (Layer(B, None), X))


def test_output_gradients_are_nested_as_their_target():
    assert values.encode_seeds(None, None) is None
    assert values.encode_seeds([1, 2], "y") == [1.0, 2.0]
    assert values.encode_seeds([1, None], ["y", "z"]) == [1.0, None]
    assert values.encode_seeds({"a": np.float32(1)}, {"a": "y"}) == {
        "a": {"value": 1.0, "dtype": "float32"}
    }
