"""bfloat16: a dtype of values, programs and answers, with ``ml_dtypes`` and without."""

import hashlib
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import gradwire
import httpx
import msgpack
import numpy as np
import pytest
from gradwire import bfloat16, codec
from gradwire.bfloat16 import BFLOAT16, FLOAT16, FLOAT32
from gradwire.display.spelling import leaf
from gradwire.values import encode, type_of
from hypothesis import given
from hypothesis import strategies as st

ml_dtypes = pytest.importorskip("ml_dtypes")
#: Every bfloat16 that is finite.
EVERY = np.arange(1 << 16, dtype=np.uint16)
EVERY = EVERY[EVERY & 0x7F80 != 0x7F80].view(ml_dtypes.bfloat16)


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
        found, expected = bfloat16.rounded(array), array.astype(ml_dtypes.bfloat16)
    assert found.dtype == BFLOAT16
    assert found.tobytes() == expected.tobytes()


def test_floats_are_rounded_once():
    number = np.array(1 + 2**-8 + 2**-40)  # which float32 would make a tie
    assert bfloat16.rounded(number) == 1 + 2**-7


@pytest.mark.thorough
def test_decimals_in_fewest_digits_read_back():
    found = bfloat16.shortest(EVERY)
    assert bfloat16.rounded(found).tobytes() == EVERY.tobytes()
    assert bfloat16.shortest(narrow(0.1, -3, np.inf, np.nan)).tolist()[:3] == [0.1, -3, np.inf]


def test_nan_that_signals_is_shown():
    array = np.array([0x7F81, 0xFFC0, 0xFF80], np.uint16).view(ml_dtypes.bfloat16)
    assert leaf(array) == {"value": ["NaN", "NaN", "-Infinity"], "dtype": "bfloat16"}


def test_the_service_keeps_every_number(client):
    answer = client.evaluate("x", {"x": EVERY})
    assert answer.outputs.dtype == BFLOAT16
    assert answer.outputs.tobytes() == EVERY.tobytes()
    number = client.evaluate("x[1]", {"x": narrow(1, 0.1)}).outputs
    assert (type(number), number) == (ml_dtypes.bfloat16, narrow(0.1)[0])


def test_answers_and_slopes_are_rounded_once_as_ml_dtypes_rounds_them(client):
    x, w = narrow(0.1, 2, -3), narrow(0.3, 1.7, 0.2)
    found = client.gradient("sum(tanh(x * w))", {"x": x, "w": w}, exact=True)
    y = np.tanh((x * w).astype(np.float32))
    slope = (1 - y * y).astype(BFLOAT16)
    assert found.value.dtype == BFLOAT16
    for name, expected in (("x", slope * w), ("w", slope * x)):
        assert found.gradients[name].dtype == BFLOAT16
        np.testing.assert_allclose(
            found.gradients[name].astype(float), expected.astype(float), rtol=2**-7
        )


def test_they_may_be_the_values_of_sparse_and_ragged_arrays(client):
    values = narrow(0.1, 2)
    rows = gradwire.RaggedArray(values, np.array([0, 0, 2]))
    diagonal = gradwire.SparseArray(np.array([[0, 0], [1, 1]]), values, (2, 2))
    variables = {"rows": rows, "diagonal": diagonal}
    found = client.gradient("sum(sum(rows, axis=1)) + sum(diagonal * 3)", variables)
    assert found.gradients["diagonal"].values.dtype == BFLOAT16
    assert found.gradients["diagonal"].values.tolist() == [3, 3]
    assert found.gradients["rows"].values.dtype == BFLOAT16
    assert found.gradients["rows"].values.tolist() == [1, 1]
    assert "bfloat16" in repr(found)


def test_functions_record_them(client):
    constant = narrow(0.1, 0.2)
    kinds = []

    @gradwire.function
    def loss(x):
        scaled = 2.0 * x * constant * constant[0]
        kinds.extend([x.dtype, scaled.dtype])
        return np.sum(scaled**2)

    loss = gradwire.function(loss, client)
    x = narrow(3, 4)
    wide = [array.astype(np.float64) for array in (x, constant)]
    expected = 2 * wide[0] * wide[1] * wide[1][0]
    value, gradient = gradwire.value_and_grad(loss)(x)
    assert set(kinds) == {BFLOAT16}
    assert (value.dtype, gradient.dtype) == (BFLOAT16, BFLOAT16)
    np.testing.assert_allclose(float(value), np.sum(expected**2), rtol=0.03)
    np.testing.assert_allclose(gradient.astype(float), 2 * expected**2 / wide[0], rtol=0.03)


