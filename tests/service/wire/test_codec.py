"""Media types and malformed bodies."""

import numpy as np
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.codec import JSON, MESSAGEPACK, MOST_PARTS, negotiate


def code(*headers):
    with pytest.raises(RequestError) as caught:
        negotiate(*headers)
    return caught.value.code


@pytest.mark.parametrize(
    ("content_type", "codec"),
    [
        (b"", JSON),
        (b"application/json", JSON),
        (b"Application/JSON; charset=utf-8", JSON),
        (b'application/json;Charset="UTF-8"', JSON),
        (b"application/msgpack", MESSAGEPACK),
        (b"application/vnd.msgpack", MESSAGEPACK),
        (b"application/x-msgpack", MESSAGEPACK),
    ],
)
def test_what_is_read_and_answered_alike(content_type, codec):
    read = negotiate(content_type, b"", b"")
    assert (read.reader, read.writer, read.coding) == (codec, codec, None)
    assert read.reply_type.decode() == read.media_type in codec.media_types


@pytest.mark.parametrize(
    "content_type",
    [
        b"application/json; charset=latin-1",
        b"text/json",
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"\xff\xfe",
        b"json",
    ],
)
def test_other_types_are_not_read(content_type):
    assert code(content_type, b"", b"") == "unsupported_media_type"


@pytest.mark.parametrize(
    ("content_encoding", "name"),
    [(b"gzip", "gzip"), (b"X-Gzip", "gzip"), (b"zstd", "zstd"), (b" identity ", None)],
)
def test_content_codings(content_encoding, name):
    coding = negotiate(b"", content_encoding, b"").coding
    assert (None if coding is None else coding.name) == name


@pytest.mark.parametrize("content_encoding", [b"br", b"gzip, zstd", b"gzip, gzip", b"\xff"])
def test_other_codings_are_not_read(content_encoding):
    assert code(b"", content_encoding, b"") == "unsupported_media_type"


@pytest.mark.parametrize(
    ("accept", "reply_type"),
    [
        (b"*/*", "application/json"),
        (b"application/*", "application/json"),
        (b"text/html, application/json;q=0.1", "application/json"),
        (b"application/json; charset=utf-8", "application/json"),
        (b"text/html;q=0.9, */*;q=0.1", "application/json"),
        (b"application/msgpack", "application/msgpack"),
        (b"application/x-msgpack", "application/x-msgpack"),
        (b"application/json;q=0.5, application/vnd.msgpack", "application/vnd.msgpack"),
        (b"*/*, application/json;q=0.5", "application/msgpack"),
        (b"application/json;q=0, */*", "application/msgpack"),
    ],
)
def test_accepted(accept, reply_type):
    wanted = negotiate(b"application/json", b"", accept)
    assert wanted.reply_type == reply_type.encode()
    assert reply_type in wanted.writer.media_types


def test_at_a_tie_the_answer_is_as_the_request():
    for content_type in b"application/json", b"application/x-msgpack":
        assert negotiate(content_type, b"", b"*/*").reply_type == content_type


@pytest.mark.parametrize(
    "accept", [b"text/html", b"application/*;q=0, */*", b"application/json;q=x", b";", b"\xff"]
)
def test_not_acceptable(accept):
    assert code(b"", b"", accept) == "not_acceptable"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"{", "line 1, column 2"),
        (b'{"a": [1,]}', "line 1"),
        (b'{\n"a": NaN}', "line 2, column 6"),
        (b'{"a": 1e999}', "line 1"),
        (b"\xff", "line 1"),
        (b"\xef\xbb\xbf{}", "line 1"),
        (b'{"\\ud800": 1}', "line 1"),
        (b"[" * 100_000, "depth"),
        (b"{}{}", "line 1"),
    ],
)
def test_what_is_no_json_says_where(body, where):
    with pytest.raises(RequestError) as caught:
        JSON.read(body)
    assert caught.value.code == "malformed_body"
    assert where in caught.value.detail
    assert len(caught.value.detail) < 200


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b"{'a': 1}", "double quotes"),
        ("{\"é\": 'b'}".encode(), "double quotes"),
        (b'{"a": NaN}', '"NaN"'),
        (b"{", None),
    ],
)
def test_hints_on_what_is_no_json(body, hint):
    with pytest.raises(RequestError) as caught:
        JSON.read(body)
    assert hint is None or hint in (caught.value.hint or "")
    assert (caught.value.hint is None) == (hint is None)


def test_the_empty_body_is_told_apart():
    with pytest.raises(RequestError, match="empty"):
        JSON.read(b"")


def test_documents_are_written_with_arrays():
    assert JSON.write({"x": np.arange(2.0)}, None) == [b'{"x":[0.0,1.0]}']


@pytest.mark.parametrize("part", [b"[]", b"{}", b'""'])
def test_parts_of_a_body_are_bounded(part):
    def body(count):
        return b"[" + b",".join([part] * count) + b"]"

    assert len(JSON.read(body(MOST_PARTS - 1))) == MOST_PARTS - 1
    with pytest.raises(RequestError) as caught:
        JSON.read(body(MOST_PARTS))
    assert caught.value.code == "over_budget"


def test_of_a_name_that_comes_twice_the_last_counts():
    assert JSON.read(b'{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}
