"""The response to any invalid input is a short problem with the cause, without the input."""

import json
from contextlib import suppress

import orjson
import pytest
from decoders import DECODERS, REQUESTS, decode, read_any_request
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, RequestError
from hypothesis import given
from hypothesis import strategies as st
from seeds import seeds, words

ECHO = "e1f0c3a7"  # sent a thousand times over, it may come back a few times, cut off
MAX_ECHO = 28


def problem(response, code):
    """Check an error, and return its document."""
    assert response.headers["content-type"] == "application/problem+json", response.text[:500]
    assert len(response.content) < MAX_BODY_BYTES
    document = response.json()
    assert document["code"] == code, document
    assert response.status_code == document["status"] == KINDS[code].status
    assert response.text.count(ECHO) <= 2 * MAX_ECHO
    assert ECHO * MAX_ECHO not in response.text
    assert "Traceback" not in response.text
    assert ".py" not in response.text
    return document


async def post(client, body, path="/v1/gradient"):
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return await client.post(path, content=content, headers={"content-type": "application/json"})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"program": "x",}',
        b"{'program': 'x'}",
        b'{"program": NaN}',
        b'{"program": "x", "variables": {"x": 1e999}}',
        b'{"program": "\\ud800"}',
        b'{"\\udfff": 1}',
        b"\x00",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"variables": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' * 100_000 + b"1" + b"}" * 100_000,
        (ECHO * 1000).encode(),
    ],
)
async def test_bodies_that_are_not_json_are_refused(client, body):
    document = problem(await post(client, body), "malformed_body")
    assert "line" in document["detail"] or not body


@pytest.mark.parametrize("body", [[], "x", 1, None, True, [{"program": "x"}]])
async def test_bodies_that_are_not_an_object_are_refused(client, body):
    problem(await post(client, body), "invalid_request")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("program", 1),
        ("program", None),
        ("variables", [1, 2]),
        ("target", 3),
        ("sources", {"a": [True]}),
        ("timeout_ms", "soon"),
        ("unconnected_gradients", "maybe"),
        ("encoding", ECHO * 1000),
        ("batch", ["x"]),
        (ECHO * 1000, 1),
        ("\x00", 1),
    ],
)
async def test_invalid_fields_are_refused(client, field, value):
    request = {"program": "x * x", "variables": {"x": 1}, field: value}
    assert problem(await post(client, request), "invalid_request")["pointer"].startswith("/")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ([[1, 2], [3]], "/variables/x/1"),
        ([[[1], [2]], [[3], [4, 5]]], "/variables/x/1/1"),
        (None, "/variables/x"),
        ([1, None], "/variables/x/1"),
        ({"value": [1, "two"]}, "/variables/x/value/1"),
        ({"value": 1, "dtype": "float128"}, "/variables/x/dtype"),
        ({"value": [1, 300], "dtype": "int8"}, "/variables/x/value/1"),
        ({"value": [1.5], "dtype": "int64"}, "/variables/x/value/0"),
        ({"value": 1e300, "dtype": "float32"}, "/variables/x/value"),
        ({"value": 2**64, "dtype": "uint64"}, "/variables/x/value"),
        ({"dtype": "float64", "shape": [10**9], "base64": "AAAA"}, "/variables/x/base64"),
        ({"dtype": "float64", "shape": [1], "base64": ECHO * 1000}, "/variables/x/base64"),
        ({"indices": [[2]], "values": [1], "shape": [2]}, "/variables/x/indices/0/0"),
        ({"values": [1, 2], "row_splits": [0, 1]}, "/variables/x/row_splits/1"),
        ({ECHO * 1000: None}, None),
    ],
)
async def test_invalid_arrays_are_refused(client, value, pointer):
    body = json.dumps({"program": "sum(x)", "variables": {"x": value}}).encode()
    document = problem(await post(client, body), "malformed_tensor")
    assert document["pointer"] == pointer or pointer is None


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("y = (x + ", "syntax_error"),
        ("import os", "syntax_error"),
        ("x.__class__", "bad_argument"),
        ("y = x +* 2", "syntax_error"),
        ("", "invalid_program"),
        ("nothing_like_this(x)", "unknown_op"),
        ("x + nothing_like_this", "unknown_name"),
        ("x.nothing_like_this", "bad_argument"),
        ("matmul(x, ones((3, 4)))", "shape_mismatch"),
        ("x + ones(3)", "shape_mismatch"),
        ("reshape(x, (7,))", "shape_mismatch"),
        ("sum(x, axis=5)", "shape_mismatch"),
        ("sum(x, nothing_like_this=1)", "bad_argument"),
        ("x ^ 1.5", "dtype_mismatch"),
        ("y = range(x)", "bad_argument"),
        ("arange(1, 3) ** arange(-2, 0)", "domain_error"),
        ("def f(n):\n  return f(n)\nf(1)", "invalid_program"),
        ("(" * 30_000 + "x" + ")" * 30_000, "syntax_error"),
        ("(" * 100_000 + "x" + ")" * 100_000, "over_budget"),
        ("-" * 60_000 + "x", "syntax_error"),
        ("[" * 30_000 + "]" * 30_000, "syntax_error"),
        ("x" + " + x" * 100 + " +", "syntax_error"),
        ("if True:\n" * 1000, "syntax_error"),
        ("y = " + ECHO * 1000 + "(x)", "unknown_op"),
        ("y = '" + ECHO * 1000 + "' + x", "bad_argument"),
        ("zeros((100000, 100000))", "over_budget"),
        ("ones(1000000000)", "over_budget"),
        ("2 ** 3 ** 4 ** 5 ** 6", "bad_argument"),
        ("10 ** 10 ** 10", "bad_argument"),
        ("1 << 10000000000", "bad_argument"),
        ("'a' * 10000000000", "bad_argument"),
        ("y = \x00", "syntax_error"),
        ("y = x \u202e", "syntax_error"),
    ],
)
async def test_programs_with_errors_are_refused(client, program, code):
    request = {"program": program, "variables": {"x": [1.0, 2.0]}}
    response = await post(client, request)
    assert response.status_code in (413, 422), response.text[:300]
    document = problem(response, code)
    if document["code"] == "syntax_error":
        assert document["node"]["line"] >= 1
        assert document["node"]["column"] >= 1
        assert document["pointer"] == "/program"


