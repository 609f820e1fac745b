"""Large programs reach replicas with a GPU by themselves: real services, and the shipped nginx."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.fleet.fleets import NGINX, Nginx, client_of, fleet

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

X = np.linspace(-1, 1, 100).tolist()
LARGE = {
    "program": "y = x\nfor i in range(100):\n    y = sin(y) + x * 0.01\nsum(y)",
    "variables": {"x": X},
    "timeout_ms": 600_000,
}
SMALL = {"program": "sum(x * x)", "variables": {"x": X}}


@pytest.fixture(scope="module")
async def running(tmp_path_factory):
    """Two replicas without a GPU and one with, each a process; tests do not end them."""
    folder = tmp_path_factory.mktemp("redirects")
    async with fleet(folder, 2, gpus=1, cores=1, processes=1, gpu_redirect_flops=100_000) as made:
        yield made


async def ask(client, request, **headers):
    """The answer, and where it was computed."""
    response = await client.post("/v1/gradient", json=request, headers=headers)
    assert response.status_code == 200, response.text
    assert response.headers.get_list("cache-control") == ["no-store"]
    assert "x-accel-redirect" not in response.headers
    return response.json(), "gpu" if ", gpu" in response.headers["server-timing"] else "cpu"


async def redirected(fleet):
    """How many requests the replicas without a GPU have redirected."""
    named = {"route": "/v1/gradient", "status": "307"}
    return sum([await one.metric("gradwire_requests_total", **named) for one in fleet.replicas])


async def test_a_large_program_arrives_at_the_gpu_and_a_small_one_stays(running):
    async with running.client() as client:
        before = await redirected(running)
        for _ in range(3):
            answer, place = await ask(client, LARGE)
            assert place == "gpu"
            assert (await ask(client, SMALL))[1] == "cpu"
        assert await redirected(running) == before + 3
        on_cpu, place = await ask(client, LARGE, **{"Gradwire-Placement": "cpu"})
        assert place == "cpu"
        np.testing.assert_allclose(answer["gradients"]["x"], on_cpu["gradients"]["x"], rtol=1e-12)
        assert await redirected(running) == before + 3


async def test_exact_programs_and_tapes_stay(running):
    async with running.client() as client:
        assert (await ask(client, {**LARGE, "exact": True}))[1] == "cpu"
        made = await client.post("/v1/tapes", json=LARGE)
        assert made.status_code == 201
        assert ", gpu" not in made.headers["server-timing"]


async def test_what_clients_send_as_nginx_own_header_changes_nothing(running):
    async with running.client() as client:
        forged = {"Gradwire-Redirect": "@gpu", "X-Accel-Redirect": "@gpu"}
        assert (await ask(client, SMALL, **forged))[1] == "cpu"
        placed = {**forged, "Gradwire-Placement": "cpu"}
        assert (await ask(client, LARGE, **placed))[1] == "cpu"
        other = {"Gradwire-Redirect": "@anywhere"}
        assert (await ask(client, LARGE, **other))[1] == "gpu"


async def test_without_a_gpu_that_is_there_others_compute(running, tmp_path):
    before = await redirected(running)
    nginx = Nginx(tmp_path, [one.port for one in running.replicas]).start()
    try:
        await nginx.listening()
        async with client_of(nginx.port) as client:
            assert (await ask(client, LARGE))[1] == "cpu"
    finally:
        nginx.stop()
    assert await redirected(running) == before + 1
