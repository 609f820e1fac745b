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
def test_the_response_type_follows_the_request_type(content_type, codec):
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
def test_unsupported_media_types_are_refused(content_type):
    assert code(content_type, b"", b"") == "unsupported_media_type"


@pytest.mark.parametrize(
    ("content_encoding", "name"),
    [(b"gzip", "gzip"), (b"X-Gzip", "gzip"), (b"zstd", "zstd"), (b" identity ", None)],
)
def test_content_encodings(content_encoding, name):
    coding = negotiate(b"", content_encoding, b"").coding
    assert (None if coding is None else coding.name) == name


@pytest.mark.parametrize("content_encoding", [b"br", b"gzip, zstd", b"gzip, gzip", b"\xff"])
def test_unsupported_content_encodings_are_refused(content_encoding):
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
def test_accept_determines_the_response_type(accept, reply_type):
    wanted = negotiate(b"application/json", b"", accept)
    assert wanted.reply_type == reply_type.encode()
    assert reply_type in wanted.writer.media_types


def test_with_equal_preferences_the_response_type_is_that_of_the_request():
    for content_type in b"application/json", b"application/x-msgpack":
        assert negotiate(content_type, b"", b"*/*").reply_type == content_type


@pytest.mark.parametrize(
    "accept", [b"text/html", b"application/*;q=0, */*", b"application/json;q=x", b";", b"\xff"]
)
def test_unacceptable_types_are_refused(accept):
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
def test_invalid_json_is_reported_with_its_position(body, where):
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
def test_invalid_json_has_a_hint(body, hint):
    with pytest.raises(RequestError) as caught:
        JSON.read(body)
    assert hint is None or hint in (caught.value.hint or "")
    assert (caught.value.hint is None) == (hint is None)


@pytest.mark.parametrize("number", [200, 268, 1000, 1024, 2000])
@pytest.mark.parametrize("end", [b"", b"e", b'"'])
def test_lists_that_are_not_closed_are_no_lack_of_memory(number, end):
    with pytest.raises(RequestError) as caught:
        JSON.read(b"[" * number + end)
    assert caught.value.code == "malformed_body"
    assert "memory" not in caught.value.detail


def test_an_empty_body_has_its_own_error():
    with pytest.raises(RequestError, match="empty"):
        JSON.read(b"")


def test_documents_are_written_with_arrays():
    assert JSON.write({"x": np.arange(2.0)}, None) == [b'{"x":[0.0,1.0]}']


@pytest.mark.thorough
@pytest.mark.parametrize("part", [b"[]", b"{}", b'""'])
def test_the_number_of_values_in_a_body_is_limited(part):
    def body(count):
        return b"[" + b",".join([part] * count) + b"]"

    assert len(JSON.read(body(MOST_PARTS - 1))) == MOST_PARTS - 1
    with pytest.raises(RequestError) as caught:
        JSON.read(body(MOST_PARTS))
    assert caught.value.code == "over_budget"


def test_of_duplicate_names_the_last_counts():
    assert JSON.read(b'{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}
