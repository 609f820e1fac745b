"""Responses compressed for those who ask."""

import os
from typing import Any

import httpx
import pytest
from gradwire_service.routes.compressing import Compressing
from gradwire_service.wire.compression import CODINGS
from gradwire_service.wire.shared import LARGE_BYTES
from gradwire_service.work.compression import LEAST_BYTES
from starlette.responses import Response, StreamingResponse

LARGE = b"0.125," * (LARGE_BYTES // 2)
NOISE = os.urandom(2 * LARGE_BYTES)
BODIES = {
    "noise": NOISE,
    "short": b"x" * (LEAST_BYTES - 1),
    "long": b"0.5," * LEAST_BYTES,
    "large": LARGE,
}


async def answer(scope, receive, send):
    """An application with a body of each size, in one piece or in several."""
    _, size, *more = scope["path"].split("/")
    response: Response
    headers = {"etag": '"abc"', "x-other": "kept"}
    if "packed" in more:
        headers["content-encoding"] = "gzip"
    if "pieces" in more:
        length = str(len(BODIES[size]))
        pieces = (BODIES[size][i : i + 1000] for i in range(0, len(BODIES[size]), 1000))
        response = StreamingResponse(pieces, headers=headers | {"content-length": length})
    else:
        kind = "image/png" if "image" in more else "application/json"
        response = Response(BODIES[size], headers=headers, media_type=kind)
    await response(scope, receive, send)


async def got(path, accept_encoding, method="GET"):
    transport = httpx.ASGITransport(Compressing(answer))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        request = client.build_request(method, path, headers={"accept-encoding": accept_encoding})
        response = await client.send(request, stream=True)
        raw = b"".join([part async for part in response.aiter_raw()])
        return response, raw


@pytest.mark.parametrize("name", CODINGS)
@pytest.mark.parametrize("path", ["long", "long/pieces"])
async def test_what_is_long_is_compressed(name, path):
    response, raw = await got(f"/{path}", name)
    whole = BODIES[path.split("/")[0]]
    assert CODINGS[name].decompress(raw, len(whole)) == whole
    assert len(raw) == int(response.headers["content-length"]) < len(whole)
    assert response.headers["content-encoding"] == name
    assert response.headers["vary"] == "accept-encoding"
    assert response.headers["etag"] == 'W/"abc"'
    assert response.headers["x-other"] == "kept"


@pytest.mark.parametrize(
    ("path", "accept_encoding"),
    [
        ("short", "gzip"),
        ("noise", "gzip"),  # where it is made, it is known that this is not worth it
        ("large", "gzip"),  # nor is it compressed anew
        ("long", "identity"),
        ("long", "br"),
        ("long", ""),
        ("long", "gzip;q=0"),
        ("long/image", "gzip"),
        ("long/packed", "gzip"),
    ],
)
async def test_what_is_left_as_it_is(path, accept_encoding):
    response, raw = await got(f"/{path}", accept_encoding)
    assert raw == BODIES[path.split("/")[0]]
    assert response.headers["etag"] == '"abc"'


async def test_the_head_of_a_response_is_left_as_it_is():
    response, _ = await got("/long", "gzip", "HEAD")
    assert "content-encoding" not in response.headers


async def test_every_route_compresses(client):
    request: dict[str, Any] = {"program": "x", "variables": {"x": [0.5] * 2000}}
    for name in CODINGS:
        headers = {"accept-encoding": name}
        response = await client.post("/v1/evaluate", json=request, headers=headers)
        assert response.headers["content-encoding"] == name
        assert response.headers["server-timing"]
        request["variables"]["x"] *= 4  # now the answer is long
        whole = await client.post("/v1/evaluate", json=request, headers=headers)
        assert whole.headers["content-encoding"] == name
        for path in "/v1/ops", "/openapi.json":
            assert (await client.get(path, headers=headers)).headers["content-encoding"] == name
