"""The service on a simulated GPU: all that a real one runs, over HTTP, without one."""

import asyncio
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from scipy.optimize import minimize

from tests.contract.compare import differences
from tests.fleet.simulated_gpu import open_gpu, open_until
from tests.fleet.test_gpu import refused, served, starting, until, until_ready

X = np.linspace(-1, 1, 8000).reshape(100, 80)
NETWORK = {
    "program": "h = tanh(x @ w)\nsum(h * h) / size(h)",
    "variables": {"x": X.tolist(), "w": np.linspace(-1, 1, 800).reshape(80, 10).tolist()},
    "sources": ["w"],
}
SMALL = {"program": "sum(x * x)", "variables": {"x": [1.0, 2.0]}}
USED = re.compile(r"^gradwire_gpu_memory_bytes\S* (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
async def client():
    """A client of a service that computes everything on its GPU, of 64 MiB."""
    async with served(open_gpu, gpu_placement="always", gpu_bytes=64 << 20) as client:
        yield client


async def ask(client, request, route="gradient"):
    response = await client.post(f"/v1/{route}", json=request)
    assert response.status_code == 200, response.text
    assert ", gpu" in response.headers["server-timing"]
    return response.json()


async def test_answers_are_those_of_the_cpu(client):
    exact = (await client.post("/v1/gradient", json={**NETWORK, "exact": True})).json()
    for _ in range(4):  # launched, then captured
        answer = await ask(client, NETWORK)
        np.testing.assert_allclose(answer["gradients"], exact["gradients"], rtol=1e-9, atol=1e-15)


async def test_optimisations_are_those_of_scipy(client):
    def network(w):
        h = np.tanh(X @ w.reshape(80, 10))
        return (h * h).mean(), (X.T @ (2 * h * (1 - h * h) / h.size)).ravel()

    asked = {"maxiter": 5, "gtol": 1e-5}
    expected = minimize(network, np.linspace(-1, 1, 800), jac=True, options=asked)
    options = {"method": "BFGS", "options": asked, "wait_ms": 60_000}
    found = await ask(client, {**NETWORK, **options}, "minimize")
    np.testing.assert_allclose(found["value"], expected.fun, rtol=1e-9)
    np.testing.assert_allclose(np.ravel(found["solution"]), expected.x, rtol=1e-7, atol=1e-12)


CASES = sorted((Path(__file__).parents[1] / "contract/cases").glob("*.json"))


async def test_the_cases_of_the_contract(client):
    assert len(CASES) > 50
    found = []
    for path in CASES:
        case = json.loads(path.read_text())
        for _ in range(2):
            sent = case["request"]
            response = await client.request(sent["method"], sent["path"], json=sent["body"])
            document = response.json() if response.content else None
            found += [(path.stem, *differences(case, response.status_code, document))]
    assert [each for each in found if len(each) > 1] == []


async def test_wrong_programs_are_problems_with_a_place(client):
    places = {"value": [0, 2], "dtype": "int64"}
    request = {"program": "y = x + 1\nsum(y[i])", "variables": {"x": [1.0, 2.0], "i": places}}
    for _ in range(3):
        response = await client.post("/v1/evaluate", json=request)
        assert response.status_code == 422, response.text
        assert response.json()["node"]["line"] == 2


async def test_what_is_not_finite_is_said(client):
    request = {"program": "sum(log(x))", "variables": {"x": [1.0, -1.0]}}
    for _ in range(3):
        assert (await ask(client, request))["nonfinite"]


async def test_too_little_memory_is_said_and_passes(client):
    x = np.linspace(0, 1, 3000).tolist()
    request = {"program": "sum(sort(outer(x, x) + 1))", "variables": {"x": x}}
    response = await client.post("/v1/evaluate", json=request)
    assert (response.status_code, response.json()["code"]) == (503, "out_of_gpu_memory")
    assert response.headers["retry-after"] == "1"
    assert (await ask(client, SMALL))["gradients"] == {"x": [2.0, 4.0]}


async def received(client):
    """The bytes that the GPU was sent; its process reports them now and then."""
    seen = set[float]()
    while len(seen) < 3:  # so that the last report is of after the call
        await ask(client, SMALL)
        await asyncio.sleep(0.05)
        seen |= {float(used) for used in USED.findall((await client.get("/metrics")).text)}
    return max(seen)


async def test_results_that_are_kept_stay_on_the_gpu(client):
    step = {"program": "w - 0.1 * (w - x)", "keep": ["outputs"]}
    w = np.zeros((400, 400)).tolist()
    found = await ask(client, {**step, "variables": {"w": w, "x": 1.0}}, "evaluate")
    before = await received(client)
    for _ in range(4):
        ref = found["outputs"]["ref"]
        variables = {"w": {"ref": ref}, "x": 1.0}
        found = await ask(client, {**step, "variables": variables, "release": [ref]}, "evaluate")
    assert await received(client) - before < 10_000  # of 1,280,000 a step
    kept = {"ref": found["outputs"]["ref"]}
    last = {"program": "w[0, 0]", "variables": {"w": kept}}
    np.testing.assert_allclose((await ask(client, last, "evaluate"))["outputs"], 1 - 0.9**5)


async def test_a_lost_gpu_ends_the_service(tmp_path):
    path = tmp_path / "lost"
    settings = {"gpu_placement": "always"}
    async with starting(partial(open_until, path), **settings) as (client, app):
        await until_ready(client)
        await ask(client, SMALL)
        path.touch()
        await until(lambda: client.get("/readyz"), refused_or_ask(client))
        assert app.state.capacity.fault
        response = await client.post("/v1/gradient", json=SMALL)
        assert ", gpu" not in response.headers["server-timing"]


def refused_or_ask(client):
    """True once the service is not ready; asks meanwhile, so that the loss is seen."""
    asked = set()

    def seen(response):
        task = asyncio.ensure_future(client.post("/v1/gradient", json=SMALL))
        asked.add(task)
        task.add_done_callback(asked.discard)
        return refused(response)

    return seen
