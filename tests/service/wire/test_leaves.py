"""Variables as nested leaves, and errors with their pointers."""

import numpy as np
import pytest
from gradwire_engine.answer import Leaf
from gradwire_service.problems import RequestError
from gradwire_service.wire.leaves import read_tensor, read_variables
from gradwire_service.wire.references import MOST_VALUES, References


def refusal(document):
    with pytest.raises(RequestError) as caught:
        read_variables(document, References())
    assert caught.value.code == "malformed_tensor"
    return caught.value


def leaf(value):
    return read_variables({"x": value}, References())["x"]


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
def test_every_form_of_a_leaf_is_read(value, dtype, shape, trainable):
    got = leaf(value)
    assert isinstance(got, Leaf)
    assert isinstance(got.value, np.ndarray)
    assert (got.value.dtype.name, got.value.shape, got.trainable) == (dtype, shape, trainable)


RAW = {"dtype": "uint8", "shape": [1, 3], "base64": "AAEC"}


def test_base64_arrays_may_be_wrapped_to_set_trainable_and_shape():
    plain, frozen = leaf(RAW), {**RAW, "trainable": False}
    assert plain.value.tolist() == leaf({"value": RAW}).value.tolist()
    for value, trainable, any_shape in [
        ({"value": RAW}, True, False),
        ({"value": RAW, "shape": None}, True, True),
        ({"value": RAW, "trainable": False}, False, False),
        ({"value": frozen, "shape": None}, False, True),
    ]:
        assert leaf(value)[1:3] == (trainable, any_shape)


def test_references_may_be_wrapped_to_leave_their_shape_open():
    ref, array = "sha256:" + "0" * 64, np.zeros(2)
    references = References(lambda kind, name: array if (kind, name) == ("tensors", ref) else None)
    read = read_variables({"x": {"value": {"ref": ref}, "shape": None}}, references)["x"]
    assert read == Leaf(array, any_shape=True, resident=ref)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"value": RAW, "dtype": "uint8"}, "/variables/x"),
        ({"value": {**RAW, "shape": [2]}}, "/variables/x/value/base64"),
        ({"value": {"value": RAW}}, "/variables/x/value"),
        ({"value": {"w": RAW}}, "/variables/x/value"),
    ],
    ids=["two dtypes", "too long", "thrice", "a level"],
)
def test_only_arrays_can_be_wrapped(value, pointer):
    assert refusal({"x": value}).pointer == pointer


def test_strings_are_leaves():
    assert leaf("a word") == Leaf("a word")
    assert leaf({"value": "a word", "trainable": False}) == Leaf("a word", False)
    assert leaf(["a", "b"]) == [Leaf("a"), Leaf("b")]


def test_nested_values_keep_their_structure():
    got = leaf([{"w": [[1, 2]], "b": {"re": 1}}, [], {}, [1, {"value": 2}], [True, "word"]])
    assert got[0]["w"].value.shape == (1, 2)
    assert got[0]["b"]["re"].value == 1
    assert got[1].value.shape == (0,)
    assert got[2] == {}
    assert [member.value for member in got[3]] == [1, 2]
    assert got[4][1] == Leaf("word")


def test_the_outermost_object_is_never_a_leaf():
    names = ("value", "base64", "data", "ref", "indices", "row_splits", "re", "im", "dtype")
    got = read_variables(dict.fromkeys(names, 1), References())
    assert set(got) == set(names)
    assert all(isinstance(member, Leaf) for member in got.values())


def test_names_are_unchanged():
    names = ["layers.0.w", "", "a/b", "~", "π", "a\x00b", "…" * 100]
    assert list(read_variables(dict.fromkeys(names, 1.0), References())) == names


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
        ({"ref": "a word"}, "/variables/x/ref"),
        ({"ref": "sha256:" + "A" * 64}, "/variables/x/ref"),
        ({"ref": "sha256:" + "a" * 64 + "\n"}, "/variables/x/ref"),
        ({"ref": "sha256:" + "a" * 64, "dtype": "int8"}, "/variables/x"),
        ({"indices": [[0]], "values": [1], "shape": [3], "ref": "a"}, "/variables/x"),
        ({"re": 1, "im": "x"}, "/variables/x/im"),
        ([{"a": [{"b": None}]}], "/variables/x/0/a/0/b"),
    ],
)
def test_errors_point_to_the_invalid_value(value, pointer):
    assert refusal({"ok": 1, "x": value}).pointer == pointer


