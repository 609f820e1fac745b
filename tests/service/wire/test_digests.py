"""Digests of requests: what may differ between two that ask the same, and what may not."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import msgpack
import pytest
from gradwire_service.wire.codec import JSON, MESSAGEPACK
from gradwire_service.wire.digests import digest_of
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.integers(-9, 9),
    st.sampled_from(["NaN", "Infinity"]),
)
names = st.sampled_from(["x", "y", "w", "b", "é", 'a"b', "level"])
leaves = st.one_of(
    numbers,
    st.lists(numbers, min_size=1, max_size=4),
    st.builds(
        lambda value, trainable: {"value": value, "trainable": trainable}, numbers, st.booleans()
    ),
    st.builds(lambda value: {"dtype": "float32", "value": value}, st.lists(numbers, max_size=3)),
    st.just({"dtype": "float64", "shape": [1], "base64": "AAAAAAAA8D8="}),
    st.just({"re": 1, "im": 2.5}),
)
levels = st.recursive(
    leaves, lambda below: st.dictionaries(names, below, min_size=1, max_size=3), max_leaves=5
)
graphs = st.builds(
    lambda axis, outputs: {
        "format": "gradwire/1",
        "nodes": [
            {"id": name, "op": "sum", "args": ["x"], "attrs": {"axis": axis, "keepdims": True}}
            for name in outputs.values()
        ],
        "outputs": outputs,
    },
    st.integers(0, 2),
    st.dictionaries(names, st.sampled_from(["p", "q"]), min_size=1, max_size=3),
)
requests = st.fixed_dictionaries(
    {
        "program": st.one_of(st.sampled_from(["sum(x*x)", 'y = x\n"é"']), graphs),
        "variables": st.dictionaries(names, levels, min_size=1, max_size=4),
    },
    optional={
        "sources": st.one_of(names, st.dictionaries(names, names, min_size=1, max_size=3)),
        "target": st.dictionaries(names, names, min_size=1, max_size=3),
        "method": st.sampled_from(["BFGS", "SLSQP"]),
        "options": st.dictionaries(st.sampled_from(["maxiter", "gtol", "ftol"]), numbers),
        "bounds": st.dictionaries(names, st.lists(numbers, min_size=2, max_size=2)),
        "constraints": st.lists(
            st.fixed_dictionaries({"program": st.one_of(names, graphs), "low": numbers}),
            max_size=2,
        ),
        "minibatch": st.just({"size": 2, "variables": ["x"], "seed": 0}),
        "wait_ms": st.integers(0, 9),
        "exact": st.booleans(),
    },
)


def digest(body: bytes, reader: Any = JSON, kind: str = "minimize", reply: str = "json") -> str:
    return digest_of(kind, reply, reader, body)


def shuffled(value: Any, draw: random.Random) -> Any:
    """A value with all members in another order."""
    if isinstance(value, list):
        return [shuffled(item, draw) for item in value]
    if not isinstance(value, dict):
        return value
    members = [*value.items()]
    draw.shuffle(members)
    return {name: shuffled(item, draw) for name, item in members}


def ordered(value: Any, like: Any) -> Any:
    """A shuffled value whose members are in the order that they have in another one again."""
    if isinstance(value, dict):
        return {name: ordered(value[name], each) for name, each in like.items()}
    return value


def alike(request: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The request in another order, but for the orders that have a meaning."""
    found = shuffled(request, draw)
    for name in {"sources", "target"} & request.keys():
        found[name] = ordered(found[name], request[name])
    for asked, given_one in [
        (found, request),
        *zip(found.get("constraints", ()), request.get("constraints", ()), strict=True),
    ]:
        if isinstance(given_one.get("program"), dict):
            outputs = given_one["program"]["outputs"]
            asked["program"]["outputs"] = ordered(asked["program"]["outputs"], outputs)
    levels = request["variables"]
    if "sources" not in request:
        found["variables"] = {name: found["variables"][name] for name in levels}
    for name, value in found["variables"].items():
        if isinstance(value, dict) and not {"value", "base64", "re"} & value.keys():
            found["variables"][name] = copy.deepcopy(levels[name])
    return found


def spelled(value: Any, draw: random.Random) -> str:
    """JSON in which numbers and strings are written in other ways, and with white space."""
    space = draw.choice(["", " ", "\n\t"])
    if isinstance(value, dict):
        members = [
            f"{spelled(name, draw)}{space}:{spelled(each, draw)}" for name, each in value.items()
        ]
        return f"{{{space}{f',{space}'.join(members)}{space}}}"
    if isinstance(value, list):
        return f"[{f'{space},'.join([spelled(item, draw) for item in value])}{space}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=draw.random() < 0.5)
    if type(value) is float:
        return draw.choice([repr(value), f"{value:.17e}", repr(value).replace("e", "E")])
    return json.dumps(value)


