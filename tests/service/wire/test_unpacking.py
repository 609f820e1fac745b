"""The MessagePack parser, compared with another implementation."""

import math
import struct

import msgpack
import numpy as np
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.unpacking import MOST_LEVELS, MOST_VALUES, unpack
from hypothesis import example, given
from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
integers = st.integers(-(1 << 63), (1 << 64) - 1)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False) | texts
documents = st.recursive(
    scalars | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(texts, inner, max_size=20),
    max_leaves=60,
)


def plain(value):
    """``value`` with views of the body replaced by bytes."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def refusal(body, code="malformed_body"):
    with pytest.raises(RequestError) as caught:
        unpack(body)
    assert caught.value.code == code
    return caught.value.detail


@pytest.mark.thorough
@given(documents)
@example([1.5] * 40)
@example([1.5] * 40 + [2])
@example({"a": [1.5] * 70_000, "b": "x" * 70_000, "c": b"y" * 70_000})
@example([-1, -32, -33, 127, 128, 255, 256, -128, -129, 65_535, 65_536, -32_768, -32_769])
def test_documents_are_parsed_like_another_implementation(document):
    body = msgpack.packb(document)
    for form in body, bytearray(body):
        read = plain(unpack(form))
        assert read == document
        assert repr(read) == repr(plain(msgpack.unpackb(body)))


def test_float32_and_nonfinite_numbers_are_parsed():
    assert unpack(msgpack.packb(0.1, use_single_float=True)) == np.float32(0.1)
    read = unpack(msgpack.packb([math.nan, math.inf, -math.inf, -0.0, 5e-324] * 10))
    expected = [math.nan, math.inf, -math.inf, -0.0, 5e-324] * 10
    assert struct.pack("50d", *read) == struct.pack("50d", *expected)


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(body):
    try:
        read = unpack(body)
    except RequestError as refused:
        assert refused.code in ("malformed_body", "over_budget")  # noqa: PT017 - either is right
    else:
        assert repr(plain(read)) == repr(plain(msgpack.unpackb(body, strict_map_key=True)))


@given(documents, st.data())
def test_truncated_and_extended_bodies_are_refused(document, data):
    body = msgpack.packb(document)
    cut = data.draw(st.integers(0, len(body) - 1))
    assert ("truncated" if cut else "empty") in refusal(body[:cut])
    assert "trailing bytes" in refusal(body + b"\xc0")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "empty"),
        (b"\xc1", "unused"),
        (msgpack.packb(msgpack.ExtType(1, b"x")), "extension"),
        (msgpack.packb(msgpack.Timestamp(1)), "extension"),
        (b"\x82\xa1a\x01\xa1a\x02", "duplicate key 'a'"),
        (b"\x81\x01\x01", "string"),
        (b"\x81\xc4\x01a\x01", "string"),
        (b"\x81\x90\x01", "string"),
        (b"\xa2\xff\xff", "UTF-8"),
        (b"\xdd\xff\xff\xff\xff", "truncated"),
        (b"\xdf\xff\xff\xff\xff\xa1a\x01", "truncated"),
        (b"\xdb\xff\xff\xff\xffabc", "truncated"),
        (b"\xc6\xff\xff\xff\xff", "truncated"),
    ],
)
def test_unsupported_types_are_refused(body, detail):
    assert detail in refusal(body)


def test_depth_is_limited():
    deepest = b"\x91" * MOST_LEVELS
    assert "deeper" in refusal(deepest + b"\x91\x01")
    value = unpack(b"\x91" * (MOST_LEVELS - 1) + b"\x01")
    while isinstance(value, list):
        (value,) = value
    assert value == 1
    assert "deeper" in refusal(b"\x91" * 1_000_000 + b"\x01")
    assert "deeper" in refusal(b"\x81\xa1a" * 1_000_000 + b"\x01")


@pytest.mark.parametrize("byte", [b"\x90", b"\x80", b"\x01", b"\xa0"])
def test_too_many_small_values_are_refused_without_reading_on(byte):
    wrong = b"\xc1"  # is never a value
    assert "more than" not in refusal(b"\xdd" + struct.pack(">I", 3) + byte + 2 * wrong)
    begun = b"\xdd" + struct.pack(">I", 20 * MOST_VALUES) + byte * (MOST_VALUES + 1)
    assert "more than" in refusal(begun + wrong * (19 * MOST_VALUES), "over_budget")
    lists = MOST_VALUES // 20_000 + 1
    nested = b"\xdc" + struct.pack(">H", 1000) + (b"\xdc\x4e\x20" + byte * 20_000) * lists
    assert "more than" in refusal(nested + wrong * 1000, "over_budget")


def test_large_bytes_are_views_without_copies():
    for padding in range(16):
        sent = {"p" * (padding + 1): 1, "a": {"data": bytes(range(256)) * 64}, "b": [b"z" * 9000]}
        sent["c"] = [b"1" * 5000, b"2" * 5000, b"3" * 5000]
        body = bytearray(msgpack.packb(sent))
        read = unpack(body)
        assert plain(read) == sent
        array = np.frombuffer(read["a"]["data"])
        assert array.flags.aligned
        assert not array.flags.writeable
        assert np.may_share_memory(array, np.frombuffer(body, np.uint8))


def test_a_read_only_body_is_not_changed():
    body = msgpack.packb({"odd": 1, "data": b"x" * 10_000})
    before = bytes(body)
    assert bytes(unpack(body)["data"]) == b"x" * 10_000
    assert body == before
