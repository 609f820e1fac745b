"""The proxy compresses answers, and keeps what caches rely on."""

import gzip

import httpx
import pytest
from gradwire_service.problems import MEDIA_TYPE

from tests.deploy.replicas import Replica, Start
from tests.fleet.nginx import NGINX

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

LONG = b"[" + b"0.5," * 1000 + b"1]"


def got(client: httpx.Client, body: bytes, accept_encoding: str) -> tuple[httpx.Headers, bytes]:
    """The headers of an answer, and its body as it was sent."""
    headers = {"accept-encoding": accept_encoding}
    with client.stream("POST", "/v1/evaluate", content=body, headers=headers) as reply:
        return reply.headers, b"".join(reply.iter_raw())


@pytest.mark.parametrize("media_type", ["application/json", MEDIA_TYPE, "image/svg+xml"])
def test_long_answers_are_compressed(proxy: Start, media_type: str):
    replica = Replica("answers", headers={"Content-Type": media_type, "ETag": '"abc"'})
    headers, raw = got(proxy(replica), LONG, "gzip, deflate, br, zstd")
    assert headers["content-encoding"] == "gzip"
    assert headers["etag"] == 'W/"abc"'
    assert len(raw) < len(LONG)
    assert gzip.decompress(raw) == LONG


def test_caches_learn_that_answers_depend_on_encodings(proxy: Start):
    headers = {"Content-Type": "application/json", "ETag": 'W/"abc"', "Vary": "accept"}
    client = proxy(Replica("answers", headers=headers))
    for accept_encoding in "gzip", "identity":
        found, _ = got(client, LONG, accept_encoding)
        assert found["vary"].lower().split(", ") == ["accept-encoding", "accept"]
        assert found["etag"] == 'W/"abc"'


@pytest.mark.parametrize(
    ("media_type", "body", "accept_encoding"),
    [
        ("application/json", LONG[:1000], "gzip"),
        ("application/json", LONG, "identity"),
        ("application/json", LONG, "gzip;q=0"),
        ("application/json", LONG, "zstd, br"),
        ("application/msgpack", LONG, "gzip"),
        ("application/octet-stream", LONG, "gzip"),
        ("image/png", LONG, "gzip"),
    ],
)
def test_other_answers_are_not_compressed(
    proxy: Start, media_type: str, body: bytes, accept_encoding: str
):
    replica = Replica("answers", headers={"Content-Type": media_type, "ETag": '"abc"'})
    headers, raw = got(proxy(replica), body, accept_encoding)
    assert "content-encoding" not in headers
    assert headers["etag"] == '"abc"'
    assert raw == body
