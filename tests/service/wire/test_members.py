"""Names that come twice are refused, whatever else the body holds."""

import json
import time

import orjson
import pytest
from gradwire_service.problems import Refusal
from gradwire_service.wire.members import MOST_PARTS, check_members, check_size
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.sampled_from(':"\\u003aA{}[],ab'), max_size=8)
documents = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=40,
)


def repeated(body):
    """Whether ``body`` has a name twice, by the words of the check."""
    try:
        check_members(body, orjson.loads(body))
    except Refusal as refused:
        assert refused.code == "malformed_body"  # noqa: PT017 - either is right
        return True
    return False


def has_repeated(body):
    """The same by Python's own parser."""
    found = []

    def look(members):
        found.append(len(members) != len(dict(members)))
        return dict(members)

    json.loads(body, object_pairs_hook=look)
    return any(found)


@given(documents, st.booleans())
def test_documents_are_right(document, escaped):
    body = json.dumps(document)
    if escaped:
        body = "".join(r"\u003a" if c == ":" and i % 3 == 0 else c for i, c in enumerate(body))
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return  # a colon that is no part of a string was escaped
    assert not repeated(body.encode())


@given(st.lists(st.tuples(texts, documents), max_size=6), documents, st.booleans())
def test_names_that_come_twice(members, beside, escaped):
    written = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members)
    body = f'{{"beside":{json.dumps(beside)},"here":[1,{{{written}}}]}}'
    if escaped:
        body = body.replace("A", r"\u003A")
    assert repeated(body.encode()) == has_repeated(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":2}',
        b'{"a" : 1, "b": 2, "\\u0061": 3}',
        b'[[[{"a":[1],"b":"::","a":":"}]]]',
        b'{"x":[1,{"a":1,"a":1}]}',
        b'{"x":"\\u003a","a":1,"a":2}',
        b'{"x":"' + b":" * 100 + b'","a":1,"a":2}',
        b'{"x":[' + b"1.5," * 500_000 + b'1],"a":1,"a":2}',
    ],
)
def test_twice(body):
    assert repeated(body)


def test_large_bodies_take_little_time():
    rows = b'{"x":[' + b",".join([b"[1.5,2.5]"] * 300_000) + b'],"program":"a:b"}'
    mixed = b"[1," + b",".join([b'{"a":"b:c"}'] * 200_000) + b"]"
    for body in rows, mixed:
        start = time.process_time()
        assert not repeated(body)
        assert time.process_time() - start < 2
    assert repeated(mixed[:-1] + b',{"a":1,"a":2}]')
    escaped = b'{"a":"\\u003a","x":[' + b"1.5," * 500_000 + b"1]}"
    assert repeated(escaped)  # refused unread


def test_objects_beyond_number():
    for byte in b"[]", b"{}", b'""':
        check_size(byte * (MOST_PARTS - 1) + b" " * 2_000_000)
        with pytest.raises(Refusal) as caught:
            check_size(b"[" + byte * MOST_PARTS)
        assert caught.value.code == "over_budget"
