"""Health, readiness, metrics."""

from prometheus_client.parser import text_string_to_metric_families


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
    assert (await client.get("/readyz")).json() == {"status": "ready"}


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
    route = ("route", "/v1/gradient")
    assert found["gradwire_requests_total", route, ("status", "200")] == 3
    assert found["gradwire_requests_total", route, ("status", "400")] == 1
    assert found["gradwire_requests_total", ("route", "none"), ("status", "404")] == 1
    assert found["gradwire_problems_total", ("code", "malformed_body")] == 1
    assert found["gradwire_executable_cache_total", ("outcome", "miss")] == 1
    assert found["gradwire_executable_cache_total", ("outcome", "hit")] == 2
    assert found["gradwire_nonfinite_total", ("direction", "forward")] == 3
    assert found["gradwire_in_flight",] == 0
    for phase in "parse", "compile", "replay", "encode":
        assert found["gradwire_phase_seconds_count", ("phase", phase)] == 3
        last = ("gradwire_phase_seconds_bucket", ("le", "+Inf"), ("phase", phase))
        assert found[last] == 3
