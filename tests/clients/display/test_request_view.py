import httpx
import numpy as np
import pytest
from gradwire import RaggedArray, SparseArray, codec
from gradwire.bfloat16 import widened
from gradwire.display.request_view import RequestView
from gradwire.residents import REFERENTS, Referents
from gradwire.trees import MISSING
from gradwire.values import encode, encode_variables
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.arrays import arrays_of

DTYPES = "bool int8 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()


def asked(document, **named):
    request = httpx.Request(
        "POST",
        "http://service/v1/gradient",
        content=codec.encode(document),
        headers={"Content-Type": codec.MEDIA_TYPE},
    )
    extensions = {REFERENTS: Referents(named, "x**2")} if named else {}
    return RequestView.of(httpx.Response(200, request=request, extensions=extensions))


@given(st.sampled_from(DTYPES).flatmap(lambda d: arrays_of(d, hnp.array_shapes(min_dims=0))))
def test_a_request_can_be_parsed_again(array):
    read = asked({"variables": encode_variables({"a": {"b": [0.5, array]}})})
    value = read.variable("a.b.1")
    with np.errstate(invalid="ignore"):  # of NaN that signal
        # Of bfloat16, NumPy does not know that nan is nan.
        np.testing.assert_array_equal(widened(np.asarray(value)), widened(array))
    assert np.asarray(value).dtype == array.dtype
    assert read.variable("a.b[0]") == 0.5


def test_leaves_of_every_form_are_read():
    sparse = SparseArray(np.array([[0, 1]]), np.array([2.0]), (2, 2))
    ragged = RaggedArray.of([[1.0], [2.0, 3.0]])
    variables = {
        "sparse": encode(sparse, "s"),
        "ragged": encode(ragged, "r"),
        "fixed": encode({"value": [0, 1, 2], "trainable": False}, "f"),
        "held": encode({"value": sparse, "trainable": False}, "h"),
        "word": encode("NaN", "w"),
        "text": encode("a b", "t"),
        "list": encode([[1, 2], [np.inf, -0.5]], "l"),
        "parts": {"re": [1.0, 2.0], "im": [1.0, 0.0], "dtype": "complex64"},
    }
    read = asked({"variables": variables, "program": "x"})
    for name in ("sparse", "held"):
        np.testing.assert_array_equal(read.variable(name).toarray(), sparse.toarray())
    assert [row.tolist() for row in read.variable("ragged")] == [[1.0], [2.0, 3.0]]
    assert read.variable("fixed").tolist() == [0, 1, 2]
    assert np.isnan(read.variable("word"))
    assert read.variable("text") == "a b"
    np.testing.assert_array_equal(read.variable("list"), [[1, 2], [np.inf, -0.5]])
    assert read.variable("parts") is MISSING  # only written by hand
    assert read.variable("nowhere") is MISSING
    assert read.source == "x"


def test_references_are_resolved_to_the_clients_arrays():
    document = {
        "program": {"ref": "sha256:p"},
        "variables": {"x": {"ref": "sha256:a"}, "y": {"ref": "sha256:b"}},
    }
    known = asked(document, **{"sha256:a": np.ones(3)})
    assert known.variable("x").tolist() == [1, 1, 1]
    assert known.variable("y") is MISSING
    assert known.source == "x**2"
    assert asked(document).variable("x") is MISSING
    assert asked(document).source is None


@pytest.mark.parametrize("response", [httpx.Response(200), None])
def test_a_response_made_by_hand_has_no_request(response):
    if response is None:
        response = httpx.Response(200, request=httpx.Request("GET", "http://service/v1/tapes/a"))
    assert RequestView.of(response).document == {}
    assert RequestView.of(response).variable("x") is MISSING


def test_nesting_levels_are_not_values():
    read = asked({"variables": {"l": [np.ones(2), np.ones(3)], "m": {"w": 1.0}}})
    assert read.variable("l") is read.variable("m") is MISSING
