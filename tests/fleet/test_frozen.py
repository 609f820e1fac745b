"""A replica that is wholly frozen, with its watchdog: real services behind the shipped nginx."""

import asyncio
import sys
from typing import Any

import pytest

from tests.fleet.fleets import NGINX, fleet

pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


def request(number: int, **fields: object) -> dict[str, object]:
    return {"program": f"x * x + {number} * x", "variables": {"x": 3.0}, **fields}


async def answer(client, body: dict[str, object]) -> float:
    response = await client.post("/v1/gradient", json=body)
    assert response.status_code == 200, response.text
    return response.json()["gradients"]["x"]


async def test_requests_of_a_frozen_replica_are_answered_by_others(tmp_path):
    async with fleet(tmp_path, 2, attempt_seconds=5, cores=1, processes=1) as made:
        frozen, other = made.replicas
        async with made.client() as client:
            with frozen.suspended(*reversed(frozen.family())):
                asked = [answer(client, request(number)) for number in range(8)]
                assert await asyncio.gather(*asked) == [6.0 + number for number in range(8)]
            assert await other.served() == 8


async def test_a_body_that_asks_for_more_time_is_redirected_once(tmp_path):
    settings: dict[str, Any] = {
        "default_timeout_ms": 60_000,
        "inline_microseconds": 0,
        "inline_body_bytes": 0,
    }
    async with fleet(tmp_path, 2, cores=1, processes=1, **settings) as made:
        async with made.client() as client:
            for number in range(4):
                body = request(number, timeout_ms=3_600_000)
                assert await answer(client, body) == 6.0 + number
                assert await answer(client, request(number)) == 6.0 + number
        redirects = [
            await one.metric("gradwire_requests_total", route="/v1/gradient", status="307")
            for one in made.replicas
        ]
        assert sum(redirects) == 4
