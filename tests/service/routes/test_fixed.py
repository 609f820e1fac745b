"""What is the same to everybody is made and compressed once."""

import asyncio
import gzip

import pytest
from gradwire_service.routes.documentation import ASSETS
from gradwire_service.routes.fixed import Fixed
from gradwire_service.wire.compression import CODINGS
from gradwire_service.work.compression import LEAST_BYTES

PUBLIC = ["/openapi.json", "/v1/ops", "/docs", *(f"/docs/{name}" for name in ASSETS)]
TEXT = b"the same to everybody, " * 1000


def asking(coding):
    """A request that prefers its answer so."""
    return {"type": "http", "method": "GET", "headers": [(b"accept-encoding", coding)]}


async def test_it_is_made_once_whoever_asks_and_how():
    made: list[bytes] = []

    def make():
        made.append(TEXT)
        return TEXT

    fixed = Fixed(make, "text/plain")
    scopes = [asking(coding) for coding in (b"gzip", b"zstd", b"identity") for _ in range(5)]
    answers = await asyncio.gather(*map(fixed.response, scopes))
    assert len(made) == 1
    assert len({id(answer.body) for answer in answers}) == 3
    assert gzip.decompress(answers[0].body) == answers[-1].body == TEXT


async def test_what_compressing_does_not_make_shorter_goes_as_it_is():
    answer = await Fixed(lambda: b"short", "text/plain").response(asking(b"gzip"))
    assert answer.body == b"short"
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("path", PUBLIC)
async def test_it_says_the_same_in_every_coding(client, path):
    told = set[bytes]()
    for name in ("identity", *CODINGS):
        async with client.stream("GET", path, headers={"accept-encoding": name}) as response:
            body = b"".join([part async for part in response.aiter_raw()])
        assert response.status_code == 200
        assert "accept-encoding" in response.headers["vary"]
        coded = response.headers.get("content-encoding")
        told.add(body if coded is None else bytes(CODINGS[coded].decompress(body, 1 << 24)))
        assert coded in (None, name)
        assert (coded is None) == (name == "identity" or len(body) < LEAST_BYTES)
    assert len(told) == 1
