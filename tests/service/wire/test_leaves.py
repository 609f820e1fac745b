"""Variables as leaves in their structure, and the refusals with their pointers."""

import numpy as np
import pytest
from gradwire_engine.answer import Leaf
from gradwire_service.problems import Refusal
from gradwire_service.wire.leaves import read_seeds, read_tangents, read_variables


def refusal(document):
    with pytest.raises(Refusal) as caught:
        read_variables(document, [])
    assert caught.value.code == "malformed_tensor"
    return caught.value


def leaf(value):
    return read_variables({"x": value}, [])["x"]


@pytest.mark.parametrize(
    ("value", "dtype", "shape", "trainable"),
    [
        (3, "float64", (), True),
        (True, "bool", (), True),
        ("NaN", "float64", (), True),
        ([1, 2], "float64", (2,), True),
        ({"value": 3}, "float64", (), True),
        ({"value": 3, "dtype": "int64"}, "int64", (), True),
        ({"value": [1, 2], "dtype": "float32", "trainable": False}, "float32", (2,), False),
        ({"value": "Infinity", "dtype": "float16"}, "float16", (), True),
        ({"value": True}, "bool", (), True),
        ({"value": 1, "dtype": None}, "float64", (), True),
        ({"dtype": "uint8", "shape": [1, 3], "base64": "AAEC"}, "uint8", (1, 3), True),
        (
            {"dtype": "uint8", "shape": [3], "data": b"abc", "trainable": False},
            "uint8",
            (3,),
            False,
        ),
        ({"re": 1, "im": 2}, "complex128", (), True),
        (
            {"re": [1], "im": [2], "dtype": "complex64", "trainable": False},
            "complex64",
            (1,),
            False,
        ),
        ({"value": {"re": 1, "im": 2}, "dtype": "complex64"}, "complex64", (), True),
    ],
)
def test_forms_of_a_leaf(value, dtype, shape, trainable):
    got = leaf(value)
    assert isinstance(got, Leaf)
    assert isinstance(got.value, np.ndarray)
    assert (got.value.dtype.name, got.value.shape, got.trainable) == (dtype, shape, trainable)


def test_strings_are_leaves():
    assert leaf("a word") == Leaf("a word")
    assert leaf({"value": "a word", "trainable": False}) == Leaf("a word", False)
    assert leaf(["a", "b"]) == [Leaf("a"), Leaf("b")]


def test_levels_keep_their_structure():
    got = leaf([{"w": [[1, 2]], "b": {"re": 1}}, [], {}, [1, {"value": 2}], [True, "word"]])
    assert got[0]["w"].value.shape == (1, 2)
    assert got[0]["b"]["re"].value == 1
    assert got[1].value.shape == (0,)
    assert got[2] == {}
    assert [member.value for member in got[3]] == [1, 2]
    assert got[4][1] == Leaf("word")


def test_the_outermost_object_is_never_a_leaf():
    names = ("value", "base64", "data", "ref", "indices", "row_splits", "re", "im", "dtype")
    got = read_variables(dict.fromkeys(names, 1), [])
    assert set(got) == set(names)
    assert all(isinstance(member, Leaf) for member in got.values())


def test_names_pass_as_they_are():
    names = ["layers.0.w", "", "a/b", "~", "π", "a\x00b", "…" * 100]
    assert list(read_variables(dict.fromkeys(names, 1.0), [])) == names


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (None, "/variables/x"),
        ([1, None], "/variables/x/1"),
        ({"a~/": [[1, 2], [3]]}, "/variables/x/a~0~1/1"),
        ({"value": [1, "two"]}, "/variables/x/value/1"),
        ({"value": None}, "/variables/x/value"),
        ({"value": {"value": 1}}, "/variables/x/value"),
        ({"value": "word", "dtype": "float32"}, "/variables/x/value"),
        ({"value": 1, "dtype": "f4"}, "/variables/x/dtype"),
        ({"value": 300, "dtype": "int8"}, "/variables/x/value"),
        ({"value": 1, "trainable": 1}, "/variables/x/trainable"),
        ({"value": 1, "bias": 2}, "/variables/x"),
        ({"shape": [1], "base64": "AA=="}, "/variables/x"),
        ({"dtype": "uint8", "base64": "AA=="}, "/variables/x/shape"),
        ({"dtype": "uint8", "shape": [1], "data": "AA=="}, "/variables/x/data"),
        ({"ref": 5}, "/variables/x/ref"),
        ({"indices": [[0]], "values": [1], "shape": [3], "ref": "a"}, "/variables/x"),
        ({"re": 1, "im": "x"}, "/variables/x/im"),
        ([{"a": [{"b": None}]}], "/variables/x/0/a/0/b"),
    ],
)
def test_refusals_point_at_what_is_wrong(value, pointer):
    assert refusal({"ok": 1, "x": value}).pointer == pointer


def test_levels_are_limited():
    value: object = "deep"
    for _ in range(1000):
        value = {"x": value}
    assert "64" in refusal(value).detail


def test_references_are_collected():
    missing: list[str] = []
    read_variables({"a": {"ref": "sha256:1"}, "b": [{"ref": "sha256:2"}, 1]}, missing)
    assert missing == ["sha256:1", "sha256:2"]


def test_seeds_follow_the_target():
    assert read_seeds(None, "y", []) is None
    np.testing.assert_array_equal(read_seeds([1, 2], "y", []), [1.0, 2.0])
    parts = read_seeds([[1, 2], None], ["y", "z"], [])
    np.testing.assert_array_equal(parts[0], [1.0, 2.0])
    assert parts[1] is None
    assert read_seeds({"a": 1, "b": [2]}, {"a": "y", "b": ["z"]}, [])["b"][0] == 2.0
    assert read_seeds([1, {"value": 2}], None, [])[1] == 2.0


@pytest.mark.parametrize(
    ("value", "target", "code", "pointer"),
    [
        ([1], ["y", "z"], "invalid_request", ""),
        (1, ["y"], "invalid_request", ""),
        ({"a": 1}, {"b": "y"}, "invalid_request", ""),
        ([1, {"c": 1}], ["y", {"b": "z"}], "invalid_request", "/1"),
        ("word", "y", "malformed_tensor", ""),
        ([[1], [None, 1]], ["y", "z"], "malformed_tensor", "/1/0"),
        ({"a": [[1], [2, 3]]}, {"a": "y"}, "malformed_tensor", "/a/1"),
    ],
)
def test_seeds_that_do_not_fit(value, target, code, pointer):
    with pytest.raises(Refusal) as caught:
        read_seeds(value, target, [])
    assert (caught.value.code, caught.value.pointer) == (code, "/output_gradients" + pointer)


def test_a_direction_in_a_sparse_tensor_is_of_its_values():
    document = {"a": {"indices": [[0]], "values": [1], "shape": [3]}}
    with pytest.raises(Refusal) as caught:
        read_tangents(document, "tangents", [])
    assert (caught.value.code, caught.value.pointer) == ("malformed_tensor", "/tangents/a")