async def test_an_endless_loop_is_refused_at_the_deadline(client):
    """Or for the budget: which of the two comes first depends on the machine."""
    program = "y = x\nfor i in range(1000000000): y = y * 2"
    request = {"program": program, "variables": {"x": 1.0}, "timeout_ms": 100}
    response = await post(client, request)
    code = "deadline_exceeded" if response.status_code == 504 else "over_budget"
    problem(response, code)


async def test_a_syntax_error_has_line_and_column(client):
    document = problem(await post(client, {"program": "y = 1\nz = y +* 2"}), "syntax_error")
    assert document["node"]["line"] == 2
    assert document["node"]["column"] in (8, 9)


def graph(*nodes, outputs="a"):
    return {"program": {"format": "gradwire/1", "nodes": list(nodes), "outputs": outputs}}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (
            graph({"id": "a", "op": "sin", "args": ["b"]}, {"id": "b", "op": "sin", "args": ["a"]}),
            "invalid_program",
        ),
        (graph({"id": "a", "op": "sin", "args": ["a"]}), "invalid_program"),
        (
            graph({"id": "a", "op": "sin", "args": [1]}, {"id": "a", "op": "cos", "args": [1]}),
            "invalid_program",
        ),
        (graph({"id": "a", "op": "nothing_like_this", "args": [1]}), "unknown_op"),
        (graph({"id": "a", "op": "sin"}), "bad_argument"),
        (graph({"id": "a", "op": "sin", "args": [1], "attrs": {"nothing": 1}}), "bad_argument"),
        (graph({"id": "a", "args": [1]}), "invalid_program"),
        (graph({"id": "a", "op": "sin", "args": [None]}), "bad_argument"),
        (graph({"id": ["a"], "op": {}, "args": "x"}), "invalid_program"),
        (graph(1, None, "x", []), "invalid_program"),
        (graph(), "unknown_name"),
        ({"program": {"nodes": [{"id": "a", "op": "sin", "args": [1]}]}}, "invalid_program"),
        ({"program": {"nodes": {}}}, "invalid_program"),
        ({"program": {}}, "invalid_program"),
        ({"program": {"format": "gradwire/9", "nodes": []}}, "invalid_program"),
        (graph({"id": "a", "op": "sin", "args": [1]}, outputs={"x": ["zzz"]}), "unknown_name"),
    ],
)
async def test_graphs_with_errors_are_refused(client, request_, code):
    response = await post(client, request_)
    assert response.status_code == 422, response.text[:300]
    problem(response, code)


@pytest.mark.thorough
async def test_a_long_chain_of_nodes_is_computed(client):
    nodes = [{"id": "n0", "op": "multiply", "args": ["x", 1.0]}]
    nodes += [{"id": f"n{i}", "op": "add", "args": [f"n{i - 1}", 0.5]} for i in range(1, 30_000)]
    request = {**graph(*nodes, outputs="n29999"), "variables": {"x": 2.0}}
    response = await post(client, request)
    assert response.status_code == 200, response.text[:300]
    assert response.json()["gradients"] == {"x": 1.0}


async def test_a_value_shared_many_times_is_computed_once(client):
    program = "y = x\n" + "y = y + y\n" * 60
    response = await post(client, {"program": program, "variables": {"x": 1.0}})
    assert response.json()["gradients"] == {"x": 2.0**60}


