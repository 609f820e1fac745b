import json
import shutil
import subprocess

import gradwire
import httpx
import numpy as np
import pytest
from gradwire.display.commands import curl
from gradwire.display.spelling import leaf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.arrays import arrays_of

BASH = shutil.which("bash") or "bash"

DTYPES = "bool int8 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()


def run(command: str, **environment: str) -> bytes:
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "no_proxy": "127.0.0.1"}
    ran = subprocess.run(
        [BASH, "-euc", command], env=path | environment, capture_output=True, check=True
    )
    assert ran.stderr == b""
    return ran.stdout


def value_of(leaf):
    """The array that a leaf of the protocol in JSON means."""
    if not isinstance(leaf, dict):
        array = np.asarray(leaf)
        return array if array.dtype.kind == "b" else np.asarray(leaf, np.float64)
    if "re" in leaf:
        real = np.asarray(leaf["re"], np.float64)
        array = np.empty(real.shape, leaf.get("dtype", "complex128"))
        array.real, array.imag = real, np.asarray(leaf["im"], np.float64)
        return array
    return np.asarray(leaf["value"], leaf["dtype"])


def same(answer, value) -> None:
    """JSON's numbers have the same bits."""
    if isinstance(value, dict):
        assert answer.keys() == value.keys()
        for name in value:
            same(answer[name], value[name])
    elif value is None:
        assert answer is None
    else:
        read = np.asarray(value_of(answer)).astype(value.dtype)
        np.testing.assert_array_equal(read, value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_command_gets_the_same_response(client, dtype):
    rng = np.random.default_rng(1)
    x = (100 * rng.random((7, 9))).astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        special = np.array([1.0, -0.0, 5e-324, 1e300, np.pi]).astype(dtype)
    answer = client.evaluate("a, b, c", {"a": x, "b": special, "c": {"x": x[0], "n": 3}})
    told = json.loads(run(answer.as_curl()))
    for spelled, value in zip(told["outputs"], answer.outputs, strict=True):
        same(spelled, value)


def test_a_command_repeats_derivatives(client):
    point = {"w": np.linspace(-1, 1, 40), "x": {"value": np.ones(40), "trainable": False}}
    program = "# it's $HOME `id` \\ \"\nJSON\nsum(sin(w * x))"
    answer = client.gradient(program, {**point, "JSON": 0.0}, unconnected_gradients="zero")
    told = json.loads(run(answer.as_curl()))
    same(told["gradients"], answer.gradients)
    assert told["program"] == answer.program


def test_a_command_can_use_a_tape(client):
    with client.tape("sum(x**3)", {"x": [1.0, 2.0]}, persistent=True) as tape:
        answer, shown = tape.gradient(), tape.show()
        same(json.loads(run(answer.as_curl()))["gradients"], answer.gradients)
        assert json.loads(run(shown.as_curl()))["length"] == shown.length
        assert "--data" not in shown.as_curl()


def test_commands_include_sparse_and_ragged_variables(client):
    rows = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
    sparse = gradwire.SparseArray(np.array([[0, 1], [1, 0]]), np.array([2.0, 3.0]), (2, 2))
    answer = client.evaluate("sum(r, axis=1), s @ v", {"r": rows, "s": sparse, "v": np.ones(2)})
    told = json.loads(run(answer.as_curl()))["outputs"]
    assert told == [value.tolist() for value in answer.outputs]


def test_references_stay_references(service_url):
    with gradwire.Client(service_url) as client:
        for _ in range(4):
            answer = client.gradient("sum(x**2)", {"x": np.linspace(0.0, 1.0, 20_000)})
    command = answer.as_curl()
    assert "sha256:" in command
    assert len(command) < 500
    same(json.loads(run(command))["gradients"], answer.gradients)


def test_commands_for_a_local_client_name_a_server(service_url):
    with gradwire.Client.local() as client:
        answer = client.gradient("sum(x**2)", {"x": [1.0, 2.0]})
    assert '"${GRADWIRE_URL:-http://127.0.0.1:8000}"/v1/gradient' in answer.as_curl()
    told = run(answer.as_curl(), GRADWIRE_URL=service_url)
    same(json.loads(told)["gradients"], answer.gradients)


def test_commands_contain_no_api_key(script):
    reply = b'{"outputs":1.0}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    server = script(head % len(reply) + reply, head % len(reply) + reply)
    with gradwire.Client(server.url, api_key="sk-'$\"`") as client:
        command = client.evaluate("1").as_curl()
    assert "sk-" not in command
    assert run(command, GRADWIRE_API_KEY="sk-'$\"`") == reply
    first, second = (request.partition(b"\r\n\r\n") for request in server.requests)
    sent = b"Authorization: Bearer sk-'$\"`"
    assert sent in first[0]
    assert sent in second[0]
    assert json.loads(second[2]) == {"program": "1", "variables": {}}


def test_commands_contain_no_passwords_of_addresses():
    request = httpx.Request(
        "GET", "http://me:secret@host/v1/tapes/a?b='c d'", headers={"Authorization": "Basic c2Vj"}
    )
    command = curl(httpx.Response(200, request=request))
    assert "secret" not in command
    assert "c2Vj" not in command
    assert "me:" not in command
    assert '"Authorization: $GRADWIRE_AUTHORIZATION"' in command
    assert "http://host/v1/tapes/a?b=" in command


@given(
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays_of(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
    )
)
def test_arrays_are_written_bit_for_bit(array):
    document = json.loads(json.dumps(leaf(array), allow_nan=False))
    if isinstance(document, dict) and "base64" in document:
        assert array.size == 0
        assert document["shape"] == list(array.shape)
        return
    read = value_of(document)
    assert read.dtype == array.dtype
    assert read.shape == array.shape
    with np.errstate(invalid="ignore"):  # of NaN that signal
        np.testing.assert_array_equal(read, array)
        assert (np.signbit(read.real) == np.signbit(array.real))[~np.isnan(array)].all()
