"""Validation of request heads."""

import pytest
from gradwire_service.http.heads import check_headers, expects_continue, read_target
from gradwire_service.problems import RequestError
from gradwire_service.wire.headers import headers_of

HOST = (b"host", b"a")
CODED = (b"transfer-encoding", b"chunked")
UPGRADE = (b"upgrade", b"h2c")


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/", "/", b""),
        (b"/v1/ops?a=%ff&b=/../", "/v1/ops", b"a=%ff&b=/../"),
        (b"/a//b", "/a//b", b""),
        (b"/a%20b%C3%A9", "/a bé", b""),
        (b"/sha256:0?", "/sha256:0", b""),
        (b"/..a/b../.c", "/..a/b../.c", b""),
        (b"http://a.b:80/c?d", "/c", b"d"),
        (b"HTTPS://[::1]", "/", b""),
        (b"http://a?b", "/", b"b"),
    ],
)
def test_request_targets(target, path, query):
    found, raw, asked = read_target("GET", target)
    assert (found, asked) == (path, query)
    assert raw.startswith(b"/")


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", b"*"),
        ("OPTIONS", b"*"),
        ("GET", b"a:80"),
        ("GET", b"ftp://a/"),
        ("GET", b"http://"),
        ("GET", b"http:///a"),
        ("GET", b"http://me@a/"),
        ("GET", b""),
        ("CONNECT", b"a:80"),
        ("CONNECT", b"/"),
        ("CONNECT", b"http://a/"),
        *(
            ("GET", target)
            for target in (
                b"/a#b",
                b"/%",
                b"/%4",
                b"/%zz",
                b"/%00",
                b"/%0d%0aa",
                b"/%7f",
                b"/a%2fb",
                b"/a%5Cb",
                b"/%ff",
                b"/%c0%af",
                b"/%ed%a0%80",
                b"/a/../b",
                b"/..",
                b"/./a",
                b"/a/%2e%2E/b",
                b"/.%2e",
                b"http://a/../b",
            )
        ),
    ],
)
def test_ambiguous_targets_are_refused(method, target):
    with pytest.raises(RequestError) as refused:
        read_target(method, target)
    assert refused.value.code == "malformed_request"


@pytest.mark.parametrize(
    ("version", "headers", "expects"),
    [
        ("1.1", [HOST], False),
        ("1.1", [(b"host", b"")], False),
        ("1.1", [(b"host", b"[::1]:80"), (b"transfer-encoding", b"Chunked")], False),
        ("1.1", [HOST, (b"expect", b"100-Continue")], True),
        ("1.0", [(b"expect", b"100-continue")], False),
        ("1.0", [(b"expect", b"more")], False),
        ("1.0", [], False),
        ("1.1", [HOST, (b"a", b"b"), (b"a", b"c")], False),
        ("1.1", [HOST, UPGRADE], False),
        ("1.1", [HOST, UPGRADE, (b"content-length", b"1")], False),
        ("1.1", [HOST, UPGRADE, CODED], False),
    ],
)
def test_valid_headers_are_accepted(version, headers, expects):
    named = headers_of({"headers": headers})
    check_headers(version, named, headers)
    assert expects_continue(version, named) == expects


@pytest.mark.parametrize(
    ("version", "headers", "code"),
    [
        ("1.1", [], "malformed_request"),
        ("1.1", [HOST, HOST], "malformed_request"),
        ("1.0", [HOST, HOST], "malformed_request"),
        ("1.1", [(b"host", b"a, b")], "malformed_request"),
        ("1.1", [(b"host", b"a/b")], "malformed_request"),
        ("1.1", [(b"host", b"me@a")], "malformed_request"),
        ("1.1", [HOST, (b"transfer-encoding", b"gzip, chunked")], "malformed_request"),
        ("1.0", [(b"transfer-encoding", b"chunked")], "malformed_request"),
        ("0.9", [], "malformed_request"),
        ("2.0", [HOST], "malformed_request"),
        ("1.1", [HOST, CODED, CODED], "malformed_request"),
        ("1.1", [HOST, (b"expect", b"more")], "expectation_failed"),
        ("1.1", [HOST, (b"expect", b"100-continue, more")], "expectation_failed"),
    ],
)
def test_invalid_headers_are_refused(version, headers, code):
    with pytest.raises(RequestError) as refused:
        check_headers(version, headers_of({"headers": headers}), headers)
    assert refused.value.code == code
