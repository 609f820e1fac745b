"""What a replica without a GPU redirects, and what it computes."""

import numpy as np
import pytest
from gradwire_service.settings import Settings

OFFER = {"Gradwire-Redirect": "@gpu"}
REDIRECTED = {"gpu_redirect_flops": 500_000}
X = np.linspace(-1, 1, 500).tolist()
PROGRAM = "y = x\nfor i in range(200):\n    y = sin(y) + x * 0.01\nsum(y)"
LARGE = {"program": PROGRAM, "variables": {"x": X}}


@pytest.fixture(scope="module", params=[0, 1], ids=["thread", "process"])
async def replica(request, served):
    """A replica that redirects, with executors of either kind."""
    async with served(**REDIRECTED, processes=request.param) as client:
        yield client


async def ask(client, request, path="/v1/gradient", **headers):
    return await client.post(path, json=request, headers=headers)


def is_redirected(response):
    """True if it is a redirect, else it is an answer."""
    if response.status_code == 200:
        assert "x-accel-redirect" not in response.headers
        return False
    assert (response.status_code, response.content) == (307, b"")
    assert response.headers["x-accel-redirect"] == "@gpu"
    assert "cache-control" not in response.headers  # nginx would add it to the answer
    return True


@pytest.mark.parametrize("path", ["evaluate", "gradient", "hvp"])
async def test_a_large_computation_is_redirected_each_time(replica, path):
    vectors = {"vectors": {"x": X}} if path == "hvp" else {}
    for _ in range(3):
        found = await ask(replica, {**LARGE, **vectors}, f"/v1/{path}", **OFFER)
        assert is_redirected(found)


async def test_a_large_body_is_redirected(replica):
    x = np.linspace(-1, 1, 20_000).tolist()
    assert is_redirected(await ask(replica, {**LARGE, "variables": {"x": x}}, **OFFER))


async def test_a_small_computation_is_answered(replica):
    for _ in range(3):
        answer = await ask(replica, {"program": "sum(x * x)", "variables": {"x": X}}, **OFFER)
        assert not is_redirected(answer)


async def test_what_sends_much_for_its_arithmetic_is_answered(replica):
    x = np.linspace(-1, 1, 100_000).tolist()
    request = {"program": "sum(exp(sin(x)))", "variables": {"x": x}}
    assert not is_redirected(await ask(replica, request, **OFFER))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Gradwire-Redirect": "@anywhere"},
        {"Gradwire-Redirect": "/internal/file"},
        {"Gradwire-Redirect": "@gpu, @gpu"},
        {"X-Accel-Redirect": "@gpu"},
    ],
)
async def test_only_what_nginx_allows_is_redirected(replica, headers):
    assert not is_redirected(await ask(replica, LARGE, **headers))


async def test_exact_answers_are_computed_here(replica):
    assert not is_redirected(await ask(replica, {**LARGE, "exact": True}, **OFFER))


async def test_errors_are_answered_here(replica):
    wrong = {**LARGE, "program": f"{PROGRAM}\nnothing(y)"}
    assert (await ask(replica, wrong, **OFFER)).status_code == 422


async def test_what_keeps_results_or_names_them_stays(replica):
    kept = {**LARGE, "keep": ["gradients.x"]}
    assert not is_redirected(await ask(replica, kept, **OFFER))


async def test_what_refers_to_a_store_that_others_do_not_have_stays(replica):
    ref = (await replica.put("/v1/tensors", json={"value": X})).json()["ref"]
    by_tensor = {**LARGE, "variables": {"x": {"ref": ref}}}
    assert not is_redirected(await ask(replica, by_tensor, **OFFER))
    program = (await replica.post("/v1/programs", json={"program": PROGRAM})).json()
    by_program = {**LARGE, "program": {"ref": program["id"]}}
    assert not is_redirected(await ask(replica, by_program, **OFFER))
    assert is_redirected(await ask(replica, LARGE, **OFFER))


async def test_with_a_shared_store_references_are_redirected_too(served, redis_url):
    async with served(**REDIRECTED, store=redis_url, store_prefix="redirects") as client:
        ref = (await client.put("/v1/tensors", json={"value": X})).json()["ref"]
        found = await ask(client, {**LARGE, "variables": {"x": {"ref": ref}}}, **OFFER)
        assert is_redirected(found)


@pytest.mark.parametrize("path", ["/v1/tapes", "/v1/explain"])
async def test_tapes_and_explanations_stay(replica, path):
    answer = await ask(replica, LARGE, path, **OFFER)
    assert answer.is_success


async def test_without_the_setting_nothing_is_redirected(served):
    async with served() as client:
        assert not is_redirected(await ask(client, LARGE, **OFFER))


async def test_redirects_are_counted_by_their_status_alone(served):
    async with served(**REDIRECTED) as client:
        await ask(client, LARGE, **OFFER)
        text = (await client.get("/metrics")).text
    line = 'gradwire_requests_total{method="POST",route="/v1/gradient",status="307"} 1.0'
    assert line in {*text.splitlines()}
    assert 'gradwire_phase_seconds_count{phase="replay"} 0.0' in text


@pytest.mark.parametrize(
    ("store", "shared"),
    [("memory:", False), ("sqlite:a.db", False), ("redis://h/0", True), ("unix:///r", True)],
)
def test_stores_of_several_machines(store, shared):
    assert Settings(store=store).shares_store == shared
