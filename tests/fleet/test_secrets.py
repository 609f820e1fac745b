"""No key, program, name or value of any request appears in the log or the metrics."""

import asyncio
import json
import signal
import sys
from typing import Any

import pytest

from tests.fleet.fleets import replica
from tests.fleet.test_keys import new_key

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MARK = "Sesame"
NUMBER = 8675309.125
HEADERS = {
    "authorization": f"Bearer {MARK}",
    "cookie": f"session={MARK}",
    "x-api-key": MARK,
    "user-agent": MARK,
    "referer": f"http://{MARK}/",
}

#: Computations that fail in various ways, and some that succeed.
PROGRAMS = [
    f"{MARK} = x * 2",
    f"{MARK}(x)",
    f"x + {MARK}",
    f"x +* {MARK}",
    f"'{MARK}' + x",
    f"y = '\\d {MARK}' is x",
    f"x[{MARK!r}]",
    f"x.{MARK}",
    f"log(-x)\n# {MARK}",
    f"reshape(x, {MARK!r})",
    "inv(x)",
    f"while True:\n    {MARK} = x",
    f"def {MARK}(a):\n    return a / 0\n{MARK}(x)",
]
VALUES = [NUMBER, [NUMBER, [NUMBER]], MARK, {MARK: NUMBER}, {"dtype": MARK, "shape": [1]}, None]


def requests():
    """Methods, paths and bodies of all kinds of requests with secret content."""
    documents: list[Any] = [
        {"program": program, "variables": {"x": NUMBER}} for program in PROGRAMS
    ]
    documents += [{"program": "x * x", "variables": {"x": value}} for value in VALUES]
    documents += [
        {"program": "x", "variables": {MARK: NUMBER}, "outputs": [MARK]},
        {"program": {"ref": MARK}},
        {"program": {"nodes": [{"id": MARK, "op": MARK, "args": [MARK]}], "outputs": MARK}},
        {"program": "x", MARK: NUMBER},
        MARK,
    ]
    bodies = [
        json.dumps({"timeout_ms": 50} | document if isinstance(document, dict) else document)
        for document in documents
    ]
    bodies += [f'{{"program": "{MARK}', f"{MARK}", "[" * 10_000 + MARK]
    for path in (
        "/v1/evaluate",
        "/v1/gradient",
        "/v1/check",
        "/v1/explain",
        "/v1/tapes",
        "/v1/programs",
    ):
        for body in bodies:
            yield "POST", path, {"content": body}
    named = json.dumps({"program": "x * 2", "name": MARK})
    yield "POST", "/v1/programs", {"content": named}
    yield "GET", f"/v1/programs/{MARK}", {}
    yield "GET", f"/v1/programs/{MARK}/graph.svg?type={MARK}:{MARK}", {}
    for body in bodies[-8:]:
        yield "PUT", f"/v1/tensors/{MARK}", {"content": body}
    for kind in "application/msgpack", "application/x-npy", f"text/{MARK}":
        yield "PUT", "/v1/tensors", {"content": MARK, "headers": {"content-type": kind}}
        yield "POST", "/v1/gradient", {"content": MARK, "headers": {"content-type": kind}}
    for coding in "gzip", "zstd", MARK:
        yield "POST", "/v1/gradient", {"content": MARK, "headers": {"content-encoding": coding}}
    for name in "accept", "x-request-id", "traceparent", "if-none-match", "accept-encoding":
        yield "GET", "/v1/limits", {"headers": {name: f"{MARK} {MARK}"}}
    for path in f"/{MARK}", f"/v1/tapes/{MARK}", f"/docs/{MARK}", f"/%0a{MARK}%1b[2J", f"/?{MARK}":
        for method in "GET", "HEAD", "POST", "PUT", "DELETE", MARK.upper():
            yield method, path, {}


#: Invalid and incomplete HTTP requests.
RAW = [
    f"GET /{MARK}\r\n\r\n",
    f"{MARK} / HTTP/1.1\r\n\r\n",
    f"GET / HTTP/1.1\r\n{MARK}\r\n\r\n",
    f"POST /v1/gradient HTTP/1.1\r\ncontent-length: 1000\r\n\r\n{MARK}",
    f"POST /v1/gradient HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{MARK}\r\n",
    f"GET /{MARK} HTTP/1.1\r\nupgrade: {MARK}\r\nconnection: upgrade\r\n\r\n",
]


@pytest.mark.parametrize(("log_format", "keys"), [("json", True), ("console", False)])
async def test_logs_and_metrics_contain_only_figures_of_requests(
    tmp_path, monkeypatch, log_format, keys
):
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")  # logs callbacks and their arguments
    monkeypatch.setenv("PYTHONWARNINGS", "always")
    settings: dict[str, Any] = {
        "log_format": log_format,
        "log_level": "info",
        "log_client_addresses": True,
    }
    headers, secret = HEADERS, MARK
    if keys:
        file = tmp_path / "keys.json"
        key = new_key(file, "--scopes", "compute,write,admin")
        settings["keys_file"] = str(file)
        headers, secret = HEADERS | {"authorization": f"Bearer {key}"}, key.split("_", 2)[2]
    async with replica(tmp_path, apart=True, **settings, max_body_bytes=100_000) as alone:
        statuses = set()
        async with alone.client(headers=headers) as client:
            asked = list(requests())
            for method, path, request in asked:
                statuses.add((await client.request(method, path, **request)).status_code)
        for text in RAW:
            _, writer = await asyncio.open_connection("127.0.0.1", alone.port)
            writer.write(text.encode())
            await writer.drain()
            writer.close()
        async with alone.client(headers=headers) as client:
            told = (await client.get("/metrics")).text
        assert "gradwire_requests_total" in told
        alone.send(signal.SIGTERM)
        await alone.ended()
        log = alone.log(most=1 << 30)
    assert {200, 201, 400, 404, 405, 415, 422, 504} <= statuses
    assert len(log.splitlines()) > len(asked)
    assert ("acme" in log) == keys
    for text in log, told:
        assert secret not in text
        found = [line for line in text.splitlines() if MARK.lower() in line.lower()]
        assert not found
        assert not [line for line in text.splitlines() if str(NUMBER)[:7] in line]
    if log_format == "json":
        for line in log.splitlines():
            event = json.loads(line)
            assert {"time", "level", "event"} <= event.keys()
