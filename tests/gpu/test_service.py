"""The service on a GPU: the same answers, its process crashes alone, its loss ends the service."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest


def missing():
    """Why there is no GPU, or nothing if there is one."""
    for module in "cupy", "fastapi", "httpx":
        if find_spec(module) is None:
            return f"{module} is not installed"
    cupy = import_module("cupy")
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "there is no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return str(error)


WHY = missing()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(WHY), reason=WHY)]

X = np.linspace(-1, 1, 400_000).reshape(1000, 400)
NETWORK = {
    "program": "h = tanh(x @ w)\nsum(h * h) / size(h)",
    "variables": {"x": X.tolist(), "w": np.linspace(-1, 1, 40_000).reshape(400, 100).tolist()},
    "sources": ["w"],
    "timeout_ms": 30_000,
}
SMALL = {"program": "sum(x * x)", "variables": {"x": [1.0, 2.0]}}
ENDLESS = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 20_000}


@asynccontextmanager
async def served(open_gpu=None, **settings):
    """A client of a service whose GPU is ready, and the service."""
    import httpx
    from gradwire_service.app import create_app
    from gradwire_service.settings import Settings

    named = {} if open_gpu is None else {"open_gpu": open_gpu}
    app = create_app(Settings(cores=1, processes=1, backend="cupy", **settings), **named)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        await until(client, "/readyz", lambda response: response.status_code == 200)
        yield client, app


async def until(client, path, right):
    """The first response for which ``right`` is true."""
    while True:
        response = await client.get(path)
        if right(response):
            return response
        await asyncio.sleep(0.05)


def ran_on_gpu(response):
    """Whether a computation ran on the GPU."""
    assert response.status_code == 200, response.text
    return ", gpu" in response.headers["server-timing"]


async def test_answers_are_those_of_the_cpu():
    async with served() as (client, _):
        limits = (await client.get("/v1/limits")).json()["gpu"]
        assert limits["memory_bytes"] >= limits["room_bytes"] > 0
        for name in "launch_seconds", "bytes_per_second_in", "bytes_per_second_out":
            assert limits[name] > 0
        answers = [await client.post("/v1/gradient", json=NETWORK) for _ in range(5)]
        exact = await client.post("/v1/gradient", json={**NETWORK, "exact": True})
        assert not any([ran_on_gpu(await client.post("/v1/gradient", json=SMALL))] * 3)
        assert "gradwire_gpu_memory_bytes" in (await client.get("/metrics")).text
    assert ran_on_gpu(answers[0])
    for answer in answers:
        (found,), (expected,) = answer.json()["gradients"], exact.json()["gradients"]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


async def test_everything_runs_on_the_gpu_if_asked():
    async with served(gpu_placement="always") as (client, _):
        for _ in range(4):
            answer = await client.post("/v1/gradient", json=SMALL)
            assert ran_on_gpu(answer)
            assert answer.json()["gradients"]["x"] == [2.0, 4.0]


async def test_a_killed_process_is_replaced():
    async with served(gpu_placement="always") as (client, app):
        (process,) = app.state.gpu.processes
        running = asyncio.create_task(client.post("/v1/evaluate", json=ENDLESS))
        await until(client, "/readyz", lambda _: process._task is not None)
        os.kill(process.pid, signal.SIGSEGV)
        assert (await running).json()["code"] == "worker_crashed"
        assert not ran_on_gpu(await client.post("/v1/gradient", json=SMALL))
        await until(client, "/v1/limits", lambda response: "gpu" in response.json())
        assert ran_on_gpu(await client.post("/v1/gradient", json=SMALL))


async def test_what_does_not_fit_is_computed_by_the_cpu_the_next_time():
    program = "sum(sort(outer(x, x) + 1))"
    x = np.linspace(0, 1, 3000).tolist()
    request = {"program": program, "variables": {"x": x}, "timeout_ms": 60_000}
    async with served(gpu_bytes=64 << 20, gpu_placement="always") as (client, _):
        refusal = await client.post("/v1/evaluate", json=request)
        assert (refusal.status_code, refusal.json()["code"]) == (503, "out_of_gpu_memory")
        assert refusal.headers["retry-after"] == "1"
        assert ran_on_gpu(await client.post("/v1/gradient", json=SMALL))
    async with served(gpu_bytes=64 << 20) as (client, _):
        await client.post("/v1/evaluate", json=request)
        assert not ran_on_gpu(await client.post("/v1/evaluate", json=request))


async def test_a_lost_gpu_ends_the_service(tmp_path):
    from tests.gpu.opened import gpu_until

    path = tmp_path / "lost"
    lost = partial(gpu_until, path)
    async with served(lost, gpu_placement="always") as (client, app):
        assert ran_on_gpu(await client.post("/v1/gradient", json=SMALL))
        path.touch()
        answers = []
        while (await client.get("/readyz")).status_code == 200:  # its memory is read once a second
            answers.append(await client.post("/v1/gradient", json=SMALL))
            await asyncio.sleep(0.05)
        assert answers[0].status_code == 200  # it is read after an answer
        assert app.state.capacity.fault
        assert not ran_on_gpu(await client.post("/v1/gradient", json=SMALL))
