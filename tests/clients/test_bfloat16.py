"""Arrays of bfloat16: two bytes a number on the way, float32 for the program and in the answer."""

import hashlib
from types import SimpleNamespace

import gradwire
import httpx
import msgpack
import numpy as np
import pytest
from gradwire import bfloat16, codec
from gradwire.display.spelling import leaf
from gradwire.values import encode, type_of
from hypothesis import given
from hypothesis import strategies as st

ml_dtypes = pytest.importorskip("ml_dtypes")
#: Every bfloat16 that is a number.
EVERY = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
EVERY = EVERY[~np.isnan(EVERY.astype(np.float32))]


def narrow(*numbers):
    return np.array(numbers, ml_dtypes.bfloat16)


def written(value):
    return msgpack.unpackb(codec.encode(encode(value, "x")))


@pytest.fixture
def watched(service_url):
    """A client, and the bodies that it sent."""
    bodies: list[bytes] = []
    hooks = {"request": [lambda request: bodies.append(request.content)]}
    with httpx.Client(base_url=service_url, event_hooks=hooks) as http:
        key = f"bfloat16 {id(bodies)}"  # its own, so that its records are separate
        yield SimpleNamespace(client=gradwire.Client(http_client=http, api_key=key), bodies=bodies)


def test_arrays_are_written_in_two_bytes_a_number():
    document = {"dtype": "bfloat16", "shape": [2, 1], "data": b"\x80\x3f\x00\xc0"}
    array = narrow(1, -2)[:, None]
    assert written(array) == document
    assert written(np.stack([array, array], axis=1)[:, 1]) == document  # not contiguous
    assert written({"value": array, "trainable": False}) == {"value": document, "trainable": False}
    assert written(narrow(1)[0]) == {"dtype": "bfloat16", "shape": [], "data": b"\x80\x3f"}


def test_the_dtype_of_a_leaf_is_kept_or_converted():
    held = {"dtype": "bfloat16", "shape": [2], "data": b"\x80\x3f\xcd\x3d"}
    for value in (narrow(1, 0.1), [1, 0.1], np.array([1, 0.1], np.float32)):
        assert written({"value": value, "dtype": "bfloat16"}) == {"value": held}
    wide = written({"value": narrow(1, 0.1), "dtype": "float64"})["value"]
    assert wide["dtype"] == "float64"
    assert np.frombuffer(wide["data"]).tolist() == [1, float(narrow(0.1)[0])]


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1))
def test_floats_are_rounded_as_ml_dtypes_rounds_them(numbers):
    array = np.array(numbers, np.float32)
    with np.errstate(over="ignore"):
        found = bfloat16.rounded(array)
    assert found.tobytes() == bfloat16.packed(array.astype(ml_dtypes.bfloat16)).tobytes()


def test_numpy_never_computes_with_the_bytes():
    array = bfloat16.packed(narrow(1, 2))
    for wrong in (lambda: array + 1, lambda: array.astype(np.float64), lambda: np.sum(array)):
        with pytest.raises(TypeError):
            wrong()


def test_the_service_reads_every_number_exactly(client):
    answer = client.evaluate("x", {"x": EVERY})
    assert answer.outputs.dtype == np.float32
    assert answer.outputs.tobytes() == EVERY.astype(np.float32).tobytes()


def test_answers_and_gradients_are_those_of_float32(client):
    x, w = narrow(0.1, 2, -3).reshape(3, 1), narrow(0.3)
    wide = [array.astype(np.float32) for array in (x, w)]
    program = "sum(tanh(x @ w))"
    found = client.gradient(program, {"x": x, "w": w}, exact=True)
    expected = client.gradient(program, dict(zip("xw", wide, strict=True)), exact=True)
    assert found.value == expected.value
    for name in "xw":
        assert found.gradients[name].dtype == np.float32
        np.testing.assert_array_equal(found.gradients[name], expected.gradients[name])


def test_they_may_be_the_values_of_sparse_and_ragged_arrays(client):
    values = narrow(0.1, 2)
    rows = gradwire.RaggedArray(values, np.array([0, 0, 2]))
    diagonal = gradwire.SparseArray(np.array([[0, 0], [1, 1]]), values, (2, 2))
    variables = {"rows": rows, "diagonal": diagonal}
    found = client.gradient("sum(sum(rows, axis=1)) + sum(diagonal @ [1, 3])", variables)
    wide = values.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(found.value, wide.sum() + wide @ [1, 3], rtol=1e-6)
    assert found.gradients["diagonal"].values.dtype == np.float32
    assert found.gradients["diagonal"].values.tolist() == [1, 3]
    assert found.gradients["rows"].values.tolist() == [1, 1]


def test_functions_record_them_as_float32(client):
    constant = narrow(0.1, 0.2)
    kinds = []

    @gradwire.function
    def loss(x):
        scaled = 2.0 * x * constant * constant[0]
        kinds.extend([x.dtype, scaled.dtype])
        return np.sum(scaled**2)

    loss = gradwire.function(loss, client)
    x = narrow(3, 4)
    wide = [array.astype(np.float32) for array in (x, constant)]
    expected = 2 * wide[0] * wide[1] * wide[1][0]
    value, gradient = gradwire.value_and_grad(loss)(x)
    assert set(kinds) == {np.dtype(np.float32)}
    assert (value.dtype, gradient.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(value, np.sum(expected**2), rtol=1e-6)
    np.testing.assert_allclose(gradient, 2 * expected**2 / wide[0], rtol=1e-6)


def test_points_of_a_map_are_sent_together(client):
    points = [{"x": narrow(i, 0.1)} for i in range(3)]
    found = list(client.map("sum(x)", points))
    assert found == [np.float32(i) + np.float32(narrow(0.1)[0]) for i in range(3)]


def test_a_stored_tensor_is_float32(watched):
    array = narrow(0.1, 0.2)
    stored = watched.client.tensors.put(array)
    assert len(watched.bodies[0]) < 40
    wide = array.astype(np.float32)
    digest = hashlib.sha256(b"float32 2\n" + wide.tobytes()).hexdigest()
    assert (stored.ref, stored.dtype, stored.nbytes) == (f"sha256:{digest}", np.float32, 8)
    assert watched.client.tensors.get(stored).tobytes() == wide.tobytes()
    assert watched.client.evaluate("x[1]", {"x": stored}).outputs == wide[1]


def test_repeated_arrays_are_stored_in_two_bytes_a_number(watched):
    array = (np.arange(40_000) % 200).astype(ml_dtypes.bfloat16)
    for scale in (1.0, 2.0, 3.0, 4.0):
        answer = watched.client.evaluate("sum(x) * scale", {"x": array, "scale": scale})
        assert answer.outputs == scale * 3_980_000
    lengths = [len(body) for body in watched.bodies]
    assert max(lengths) < array.nbytes + 300
    assert lengths[-1] < 300


def test_requests_are_shown_with_their_numbers():
    sent = encode(narrow(1, 0.1), "x")
    assert leaf(sent) == {"value": [1.0, 0.100097656], "dtype": "bfloat16"}
    assert type_of(sent) == "float32[2]"
    shown = codec.decode(codec.encode({"x": sent}))["x"]
    assert (shown.dtype, shown.tolist()) == (np.float32, [1, float(narrow(0.1)[0])])