HALF, WIDE = np.ones(2, np.float16), np.ones(2, np.float32)
#: Functions of a vector of bfloat16, and the dtype of their results.
TYPED: dict[str, tuple[Any, Any]] = {
    "a Python float": (lambda x: 2.5 * x, BFLOAT16),
    "a Python integer": (lambda x: x + 300, BFLOAT16),
    "a complex number": (lambda x: x * 1j, np.complex64),
    "NumPy's float": (lambda x: x * np.float64(2), np.float64),
    "its own": (lambda x: x + narrow(1)[0], BFLOAT16),
    "bool": (lambda x: x * (x > 1), BFLOAT16),
    "int8": (lambda x: x + np.ones(2, np.int8), BFLOAT16),
    "int16": (lambda x: x + np.ones(2, np.int16), FLOAT32),
    "int64": (lambda x: x + np.arange(2), np.float64),
    "float16": (lambda x: x + HALF, FLOAT32),
    "float32": (lambda x: x + WIDE, FLOAT32),
    "a weak number": (lambda x: x * len(x) * (1 + float(2)), BFLOAT16),
    "exp": (np.exp, BFLOAT16),
    "sum": (np.sum, BFLOAT16),
    "mean": (np.mean, BFLOAT16),
    "comparison": (lambda x: x > 0, np.bool_),
    "argmax": (np.argmax, np.int64),
    "product of matrices": (lambda x: np.outer(x, x) @ x, BFLOAT16),
    "where": (lambda x: np.where(x > 0, x, 0.0), BFLOAT16),
    "clip": (lambda x: np.clip(x, 0, 1.5), BFLOAT16),
    "zeros": (lambda x: np.zeros_like(x) + x, BFLOAT16),
    "joined": (lambda x: np.concatenate([x, narrow(1)]), BFLOAT16),
    "joined with float16": (lambda x: np.concatenate([x, HALF]), FLOAT32),
    "sum in float32": (lambda x: np.sum(x, dtype=np.float32), FLOAT32),
    "sum in float16": (lambda x: np.sum(x, dtype=np.float16), FLOAT16),
    "sum of float32": (lambda x: np.sum(x + WIDE, dtype=BFLOAT16), BFLOAT16),
    "conversion": (lambda x: (x + WIDE).astype("bfloat16"), BFLOAT16),
    "conversion by ml_dtypes": (lambda x: np.astype(x + WIDE, ml_dtypes.bfloat16), BFLOAT16),
    "wider": (lambda x: x.astype(np.float32), FLOAT32),
    "assignment": (lambda x: assigned(np.zeros(2, ml_dtypes.bfloat16), x * 2), BFLOAT16),
    "result type": (lambda x: x.astype(np.result_type(x, 1.0)), BFLOAT16),
}


def assigned(target, value):
    target[:] = value
    return target


@pytest.mark.parametrize("of", TYPED)
def test_recorded_dtypes_are_those_of_the_service(client, of):
    function, expected = TYPED[of]
    recorded = []

    def traced(x):
        made = function(x)
        recorded.append(made.dtype)
        return made

    answer = gradwire.function(traced, client)(narrow(1, 2))
    assert [*recorded, answer.dtype] == [np.dtype(expected)] * 2


def test_numpy_casts_them_as_it_casts_float16(client):
    with pytest.raises(TypeError, match="Cannot cast"):
        gradwire.function(lambda x: x.astype(np.int64, casting="same_kind"), client)(narrow(1))


def test_points_of_a_map_are_sent_together(client):
    points = [{"x": narrow(i, 0.1)} for i in range(3)]
    found = list(client.map("sum(x)", points))
    assert found == [narrow(i)[0] + narrow(0.1)[0] for i in range(3)]


def test_tensors_are_stored_in_two_bytes_a_number(watched):
    array = narrow(0.1, 0.2)
    stored = watched.client.tensors.put(array)
    assert len(watched.bodies[0]) < 40
    digest = hashlib.sha256(b"bfloat16 2\n" + array.tobytes()).hexdigest()
    assert (stored.ref, stored.dtype, stored.nbytes) == (f"sha256:{digest}", BFLOAT16, 4)
    assert watched.client.tensors.get(stored).tobytes() == array.tobytes()
    assert watched.client.evaluate("x[1]", {"x": stored}).outputs == array[1]


def test_repeated_arrays_are_stored_in_two_bytes_a_number(watched):
    array = (np.arange(40_000) % 200).astype(ml_dtypes.bfloat16)
    for i in range(4):
        answer = watched.client.evaluate("x[i]", {"x": array, "i": np.int64(i)})
        assert answer.outputs == i
    lengths = [len(body) for body in watched.bodies]
    assert max(lengths) < array.nbytes + 300
    assert lengths[-1] < 300


def test_requests_and_answers_are_shown_with_their_numbers(client):
    sent = encode(narrow(1, 0.1), "x")
    assert leaf(sent) == {"value": [1.0, 0.1], "dtype": "bfloat16"}
    assert type_of(sent) == "bfloat16[2]"
    shown = codec.decode(codec.encode({"x": sent}))["x"]
    assert (shown.dtype, shown.tolist()) == (BFLOAT16, narrow(1, 0.1).tolist())
    text = repr(client.evaluate("x * 2", {"x": narrow(1, 0.1)}))
    assert "bfloat16[2]" in text
    assert "[2, 0.2002]" in text


#: What users without ``ml_dtypes`` see.
WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import gradwire
import numpy as np
from gradwire import codec
from gradwire.bfloat16 import BFLOAT16, rounded, shortest, widened
client = gradwire.Client(sys.argv[1])
sent = rounded(np.array([0.1, 2]))
for wrong in (lambda: sent + 1, lambda: sent.astype(np.float64), lambda: np.sum(sent)):
    try:
        wrong()
    except TypeError:
        continue
    raise AssertionError("NumPy has computed with bytes")
assert shortest(sent).tolist() == [0.1, 2]
answer = client.gradient("sum(x * x)", {"x": {"value": [0.1, 2], "dtype": "bfloat16"}})
assert answer.value.dtype == answer.gradients["x"].dtype == np.float32
assert answer.gradients["x"].tolist() == (2 * widened(sent)).tolist()
kinds = []
def double(x):
    kinds.append((2.0 * x).dtype)
    return (2.0 * x).astype(np.float32).astype("bfloat16")
found = gradwire.function(double, client)(sent)
assert kinds == [BFLOAT16]
assert found.tolist() == (2 * widened(sent)).tolist()
stored = client.tensors.put(sent)
assert stored.dtype == BFLOAT16
assert client.tensors.get(stored).tolist() == widened(sent).tolist()
"""


@pytest.mark.thorough
def test_without_ml_dtypes_answers_are_float32(service_url):
    command = [sys.executable, "-W", "error", "-c", WITHOUT, service_url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
