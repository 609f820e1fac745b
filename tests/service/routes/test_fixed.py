"""Responses that are the same for every client are computed once."""

import asyncio

import pytest
from gradwire_service.routes.documentation import ASSETS
from gradwire_service.routes.fixed import Fixed

PUBLIC = ["/openapi.json", "/v1/ops", "/docs", *(f"/docs/{name}" for name in ASSETS)]


async def test_fixed_responses_are_computed_once():
    made: list[bytes] = []

    def make():
        made.append(b"the same for everybody")
        return made[-1]

    fixed = Fixed(make, "text/plain")
    answers = await asyncio.gather(*[fixed.response() for _ in range(15)])
    assert len(made) == 1
    assert {id(answer.body) for answer in answers} == {id(made[0])}


@pytest.mark.parametrize("path", PUBLIC)
async def test_fixed_responses_are_equal_in_every_encoding(client, path):
    bodies = set[bytes]()
    for coding in "identity", "gzip", "zstd":
        response = await client.get(path, headers={"accept-encoding": coding})
        assert response.status_code == 200
        assert "content-encoding" not in response.headers
        bodies.add(response.content)
    assert len(bodies) == 1
