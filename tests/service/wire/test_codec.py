"""Media types and malformed bodies."""

import numpy as np
import pytest
from gradwire_service.problems import Refusal
from gradwire_service.wire.codec import JSON, reader_for, writer_for


def code(call, *arguments):
    with pytest.raises(Refusal) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize(
    "content_type", [b"", b"application/json", b"Application/JSON; charset=utf-8", b"text/json"]
)
def test_json_is_read(content_type):
    if content_type == b"text/json":
        assert code(reader_for, content_type, b"") == "unsupported_media_type"
    else:
        assert reader_for(content_type, b"identity") is JSON


@pytest.mark.parametrize(
    "content_type", [b"text/plain", b"application/x-www-form-urlencoded", b"\xff\xfe", b"json"]
)
def test_other_types_are_not_read(content_type):
    assert code(reader_for, content_type, b"") == "unsupported_media_type"


def test_compressed_bodies_are_not_read():
    assert code(reader_for, b"application/json", b"gzip") == "unsupported_media_type"


@pytest.mark.parametrize(
    "accept",
    [
        b"",
        b"*/*",
        b"application/*",
        b"text/html, application/json;q=0.1",
        b"application/json; charset=utf-8",
        b"text/html;q=0.9, */*;q=0.1",
    ],
)
def test_accepted(accept):
    assert writer_for(accept, JSON) is JSON


@pytest.mark.parametrize(
    "accept", [b"text/html", b"application/json;q=0, */*", b"application/json;q=x", b";", b"\xff"]
)
def test_not_acceptable(accept):
    assert code(writer_for, accept, JSON) == "not_acceptable"


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
    with pytest.raises(Refusal) as caught:
        JSON.read(body)
    assert caught.value.code == "malformed_body"
    assert where in caught.value.detail
    assert len(caught.value.detail) < 200


def test_the_empty_body_is_told_apart():
    with pytest.raises(Refusal, match="empty"):
        JSON.read(b"")


def test_documents_are_written_with_arrays():
    assert JSON.write({"x": np.arange(2.0)}, as_bytes=False) == b'{"x":[0.0,1.0]}'