@examples(400)
@given(requests, st.randoms(use_true_random=False))
def test_what_means_the_same_has_one_digest(request, draw):
    expected = digest(json.dumps(request).encode())
    again = alike(request, draw)
    assert digest(spelled(again, draw).encode()) == expected
    assert digest(msgpack.packb(again), MESSAGEPACK) == expected
    with_null = again | {"tol": None}
    assert digest(json.dumps(with_null).encode()) == expected


@examples(400)
@given(requests, st.randoms(use_true_random=False))
def test_what_differs_has_another_digest(request, draw):
    body = json.dumps(request).encode()
    expected = digest(body)
    assert digest(body, kind="root") != expected
    assert digest(body, reply="msgpack") != expected
    places = [*places_of(request)]
    path = draw.choice(places)
    changed = copy.deepcopy(request)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    old = at[path[-1]]
    at[path[-1]] = 17.5 if old != 17.5 else 3.5
    assert digest(json.dumps(changed).encode()) != expected


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """The paths of everything in a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in parts:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places_of(item, (*path, key))


#: Requests whose answer depends on an order, and the same with another one.
SWAPPED = {
    "sources": ({"sources": {"a": "x", "b": "y"}}, {"sources": {"b": "y", "a": "x"}}),
    "nested sources": (
        {"sources": ["w", {"p": "x", "q": "y"}]},
        {"sources": ["w", {"q": "y", "p": "x"}]},
    ),
    "variables that move": ({"variables": {"x": 1, "y": 2}}, {"variables": {"y": 2, "x": 1}}),
    "a level": (
        {"variables": {"p": {"x": 1, "y": 2}}, "sources": "z"},
        {"variables": {"p": {"y": 2, "x": 1}}, "sources": "z"},
    ),
    "targets": ({"target": {"a": "f", "b": "g"}}, {"target": {"b": "g", "a": "f"}}),
    "outputs": (
        {"program": {"nodes": [], "outputs": {"a": "f", "b": "g"}}},
        {"program": {"nodes": [], "outputs": {"b": "g", "a": "f"}}},
    ),
    "outputs of a loop": (
        {"program": {"nodes": [{"attrs": {"body": {"outputs": {"a": "f", "b": "g"}}}}]}},
        {"program": {"nodes": [{"attrs": {"body": {"outputs": {"b": "g", "a": "f"}}}}]}},
    ),
}


@pytest.mark.parametrize("what", SWAPPED)
def test_orders_that_mean_something_are_told_apart(what):
    one, other = SWAPPED[what]
    assert digest(json.dumps(one).encode()) != digest(json.dumps(other).encode())


#: Pairs of values that are read alike, and pairs that are not.
SAME = [("1.0", "1.00"), ("1e2", "100.0"), ("0.5", "5E-1"), ("1", "1.0"), ('"\\u00e9"', '"é"')]
OTHER = [("0.0", "-0.0"), ("1", "true"), ("1", '"1"'), ("null", "0"), ('"NaN"', "1")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_values_in_another_spelling_are_the_same(one, other):
    for document in '{"variables": {"x": [%s]}}', '{"bounds": {"value": [%s, null]}}':
        assert len({digest((document % each).encode()) for each in (one, other)}) == 1


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_values_are_others(one, other):
    bodies = [f'{{"variables": {{"x": [{each}]}}}}'.encode() for each in (one, other)]
    assert len({*map(digest, bodies)}) == 2


def test_integers_are_no_floats_where_a_type_says_so():
    for field in (
        '"options": {"maxiter": %s}',
        '"variables": {"n": {"dtype": "int64", "value": %s}}',
    ):
        bodies = [f"{{{field % number}}}".encode() for number in ("3", "3.0")]
        assert len({*map(digest, bodies)}) == 2


def test_raw_bytes_and_what_json_cannot_say_are_told_apart():
    documents = [
        {"variables": {"x": x}}
        for x in (b"\x00", b"\x01", float("nan"), float("inf"), float("-inf"), None, "AA==")
    ]
    assert len({digest(msgpack.packb(each), MESSAGEPACK) for each in documents}) == len(documents)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 5000 + b"]" * 5000, b'{"variables": 1e999}'])
def test_what_cannot_be_read_is_equal_to_itself(body):
    assert digest(body) == digest(bytes(body))
    assert digest(body) != digest(body + b" x")
