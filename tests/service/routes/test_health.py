"""Health, readiness, metrics."""

import re
from pathlib import Path

import pytest
from gradwire_service import __version__
from prometheus_client.parser import text_string_to_metric_families

PAGE = (Path(__file__).parents[3] / "docs/reference/telemetry.md").read_text(encoding="utf-8")


@pytest.fixture
def app(new_app):
    return new_app


@pytest.fixture
def client(new_client):
    return new_client


async def samples(client):
    text = (await client.get("/metrics")).text
    families = text_string_to_metric_families(text)
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


async def test_alive_and_ready(client):
    assert (await client.get("/healthz")).json() == {"status": "alive"}
    ready = {"status": "ready", "machine_code": False, "gpu": False}
    assert (await client.get("/readyz")).json() == ready


async def test_readiness_drops_while_draining(app, client):
    app.state.capacity.draining = True
    response = await client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["code"] == "draining"
    assert response.headers["retry-after"] == "1"
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.post("/v1/evaluate", json={"program": "1"})).status_code == 200
    app.state.capacity.refusing = True
    refused = await client.post("/v1/evaluate", json={"program": "1"})
    assert (refused.status_code, refused.json()["code"]) == (503, "draining")


async def test_requests_phases_and_problems_are_counted(client):
    request = {"program": "y = log(x)", "variables": {"x": 0.0}}
    for _ in range(3):
        assert (await client.post("/v1/gradient", json=request)).status_code == 200
    assert (await client.post("/v1/gradient", content=b"{")).status_code == 400
    await client.get("/nothing")
    found = await samples(client)
    post, route = ("method", "POST"), ("route", "/v1/gradient")
    assert found["gradwire_requests_total", post, route, ("status", "200")] == 3
    assert found["gradwire_requests_total", post, route, ("status", "400")] == 1
    none = ("method", "GET"), ("route", "none"), ("status", "404")
    assert found["gradwire_requests_total", *none] == 1
    assert found["gradwire_request_seconds_count", route] == 4
    assert found["gradwire_request_seconds_count", ("route", "none")] == 1
    assert found["gradwire_problems_total", ("code", "malformed_body")] == 1
    assert found["gradwire_executable_cache_total", ("outcome", "miss")] == 1
    assert found["gradwire_executable_cache_total", ("outcome", "hit")] == 2
    assert found["gradwire_nonfinite_total", ("direction", "forward")] == 3
    assert found["gradwire_in_flight",] == 0
    for phase in "parse", "compile", "replay", "encode":
        assert found["gradwire_phase_seconds_count", ("phase", phase)] == 3
        last = ("gradwire_phase_seconds_bucket", ("le", "+Inf"), ("phase", phase))
        assert found[last] == 3


async def test_invented_methods_and_paths_create_no_metric_series(client):
    asked = [("BREW", "/v1/gradient"), ("SING", "/nothing"), ("GET", "/v1/programs/mine")]
    asked += [("HEAD", "/v1/programs/other"), ("GET", "/another"), ("PUT", "/docs/mine")]
    for method, path in asked:
        await client.request(method, path)
    labels = {name[1:] for name in await samples(client) if name[0] == "gradwire_requests_total"}
    told = {(dict(of)["method"], dict(of)["route"]) for of in labels}
    assert told == {
        ("other", "/v1/gradient"),
        ("other", "none"),
        ("GET", "none"),
        ("GET", "/v1/programs/{program}"),
        ("HEAD", "/v1/programs/{program}"),
        ("PUT", "/docs/{name}"),
    }


async def test_rejected_requests_are_counted_by_reason(served):
    async with served(max_body_bytes=100) as client:
        await client.post("/v1/evaluate", content=b" " * 101)
        await client.post("/v1/evaluate", json={"program": "while True: pass", "timeout_ms": 1})
        await client.post("/v1/evaluate", json={"program": "1 +"})
        found = await samples(client)
    rejected = {
        name[1:]: n for name, n in found.items() if name[0] == "gradwire_rejected_total" and n
    }
    assert rejected == {
        (("reason", "body_too_large"),): 1,
        (("reason", "deadline_exceeded"),): 1,
    }


async def test_process_metrics_are_exposed(client):
    found = await samples(client)
    assert found["process_resident_memory_bytes",] > 1e7
    assert found["process_open_fds",] > 0
    assert found["gradwire_tasks",] >= 1
    assert found["gradwire_threads",] >= 1
    (build,) = [dict(name[1:]) for name in found if name[0] == "gradwire_build_info"]
    assert build["version"] == __version__


async def test_stored_records_are_counted_by_kind(served, kept):
    async with served(**kept) as client:
        program = {"program": "y = x * x", "variables": {"x": 1.0}}
        await client.post("/v1/tapes", json=program)
        await client.post("/v1/programs", json={"program": "x + 1", "name": "f"})
        found = await samples(client)
    held = {name[1][1]: n for name, n in found.items() if name[0] == "gradwire_records"}
    empty = dict.fromkeys(("tensors", "results", "jobs", "job_parts", "job_leases", "used"), 0)
    assert held == {"tapes": 1, "programs": 1, "names": 1, **empty}


async def test_the_documentation_lists_every_metric(client):
    await client.post("/v1/gradient", json={"program": "log(x)", "variables": {"x": 0.0}})
    families = text_string_to_metric_families((await client.get("/metrics")).text)
    found = {family.name + "_total" * (family.type == "counter") for family in families}
    listed = set(re.findall(r"`(gradwire_\w+)`", PAGE.partition("## Metrics")[2]))
    assert {name for name in found if name.startswith("gradwire_")} <= listed
    assert {name.split("_")[0] for name in found} == {"gradwire", "process"}
