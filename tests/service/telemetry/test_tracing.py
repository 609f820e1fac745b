"""Traces as a collector receives them, over OTLP."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from gradwire_service.__main__ import main
from gradwire_service.app import create_app
from gradwire_service.settings import Settings
from gradwire_service.telemetry import PHASES, trace_export
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import ValidationError

from tests.patient import PATIENT

MARK = "Sesame"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00"
GRADIENT = {"program": f"{MARK} = sum(x**2)", "variables": {"x": [1.0, 2.0]}}


class Collector:
    """A receiver of OTLP over HTTP."""

    def __init__(self, port: int = 0) -> None:
        received: list[tuple[str, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                received.append((self.path, self.rfile.read(length)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.received = received
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def spans(self) -> list[Any]:
        bodies = [body for path, body in self.received if path == "/v1/traces"]
        exports = [ExportTraceServiceRequest.FromString(body) for body in bodies]
        return [
            span
            for export in exports
            for resource in export.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture(autouse=True)
def patient_exports(monkeypatch):
    """A slow machine has time to export everything."""
    monkeypatch.setattr(trace_export, "_SECONDS", 3600)


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()


@asynccontextmanager
async def traced(collector, **settings):
    """A client of an application that exports to the collector; complete after the context."""
    app = create_app(Settings(cores=2, otel_endpoint=collector.endpoint, **PATIENT, **settings))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        yield client


def attributes(span):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def tree(spans):
    """The root spans, each with its children in order."""
    ids = {span.span_id for span in spans}
    return [
        (root, [span for span in spans if span.parent_span_id == root.span_id])
        for root in spans
        if root.parent_span_id not in ids
    ]


@pytest.mark.parametrize("processes", [0, 1])
async def test_a_request_is_a_span_with_a_child_per_phase(collector, processes):
    async with traced(collector, processes=processes) as client:
        answer = await client.post("/v1/gradient", json=GRADIENT)
    ((root, children),) = tree(collector.spans)
    assert root.name == "POST /v1/gradient"
    assert root.kind == root.SPAN_KIND_SERVER
    told = attributes(root)
    program = answer.json()["program"]
    assert told["http.route"] == "/v1/gradient"
    assert told["http.request.method"] == "POST"
    assert told["http.response.status_code"] == 200
    assert told["http.request.body.size"] == len(answer.request.content)
    assert told["gradwire.program.id"] == program
    assert told["gradwire.request.id"] == answer.headers["x-request-id"]
    assert {"parse", "queue", "compile", "replay", "encode"} == {span.name for span in children}
    assert all(attributes(span) == {"gradwire.program.id": program} for span in children)
    for span in children:
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano
    begun = {span.name: span.start_time_unix_nano for span in children}
    order = sorted(("queue", "compile", "replay", "encode"), key=begun.__getitem__)
    assert order == ["queue", "compile", "replay", "encode"]


@pytest.mark.parametrize("processes", [0, 1])
async def test_phase_spans_agree_with_server_timing(collector, processes):
    async with traced(collector, processes=processes) as client:
        answer = await client.post("/v1/gradient", json=GRADIENT)
    timing = dict(re.findall(r"(\w+);dur=([\d.]+)", answer.headers["server-timing"]))
    for phase in PHASES:
        milliseconds = timing[phase]
        nanoseconds = sum(
            span.end_time_unix_nano - span.start_time_unix_nano
            for span in collector.spans
            if span.name == phase
        )
        assert nanoseconds / 1e6 == pytest.approx(float(milliseconds), abs=0.002)


@pytest.mark.thorough
async def test_an_incoming_trace_is_continued(collector):
    async with traced(collector) as client:
        answer = await client.get("/v1/limits", headers={"traceparent": SAMPLED})
        await client.get("/v1/ops", headers={"traceparent": UNSAMPLED})
        await client.get("/v1/ops", headers={"traceparent": "nonsense"})
    ((root, _), (other, _)) = tree(collector.spans)
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == (TRACE, PARENT)
    assert answer.headers["traceresponse"] == f"00-{TRACE}-{root.span_id.hex()}-01"
    assert (other.name, other.parent_span_id) == ("GET /v1/ops", b"")
    assert other.trace_id.hex() != TRACE


async def test_with_ratio_0_only_sampled_incoming_traces_are_traced(collector):
    async with traced(collector, otel_sample_ratio=0) as client:
        answer = await client.get("/v1/ops")
        await client.get("/v1/limits", headers={"traceparent": SAMPLED})
    assert "traceresponse" not in answer.headers
    assert [span.name for span in collector.spans] == ["GET /v1/limits"]


async def test_spans_have_error_codes_and_no_values(collector):
    async with traced(collector) as client:
        await client.post(f"/v1/tapes/{MARK}/gradient", json=GRADIENT)
        endless = f"while True: {MARK} = 1"
        await client.post("/v1/evaluate", json={"program": endless, "timeout_ms": 20})
        await client.request("BREW", f"/{MARK}?{MARK}", headers={"authorization": MARK})
    found = {root.name: root for root, _ in tree(collector.spans)}
    unknown = found["POST /v1/tapes/{tape}/gradient"]
    late = found["POST /v1/evaluate"]
    nowhere = attributes(found["other none"])
    assert attributes(unknown)["gradwire.problem.code"] == "invalid_request"
    assert unknown.status.code == unknown.status.STATUS_CODE_UNSET
    assert attributes(late)["error.type"] == "deadline_exceeded"
    assert late.status.code == late.status.STATUS_CODE_ERROR
    assert nowhere["http.request.method"] == "_OTHER"
    assert "http.route" not in nowhere
    assert not [body for _, body in collector.received if MARK.encode() in body]


@pytest.fixture
def gone():
    """A collector that has ended."""
    collector = Collector()
    collector.close()
    return collector


async def test_requests_succeed_without_a_collector(gone, monkeypatch):
    async with traced(gone) as client:
        assert (await client.post("/v1/gradient", json=GRADIENT)).status_code == 200
        monkeypatch.setattr(trace_export, "_SECONDS", 0)


async def test_closing_does_not_wait_for_a_missing_collector(gone, monkeypatch):
    exporting = trace_export.TraceExport(gone.endpoint, 1.0)
    tracer = exporting._provider.get_tracer("test")
    for _ in range(2000):  # four batches, each of which would be tried for an hour
        tracer.start_span("span").end()
    monkeypatch.setattr(trace_export, "_SECONDS", 0)
    await exporting.close()


@pytest.mark.parametrize(
    "endpoint", ["collector:4318", "http://user:word@collector:4318", "ftp://x"]
)
def test_invalid_endpoints_are_refused(endpoint):
    with pytest.raises(ValidationError):
        Settings(otel_endpoint=endpoint)


def test_a_missing_otel_package_is_reported_at_startup(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--processes", "0", "--otel-endpoint", "http://127.0.0.1:4318"])
    assert "pip install 'gradwire-server[otel]'" in capsys.readouterr().err


@pytest.mark.thorough
def test_without_an_endpoint_opentelemetry_is_not_imported(loaded):
    assert not [name for name in loaded if re.match(r"opentelemetry\.(sdk|exporter)", name)]
