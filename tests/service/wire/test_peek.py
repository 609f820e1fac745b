"""Single fields, found without parsing the whole body."""

import json

import msgpack
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.codec import JSON, MESSAGEPACK
from gradwire_service.wire.peek import program_of, timeout_of
from gradwire_service.wire.shared import SharedMemory

LONG = {"program": "sum(x)", "variables": {"x": [0.25] * 20_000}}


def shared(body):
    found = SharedMemory()
    found.append(body)
    return found


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"timeout_ms": 500}, 500),
        ({"timeout_ms": 0.5}, 0.5),
        ({"timeout_ms": None}, None),
        ({}, None),
        ({"program": "timeout_ms"}, None),
        ({"variables": {"timeout_ms": 7}}, None),
        ({"variables": {"x": {"timeout_ms": 7}}, "timeout_ms": 9}, 9),
    ],
)
def test_only_the_top_level_field_counts(more, expected):
    document = {**LONG, **more}
    assert timeout_of(shared(json.dumps(document).encode()), JSON) == expected
    assert timeout_of(shared(msgpack.packb(document)), MESSAGEPACK) == expected


@pytest.mark.parametrize("wrong", [-1, 0, "5", [1], True])
def test_invalid_timeouts_are_refused(wrong):
    body = shared(json.dumps({**LONG, "timeout_ms": wrong}).encode())
    with pytest.raises(RequestError) as caught:
        timeout_of(body, JSON)
    assert caught.value.pointer == "/timeout_ms"


@pytest.mark.parametrize(
    "body", [b'{"timeout_ms": 5', b'["timeout_ms"]', b"\xc1timeout_ms", b'{"timeout_ms":' * 9999]
)
def test_invalid_bodies_are_left_to_the_full_parser(body):
    for codec in JSON, MESSAGEPACK:
        assert timeout_of(shared(body), codec) is None


@pytest.mark.parametrize(
    "program", ["sum(x) + 1", {"ref": "sha256:00"}, {"nodes": [], "program": "not this one"}]
)
def test_the_program_key_does_not_depend_on_other_fields(program):
    found = set()
    for more in ({}, {"timeout_ms": 5}, {"variables": {"program": "x"}}):
        document = {**more, "program": program, "x": [0.25] * 20_000}
        for body, codec in (
            (json.dumps(document).encode(), JSON),
            (msgpack.packb(document), MESSAGEPACK),
        ):
            assert program_of(body, codec) == program_of(shared(body), codec)
            found.add((codec, program_of(body, codec)))
    assert len(found) == 2
    assert None not in {one for _, one in found}


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"\xc1", b'{"variables": {"program": "x"}}'])
def test_a_body_without_a_program_has_no_program_key(body):
    for codec in JSON, MESSAGEPACK:
        assert program_of(body, codec) is None
        assert program_of(shared(body), codec) is None
