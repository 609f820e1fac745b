from dataclasses import dataclass
from typing import Any, NamedTuple

import msgpack
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


def written(variables: Any) -> Any:
    """The document of variables as the service reads it, with arrays as dtype, shape and bytes."""
    return msgpack.unpackb(codec.encode(values.encode_variables(variables)))


def packed(array: Any, dtype: str | None = None) -> dict[str, Any]:
    """The written form of an array."""
    array = np.asarray(array, dtype)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": array.tobytes()}


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (3, 3.0),
        (True, True),
        (2.5, 2.5),
        (float("inf"), float("inf")),
        (1 + 2j, packed(1 + 2j)),
        ("Infinity", float("inf")),
        ("text", "text"),
        ([1, 2], packed([1.0, 2.0])),
        ([True, False], packed([True, False])),
        ([True, 2], packed([1.0, 2.0])),
        ([[1, "NaN"], [float("inf"), -1]], packed([[1.0, np.nan], [np.inf, -1.0]])),
        ([], packed([], "float64")),
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        (np.int64(3), packed(3, "int64")),
        (np.float32(0.5), packed(0.5, "float32")),
        ([np.int8(1), np.int8(2)], packed([1, 2], "int8")),
        (np.array([1.0, np.nan]), packed([1.0, np.nan])),
        (np.array([1, np.inf], np.float16), packed([1, np.inf], "float16")),
        (np.array([1j], np.complex64), packed([1j], "complex64")),
        (np.zeros((0, 3)), packed(np.zeros((0, 3)))),
        ({"value": 3, "trainable": False}, {"value": 3.0, "trainable": False}),
        ({"value": np.array([1], np.int8)}, {"value": packed([1], "int8")}),
        ({"value": [1, 2], "dtype": "int32"}, {"value": packed([1, 2], "int32")}),
        ({"value": [1], "shape": None}, {"value": packed([1.0]), "shape": None}),
        ({"ref": "sha256:0"}, {"ref": "sha256:0"}),
        ({"value": "text"}, {"value": "text"}),
    ],
    ids=repr,
)
def test_leaves_are_written_in_the_protocols_form(value, document):
    assert written({"x": value}) == {"x": document}


def test_levels_become_objects_and_lists():
    variables = {"layers": [Layer(np.ones(2), 0.5), {"w": (np.zeros(1), 2)}], "value": 1}
    assert written(variables) == {
        "layers": [{"w": packed([1.0, 1.0]), "b": 0.5}, {"w": [packed([0.0]), {"value": 2.0}]}],
        "value": 1.0,
    }


def test_adjacent_arrays_stay_separate_variables():
    assert written({"x": [np.array(1.0), np.array(2.0)]}) == {"x": [{"value": 1.0}, {"value": 2.0}]}


def test_anything_that_numpy_can_convert_is_accepted():
    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1, 2], np.int16)

    assert written({"x": Tensor()}) == {"x": packed([1, 2], "int16")}


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
        ({"x": [[1, 2], [3]]}, ValueError, "x is not an array: its rows have unequal lengths"),
        ([1.0], TypeError, "variables go by name, in a mapping or a dataclass, not in a list"),
        ({1: 2}, TypeError, "variables has the key 1: expected a string"),
        ({"x": {1: 2}}, TypeError, "x has the key 1: expected a string"),
        ({"x": Named(1)}, ValueError, r"x has fields \(value\) whose names the protocol keeps"),
    ],
)
def test_values_that_cannot_be_sent_are_named(variables, error, message):
    with pytest.raises(error, match=message):
        values.encode_variables(variables)


@pytest.mark.parametrize(
    "value",
    [np.array([1, 2], np.float32), np.int8(2), np.float64("nan"), np.zeros((0, 3)), np.bool_(True)],
    ids=repr,
)
def test_arrays_read_back_as_sent(value):
    decoded = values.decode(codec.decode(codec.encode(np.asarray(value))))
    np.testing.assert_array_equal(decoded, value, strict=True)
    assert type(decoded) is type(value)


W, B, X = np.array([3, 4], np.float32), np.float64(5.0), np.float64(6.0)
SENT_W, SENT_B, SENT_X = (np.asarray(array) for array in (W, B, X))


def test_without_a_template_results_are_nested_as_received():
    decoded = values.decode({"a": [SENT_B, None], "b": [[SENT_X]], "c": "text"})
    assert decoded == {"a": [B, None], "b": [[X]], "c": "text"}


@pytest.mark.parametrize(
    ("like", "document", "decoded"),
    [
        ([0.0, 0.0], SENT_B, B),
        ((0.0, 0.0), [SENT_B, SENT_X], (B, X)),
        ({"value": (0.0,)}, {"value": [SENT_X]}, {"value": (X,)}),
        (
            {"layer": Layer((1, 2), 0)},
            {"layer": {"w": [None], "b": None}},
            {"layer": Layer((None,), None)},
        ),
        (Pair([()], 0), {"first": [[SENT_B]], "second": "text"}, Pair([(B,)], "text")),
        (("x",), [[SENT_B], [SENT_X]], ([B], [X])),
    ],
    ids=repr,
)
def test_results_have_the_container_types_of_the_template(like, document, decoded):
    assert values.decode(document, like) == decoded


def test_rows_are_nested_by_gradients_and_then_by_sources():
    like = (Layer(W, 0.0), 1.0)
    gradients = [{"w": SENT_W, "b": None}, SENT_X]
    row = [{"w": SENT_B, "b": None}, SENT_X]
    decoded = values.decode_rows([{"w": row, "b": None}, row], gradients, like)
    assert decoded == (Layer((Layer(B, None), X), None), (Layer(B, None), X))


def test_output_gradients_are_nested_like_their_target():
    assert values.encode_seeds(None, None) is None
    np.testing.assert_array_equal(values.encode_seeds([1, 2], "y"), [1.0, 2.0], strict=True)
    assert values.encode_seeds([1, None], ["y", "z"]) == [1.0, None]
    assert values.encode_seeds({"a": np.float32(1)}, {"a": "y"}) == {"a": np.array(1.0, np.float32)}
