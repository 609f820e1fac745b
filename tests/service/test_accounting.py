"""Requests release all resources, however they end."""

import asyncio
import gzip
import json
import os
import random
from contextlib import asynccontextmanager, suppress
from functools import partial
from hashlib import sha256
from multiprocessing import active_children
from typing import cast

import pytest
import uvicorn
from gradwire_service.access.entries import KeyEntry, write_entries
from gradwire_service.access.tokens import new_token
from gradwire_service.app import create_app
from gradwire_service.http.connection import HttpConnection
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.settings import Settings

from tests.effort import share
from tests.service.workers.processes import until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are held up by signals")

LOOP = "y = x\nfor i in range(3000):\n    y = y + sin(y) / (1 + y * y)\nsum(y)"
ENDLESS = "while True: pass\nx"
NOWHERE = "sha256:" + "0" * 64
MANY = [0.5] * 3000
#: The outcomes of requests, as counted by status.
OUTCOMES = {200, 401, 413, 422, 499, 503, 504}
#: Method, path and document of requests that succeed, fail or never end.
ASKED = [
    ("POST", "/v1/gradient", {"program": "sum(x * x)", "variables": {"x": [1.0, 2.0]}}),
    ("POST", "/v1/gradient", {"program": LOOP, "variables": {"x": 0.5}}),
    ("POST", "/v1/gradient", {"program": "sum(sin(x))", "variables": {"x": MANY}}),
    ("POST", "/v1/evaluate", {"program": ENDLESS, "variables": {"x": 1.0}, "timeout_ms": 30}),
    ("POST", "/v1/evaluate", {"program": ENDLESS, "variables": {"x": 1.0}, "timeout_ms": 500}),
    ("POST", "/v1/evaluate", {"program": ENDLESS, "variables": {"x": MANY}, "timeout_ms": 200}),
    ("POST", "/v1/evaluate", {"program": "x +", "variables": {"x": 1.0}}),
    ("POST", "/v1/evaluate", {"program": "zeros(10 ** 8) + x", "variables": {"x": 1.0}}),
    ("POST", "/v1/evaluate", {"program": {"ref": NOWHERE}, "variables": {"x": 1.0}}),
    ("POST", "/v1/evaluate", {"program": "x", "variables": {"x": {"ref": NOWHERE}}}),
    ("POST", "/v1/evaluate", {"program": "ones(20000) * x", "variables": {"x": 1.0}}),
    ("POST", "/v1/evaluate", {"program": "x", "variables": {"x": [0.5] * 30_000}}),
    ("POST", "/v1/tapes", {"program": "sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}),
    ("POST", "/v1/tapes", {"program": ENDLESS, "variables": {"x": 1.0}, "timeout_ms": 50}),
    ("POST", f"/v1/tapes/{'A' * 32}/gradient", {}),
    ("POST", "/v1/programs", {"program": "x * 2"}),
    ("GET", "/v1/programs", None),
    ("GET", "/v1/nothing", None),
    ("PATCH", "/v1/programs", None),
    ("GET", "/metrics", None),
]


def keys():
    """Keys of two tenants, one limited to few concurrent requests, and their entries."""
    tokens, entries = [new_token() for _ in range(3)], []
    for number, token in enumerate(tokens):
        entry = {
            "id": token.split("_")[1],
            "name": "key",
            "tenant": f"tenant-{number // 2}",
            "sha256": sha256(token.encode()).hexdigest(),
            "scopes": ["compute", "write"] if number else ["compute"],
            "concurrent": 3 if number == 1 else 0,
        }
        entries.append(KeyEntry.model_validate(entry))
    return tokens, write_entries(entries)


@asynccontextmanager
async def served(settings):
    """The service on a port in this event loop: the application and its limiter."""
    app = create_app(settings)
    limiter = ConnectionLimiter(settings, app.state.recorder)
    http = cast("type[HttpConnection]", partial(HttpConnection, limiter=limiter))
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=http, log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells in no other way
        await asyncio.sleep(0.01)
    try:
        yield app, limiter, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


def written(chosen, token):
    """The bytes of a request."""
    method, path, document = chosen.choice(ASKED)
    body = b"" if document is None else json.dumps(document).encode()
    lines = [f"{method} {path} HTTP/1.1", "host: service", "content-type: application/json"]
    if chosen.random() < 0.9:
        lines.append(f"authorization: Bearer {token}")
    if chosen.random() < 0.3:
        lines.append("accept-encoding: gzip")
    if chosen.random() < 0.3:
        body = gzip.compress(body) if chosen.random() < 0.8 else body
        lines.append("content-encoding: gzip")
    lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


async def ask(port, chosen, token):
    """One client: one or several requests, complete or partial, with or without waiting."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sent = b"".join(written(chosen, token) for _ in range(chosen.choice((1, 1, 1, 2, 4))))
    if chosen.random() < 0.2:
        sent = sent[: chosen.randrange(len(sent))]
    with suppress(OSError, TimeoutError):
        while sent:
            number = chosen.choice((100, 10_000, len(sent)))
            writer.write(sent[:number])
            sent = sent[number:]
            await asyncio.sleep(0)
        async with asyncio.timeout(chosen.choice((0, 0.005, 0.03, 0.1, 1))):
            while await reader.read(chosen.choice((1, 1 << 16))):
                pass
    if chosen.random() < 0.5:
        writer.transport.abort()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def taken(app, limiter, keyring):
    """The resources that requests occupy, by name."""
    capacity = app.state.capacity
    found = {
        "requests in flight": capacity.in_flight,
        "connections": len(limiter),
        "arriving bytes": limiter.arriving_bytes,
        "requests of keys": sum(key.limiter.in_flight for key in keyring.keys.values()),
    }
    queue = capacity.queue
    found |= {
        "requests of the queue": queue.requests,
        "its bytes": queue.load.nbytes,
        "its seconds": sum(queue._seconds.values()),
        "executors": len(queue._running) + queue._running_of.total(),
        "waiting": len(queue._waiting._tenants),
    }
    return {name: amount for name, amount in found.items() if amount}


def outcomes(counts):
    """Counted statuses."""
    return {status for _, _, status in counts}


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [0, 1])
@pytest.mark.parametrize("seed", range(2))
async def test_requests_release_everything_however_they_end(processes, seed):
    chosen = random.Random(f"{seed} {processes}")
    tokens, entries = keys()
    settings = Settings(
        keys=entries,
        cores=2,
        processes=processes,
        queue_requests=2,
        queue_bytes=200_000,
        queue_seconds=0.2,
        max_body_bytes=100_000,
        max_total_bytes=1 << 26,
        inline_body_bytes=20_000,
        batch_window_microseconds=1000,
        max_connections=40,
        body_timeout_seconds=0.3,
        header_timeout_seconds=0.3,
    )
    async with served(settings) as (app, limiter, port):
        keyring = app.state.keyring
        counts = app.state.recorder.metrics._requests.counts
        tasks = len(asyncio.all_tasks())
        clients: list[asyncio.Task[None]] = []
        # Until every outcome has occurred.
        while len(clients) < share(500) or not outcomes(counts) >= OUTCOMES:
            clients.append(asyncio.create_task(ask(port, chosen, chosen.choice(tokens))))
            await asyncio.sleep(chosen.choice((0, 0, 0.002, 0.01)))
        await asyncio.gather(*clients)
        await until(lambda: not taken(app, limiter, keyring))
        await until(lambda: len(asyncio.all_tasks()) <= tasks)
        await until(lambda: len(active_children()) <= processes)
        assert 500 not in outcomes(counts), [c for c in counts.items() if c[0][2] == 500]