async def test_variables_may_have_any_name(client):
    for name in "π", "x\x00y", "", "a b", "𝄞" * 50, "constructor", "__class__", "e\u0301":
        response = await post(client, {"program": "1.0 * 2", "variables": {name: 1.0}})
        if response.status_code == 200:
            assert response.json()["gradients"] == {name: None}
            assert set(response.json()["unconnected"]) == {name}
        else:
            problem(response, response.json()["code"])
    response = await post(client, {"program": "π * π", "variables": {"π": 3.0}})
    assert response.json()["gradients"] == {"π": 6.0}


async def test_nonfinite_values_are_accepted_and_returned(client):
    variables = {"x": ["NaN", "Infinity", "-Infinity", 1e308, 0]}
    response = await post(client, {"program": "x * 10", "variables": variables}, "/v1/evaluate")
    answer = response.json()
    assert answer["outputs"] == ["NaN", "Infinity", "-Infinity", "Infinity", 0.0]
    assert "forward" in answer["nonfinite"]


async def test_integers_beyond_64_bits_are_floats(client):
    body = b'{"program": "x * 1", "variables": {"x": [123456789012345678901234567890, -1]}}'
    response = await post(client, body, "/v1/evaluate")
    assert response.json()["outputs"] == [123456789012345678901234567890.0, -1.0]


async def test_unknown_and_malformed_references_are_refused(client):
    refs = ["sha256:" + digit * 64 for digit in "ab"]
    request = {"program": {"ref": refs[0]}, "variables": {"x": {"ref": refs[1]}}}
    document = problem(await post(client, request), "unknown_ref")
    assert document["missing"] == refs
    many = {f"x{i}": {"ref": f"sha256:{i:064}"} for i in range(10_000)}
    response = await post(client, {"program": "1", "variables": many})
    problem(response, "unknown_ref")
    long = {"program": "1", "variables": {"x": {"ref": ECHO * 1000}}}
    assert problem(await post(client, long), "malformed_tensor")["pointer"] == "/variables/x/ref"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"content-type": "text/plain"}, "unsupported_media_type"),
        (
            {"content-type": "application/json", "content-encoding": "br"},
            "unsupported_media_type",
        ),
        ({"accept": "text/html"}, "not_acceptable"),
    ],
)
async def test_unsupported_media_types_are_refused(client, headers, code):
    problem(await client.post("/v1/gradient", content=b"{}", headers=headers), code)


async def test_too_large_bodies_are_refused(client, settings):
    async def chunks():
        for _ in range(settings.max_body_bytes // 100_000 + 1):
            yield b" " * 100_000

    problem(await client.post("/v1/gradient", content=chunks()), "body_too_large")
    problem(await post(client, b" " * (settings.max_body_bytes + 1)), "body_too_large")


async def test_deep_nesting_is_refused(client):
    deep = b"[" * 1000 + b"]" * 1000
    for field, code in (("variables", "malformed_tensor"), ("sources", "invalid_request")):
        inner = b'{"x": ' + deep + b"}" if field == "variables" else deep
        body = b'{"program": "x", "' + field.encode() + b'": ' + inner + b"}"
        problem(await post(client, body), code)
    levels = b'{"a": ' * 1000 + b"1" + b"}" * 1000
    problem(
        await post(client, b'{"program": "1", "variables": ' + levels + b"}"), "malformed_tensor"
    )
    node = b'{"op": "sin", "args": [' * 400 + b"1.0" + b"]}" * 400
    program = b'{"nodes": [{"id": "a", "op": "sin", "args": [' + node + b']}], "outputs": "a"}'
    response = await post(client, b'{"program": ' + program + b"}")
    assert response.status_code in (200, 422), response.text[:300]


WORDS = st.sampled_from([word.decode() for word in words()])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=30,
)


@st.composite
def damaged(draw, bodies):
    """A valid body with some bytes changed."""
    body = bytearray(draw(st.sampled_from(bodies)))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(body)))
        body[start : start + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(body)


SEEDS = seeds()


@pytest.mark.parametrize("name", DECODERS)
@given(data=st.data())
def test_any_bytes_are_refused_or_parsed_like_a_reference_parser(name, data):
    decode(name, data.draw(st.binary(max_size=200) | damaged(SEEDS[name])))


@pytest.mark.parametrize("name", DECODERS)
def test_valid_bodies_are_accepted(name):
    for body in SEEDS[name] if name != "request" else ():
        DECODERS[name](body)


@given(DOCUMENTS, st.integers(0, len(REQUESTS) - 1))
def test_any_document_is_refused_or_answered(document, number):
    with suppress(RequestError):
        read_any_request(document, number)
