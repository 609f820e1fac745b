"""What one request may cost the event loop before an executor has it: calls are counted."""

import sys
from collections import Counter

import msgspec
import pytest
from gradwire_engine.frontends import text as text_frontend

#: With some 0.1 µs for each, 2 ms.
MOST_CALLS = 20_000
BYTES = 60_000
#: Items of a list that is no array: each is read by itself, at every depth.
ITEMS = {
    "a number and a word": [1, ""],
    "words": ["a"],
    "nothing": [None],
    "truth values": [True],
    "not a number": ["NaN"],
    "lists": [[]],
    "ragged lists": [[1], [1, 2]],
    "deep lists": [[[[1]]]],
    "objects": [{}],
    "nested objects": [{"a": {"b": 1}}],
    "leaves": [{"value": 1}],
    "complex numbers": [{"re": 1, "im": 1}],
    "bytes": [{"base64": "AAAAAAAAAAA=", "dtype": "float64", "shape": []}],
    "sparse tensors": [{"indices": [], "values": [], "shape": [1]}],
    "references": [{"ref": "sha256:" + "0" * 64}],
}
#: A line or a part of a program.
TEXTS = {
    "assignments": "a = x\n",
    "calls": "sin(x)\n",
    "branches": "if x > 1:\n x = x + 1\n",
    "loops": "for i in range(9):\n x = x + i\n",
    "a list": "[1,1,1,1,1]\n",
    "comments": "#\n",
    "what is no program": "x)\n",
    "spaces": "          \n",
}


def request(**fields):
    return {"program": "x * 2", "variables": {"x": 1.0}, **fields}


def repeated(items):
    """So many of them that the body has ``BYTES``."""
    return items * (BYTES // len(msgspec.json.encode(items)))


def with_value(items):
    return request(variables={"x": 1.0, "z": repeated(items)})


def documents():
    """Bodies just short enough to be read on the event loop, by what makes them dear."""
    for name, items in ITEMS.items():
        yield f"values: {name}", "evaluate", with_value(items)
        yield f"tangents: {name}", "jvp", request(tangents={"x": repeated(items)})
        yield f"seeds: {name}", "gradient", request(output_gradients=repeated(items))
    names = {f"v{number}": 1 for number in range(BYTES // 12)}
    yield "many variables", "evaluate", request(variables={"x": 1.0, **names})
    yield "many tangents", "jvp", request(tangents=names)
    yield "many fields", "evaluate", request(**names)
    yield "many sources", "gradient", request(sources=repeated(["x"]))
    yield "nested sources", "gradient", request(sources=repeated([{"a": ["x"]}]))
    yield "many outputs", "evaluate", request(outputs=repeated(["x"]))
    yield "many axes", "gradient", request(batch=dict.fromkeys(names, 0))
    yield "kept", "evaluate", request(keep=repeated(["outputs"]))
    for name, text in TEXTS.items():
        yield f"text: {name}", "evaluate", request(program="".join(repeated([text])) + "x")
    nodes = [{"id": f"n{i}", "op": "sin", "inputs": ["x"]} for i in range(BYTES // 60)]
    yield "a graph", "evaluate", request(program={"nodes": nodes, "outputs": ["n0"]})


FORMS = {"application/json": msgspec.json.encode, "application/msgpack": msgspec.msgpack.encode}


async def spent(client, kind, body, media_type):
    """The calls in the thread of the event loop, and those that parse text."""
    counted = Counter[str]()

    def count(frame, event, _):
        if event in ("call", "c_call"):
            counted["all"] += 1
            counted["parsed"] += event == "call" and frame.f_code is PARSE_TEXT

    headers = {"content-type": media_type, "gradwire-timeout-ms": "60000"}
    sys.setprofile(count)
    try:
        await client.post(f"/v1/{kind}", content=body, headers=headers)
    finally:
        sys.setprofile(None)
    return counted


PARSE_TEXT = text_frontend.parse_text.__code__


@pytest.mark.parametrize("media_type", FORMS)
@pytest.mark.parametrize(
    ("kind", "document"), [pytest.param(*of, id=name) for name, *of in documents()]
)
async def test_what_is_dear_to_read_goes_to_an_executor(client, kind, document, media_type):
    body = FORMS[media_type](document)
    assert len(body) < 64 << 10
    counted = await spent(client, kind, body, media_type)
    assert counted["all"] < MOST_CALLS
    assert not counted["parsed"] or len(document["program"]) < 100


async def test_a_long_program_is_parsed_here_once_it_has_proved_short(client):
    program = "y = x\n" + "# as long as it takes\n" * 200 + "y * y"
    body = msgspec.json.encode({"program": program, "variables": {"x": 3.0}})
    counts = [await spent(client, "gradient", body, "application/json") for _ in range(8)]
    assert not any(count["parsed"] for count in counts)  # in another thread
    answer = await client.post("/v1/gradient", content=body)
    assert answer.json()["gradients"] == {"x": 6.0}
    first, *_, last = (count["all"] for count in counts)
    assert last < first
