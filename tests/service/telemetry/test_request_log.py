"""Each request is one line of the log, with figures but no content."""

import json
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from gradwire_service.app import create_app
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Log
from gradwire_service.telemetry.rendering import renderer

from tests.patient import PATIENT

GRADIENT = {"program": "y = sum(x**2)", "variables": {"x": [1.0, 2.0]}}


@asynccontextmanager
async def logged(**settings):
    """A client of an application, and the lines that it logs; complete after the context."""
    read, told = Settings(cores=2, **PATIENT, **settings), []
    log = Log(lambda text: told.extend(text.splitlines()), renderer("json"))
    app = create_app(read, log)
    transport = httpx.ASGITransport(app)
    lines: list[dict[str, Any]] = []
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client, lines
    app.state.executors.shut()
    log.close()
    lines += [json.loads(line) for line in told]


async def test_a_request_is_logged_with_its_figures():
    async with logged() as (client, lines):
        answer = await client.post("/v1/gradient", json=GRADIENT, headers={"x-request-id": "r1"})
    (line,) = lines
    phases = {phase: line.pop(f"{phase}_seconds") for phase in ("parse", "compile", "replay")}
    assert all(0 < seconds < line["seconds"] for seconds in phases.values())
    assert 0 < line.pop("encode_seconds") < line.pop("seconds")
    assert line.pop("time").endswith("Z")
    line.pop("queue_seconds", None)
    assert line == {
        "level": "info",
        "event": "request",
        "request_id": "r1",
        "method": "POST",
        "route": "/v1/gradient",
        "status": 200,
        "body_bytes": len(answer.request.content),
        "answer_bytes": len(answer.content),
        "program": answer.json()["program"],
    }


async def test_a_refused_request_is_logged_with_its_code():
    async with logged() as (client, lines):
        await client.post("/v1/gradient", content=b"{")
        await client.get("/v1/tensors/mine")
        await client.get("/nothing/of/mine")
        await client.request("BREW", "/v1/evaluate")
    told = [tuple(map(line.get, ("method", "route", "status", "code"))) for line in lines]
    assert told == [
        ("POST", "/v1/gradient", 400, "malformed_body"),
        ("GET", "/v1/tensors/{ref}", 404, "unknown_ref"),
        ("GET", "none", 404, "not_found"),
        ("other", "/v1/evaluate", 405, "method_not_allowed"),
    ]


async def test_a_disconnect_is_logged():
    async with logged() as (client, lines):
        app = client._transport.app

        async def receive():
            return {"type": "http.disconnect"}

        async def send(message):
            raise AssertionError(message)

        scope = {"type": "http", "method": "POST", "path": "/v1/gradient", "headers": []}
        await app(scope, receive, send)
        metrics = (await client.get("/metrics")).text
    assert [line["status"] for line in lines] == [499]
    assert "gradwire_cancelled_total 1.0" in metrics


@pytest.mark.parametrize(
    ("settings", "routes"),
    [
        ({}, ["/v1/limits"]),
        ({"log_level": "debug"}, ["/healthz", "/v1/limits", "/metrics"]),
        ({"log_level": "warning"}, []),
        ({"log_requests": False}, []),
    ],
)
async def test_the_setting_determines_which_requests_are_logged(settings, routes):
    async with logged(**settings) as (client, lines):
        for path in "/healthz", "/v1/limits", "/metrics":
            await client.get(path)
    assert [line["route"] for line in lines] == routes


@pytest.mark.thorough
@pytest.mark.parametrize("wanted", [False, True])
async def test_client_addresses_are_logged_only_if_enabled(wanted):
    async with logged(log_client_addresses=wanted) as (client, lines):
        await client.get("/v1/limits")
    assert [line.get("client") for line in lines] == ["127.0.0.1" if wanted else None]
