"""If the response of a tape is lost, another replica answers the retry."""

import pytest

from tests.fleet.chaos import CALM, Faults
from tests.fleet.fleets import NGINX, fleet

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

TAPES = 12
CUBES = {"program": "y = sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}
#: Resets the connection before any byte of the response has passed.
LOST = Faults(cut_after=0)


async def test_a_lost_response_does_not_lose_the_tape(tmp_path, redis_url):
    store = {"store": redis_url, "store_prefix": "test-repeated"}
    async with (
        fleet(tmp_path, 2, chaos=True, processes=0, **store) as servers,
        servers.client() as client,
    ):
        made = [(await client.post("/v1/tapes", json=CUBES)).json() for _ in range(TAPES)]
        lossy = servers.chaos[0]
        before = lossy.connections
        for tape in made:
            lossy.down = LOST
            path = f"/v1/tapes/{tape['tape']}/gradient"
            answer = await client.post(path, json={"sources": "x"})
            assert answer.status_code == 200, answer.text
            assert answer.json()["gradients"] == [3.0, 12.0]
            lossy.down = CALM
            again = await client.post(path, json={"sources": "x"})
            assert again.json()["code"] == "tape_consumed"
        assert lossy.connections > before, "nothing was lost"