def test_the_number_of_values_is_limited_but_not_that_of_array_elements():
    many = [1.5] * (MOST_VALUES + 1)
    assert len(read_variables({"x": many}, References())["x"].value) == len(many)
    for document in {"x": [*many, "text"]}, dict.fromkeys(map(str, range(len(many))), 1.5):
        with pytest.raises(RequestError) as caught:
            read_variables(document, References())
        assert caught.value.code == "over_budget"


def test_nesting_is_limited():
    value: object = "deep"
    for _ in range(1000):
        value = {"x": value}
    assert "64" in refusal(value).detail


ONE, OTHER, THIRD = (f"sha256:{digit * 64}" for digit in "1ab")
ARRAYS = {
    ONE: np.array([[0, 1], [1, 0]]),
    OTHER: np.array([3.0, 4.0]),
    THIRD: np.array([0, 1, 2]),
}


def held():
    """References to the arrays above; all other references are missing."""
    return References(lambda kind, digest: ARRAYS.get(digest) if kind == "tensors" else None)


def test_references_give_the_stored_arrays_without_copies():
    got = read_variables({"a": {"ref": ONE}, "b": [{"ref": OTHER, "trainable": False}, 1]}, held())
    assert got["a"] == Leaf(ARRAYS[ONE], resident=ONE)
    assert got["a"].value is ARRAYS[ONE]
    assert got["b"][0] == Leaf(ARRAYS[OTHER], False, resident=OTHER)
    assert got["b"][1].resident is None


def test_parts_of_composite_tensors_may_be_references():
    sparse = {"indices": {"ref": ONE}, "values": {"ref": OTHER}, "shape": [2, 2]}
    read = read_variables({"x": sparse}, held())["x"]
    np.testing.assert_array_equal(read["values"].value, ARRAYS[OTHER])
    np.testing.assert_array_equal(read["indices"].value, ARRAYS[ONE])
    ragged = {"values": {"ref": OTHER}, "row_splits": {"ref": THIRD}}
    read = read_variables({"x": ragged}, held())["x"]
    np.testing.assert_array_equal(read["row_splits"].value, ARRAYS[THIRD])


def test_all_missing_references_are_reported_together():
    references = References()
    sparse = {"indices": {"ref": OTHER}, "values": {"ref": ONE}, "shape": [2]}
    read_variables({"a": {"ref": ONE}, "b": [sparse, {"ref": ONE}]}, references)
    with pytest.raises(RequestError) as caught:
        references.check()
    assert caught.value.code == "unknown_ref"
    assert caught.value.missing == [ONE, OTHER]
    held().check()


@pytest.mark.parametrize(
    "document",
    [3, [1.5, 2], True, "NaN", {"value": [1], "dtype": "int8"}, {"re": [1], "im": [2]}],
)
def test_any_array_leaf_is_a_tensor(document):
    assert read_tensor(document).tobytes() == leaf(document).value.tobytes()


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (None, ""),
        ("a word", ""),
        ({}, ""),
        ({"a": 1}, ""),
        ([{"a": 1}], ""),
        ([[1], [2, 3]], "/1"),
        ({"ref": ONE}, ""),
        ({"value": "a word"}, ""),
        ({"value": [1, None]}, "/value/1"),
        ({"values": [1, 2], "row_splits": [0, 2]}, ""),
    ],
)
def test_invalid_tensors_are_refused(document, pointer):
    with pytest.raises(RequestError) as caught:
        read_tensor(document)
    assert (caught.value.code, caught.value.pointer) == ("malformed_tensor", pointer)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("values", [True, False])
def test_leaves_say_which_of_their_parts_are_differentiated(whole, values):
    part = {"value": [1, 2], "trainable": values}
    leaf = {"indices": [[0], [1]], "values": part, "shape": [3], "trainable": whole}
    read = read_variables({"a": leaf}, References())["a"]
    assert read["values"].trainable == (whole and values)
