"""Responses compressed for those who ask."""

import asyncio
import gzip
import os
import threading

import httpx
import pytest
from gradwire_service.capacity import Bounds, Deadline, Queue
from gradwire_service.routes import compressing
from gradwire_service.routes.compressing import INLINE_BYTES, LEAST_BYTES, Compressing
from gradwire_service.wire.compression import CODINGS
from starlette.responses import Response, StreamingResponse

LARGE = b"0.125," * (INLINE_BYTES // 2)
NOISE = os.urandom(2 * INLINE_BYTES)
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


@pytest.fixture
def capacity():
    capacity = Queue(1, Bounds(0, 1 << 30))
    yield capacity
    capacity.close()


async def got(capacity, path, accept_encoding, method="GET"):
    transport = httpx.ASGITransport(Compressing(answer, capacity))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        request = client.build_request(method, path, headers={"accept-encoding": accept_encoding})
        response = await client.send(request, stream=True)
        raw = b"".join([part async for part in response.aiter_raw()])
        return response, raw


@pytest.mark.parametrize("name", CODINGS)
@pytest.mark.parametrize("path", ["long", "large", "long/pieces", "large/pieces"])
async def test_what_is_long_is_compressed(capacity, name, path):
    response, raw = await got(capacity, f"/{path}", name)
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
        ("noise", "gzip"),
        ("long", "identity"),
        ("long", "br"),
        ("long", ""),
        ("long", "gzip;q=0"),
        ("long/image", "gzip"),
        ("long/packed", "gzip"),
    ],
)
async def test_what_is_left_as_it_is(capacity, path, accept_encoding):
    response, raw = await got(capacity, f"/{path}", accept_encoding)
    assert raw == BODIES[path.split("/")[0]]
    assert response.headers["etag"] == '"abc"'


async def test_the_head_of_a_response_is_left_as_it_is(capacity):
    response, _ = await got(capacity, "/long", "gzip", "HEAD")
    assert "content-encoding" not in response.headers


async def test_without_a_free_thread_the_body_goes_as_it_is():
    full = Queue(1, Bounds(-1, 1))
    try:
        response, raw = await got(full, "/large", "gzip")
        assert raw == LARGE
        assert "content-encoding" not in response.headers
        response, raw = await got(full, "/long", "gzip")
        assert gzip.decompress(raw) == BODIES["long"]
    finally:
        full.close()


async def test_the_work_is_the_callers_own():
    """Else all owners' answers would wait in one line."""
    owners = set[str]()

    class Seen(Queue):
        def start(self, *work, owner="", **more):
            owners.add(owner)
            return super().start(*work, owner=owner, **more)

    queue = Seen(1, Bounds(5, 1 << 30))
    transport = httpx.ASGITransport(Compressing(answer, queue))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        for key in "one", "other":
            headers = {"accept-encoding": "gzip", "authorization": key}
            assert (await client.get("/large", headers=headers)).content == LARGE
    queue.close()
    assert len(owners) == 2


async def test_every_route_compresses(client):
    request = {"program": "x", "variables": {"x": [0.5] * 5000}}
    for name in CODINGS:
        headers = {"accept-encoding": name}
        response = await client.post("/v1/evaluate", json=request, headers=headers)
        assert response.headers["content-encoding"] == name
        assert response.headers["server-timing"]
        for path in "/v1/ops", "/openapi.json":
            assert (await client.get(path, headers=headers)).headers["content-encoding"] == name


async def test_without_time_the_body_goes_as_it_is(monkeypatch):
    monkeypatch.setattr(compressing, "_DEADLINE_MS", 1)
    ends = threading.Event()
    patient = Queue(1, Bounds(5, 1 << 30))
    busy = asyncio.ensure_future(patient.run(ends.wait, Deadline(10_000), 0))
    await asyncio.sleep(0)  # until it has the thread
    try:
        response, raw = await got(patient, "/large", "gzip")
        assert raw == LARGE
        assert "content-encoding" not in response.headers
    finally:
        ends.set()
        await busy
        patient.close()
