"""Abandoned work stops and releases its CPU, its place in the queue and its memory."""

import asyncio
import json
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, Nginx, replica
from tests.fleet.load import Ask
from tests.fleet.processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

CROWD = 60
#: A process below this CPU time is idle: uvicorn's timer runs ten times a second.
REST_SECONDS = 0.02
LOOKS = 3
#: The memory that a process may keep after a request: reserves of NumPy and the allocator.
KEPT_BYTES = 64 << 20


def lines(count: int) -> str:
    """A program whose lines are all different, which takes seconds to record."""
    return "\n".join(
        f"x = x * {1 + n / 1e7} + {('sin', 'cos', 'tanh', 'exp')[n * n % 7 % 4]}(x * {n})"
        for n in range(count)
    )


#: None of these ever ends, but the recording.
WORK = {
    "arrays": {
        "program": "x = x + range(1000000)\nwhile x[0] < 9: x = sin(x) * cos(x)\nsum(x)",
        "variables": {"x": 1.0},
    },
    "long arrays": {
        "program": "x = x + range(1000000)\nwhile x[0] < 9:\n"
        + "  x = sin(x) * exp(-x * x)\n" * 400
        + "sum(x)",
        "variables": {"x": 1.0},
    },
    "loop": {"program": "while x > 0: x = x + 1\nx", "variables": {"x": 1.0}},
    "recording": {"program": lines(3_000), "variables": {"x": 1.0}},
    "batch": {
        "program": "while x > 0: x = x + n\nx",
        "variables": {"x": [1.0] * 50, "n": [float(n + 1) for n in range(50)]},
        "batch": ["x", "n"],
    },
}
#: More than any test takes.
NEVER_MS = 3_600_000


@pytest.fixture(scope="module")
async def server(tmp_path_factory):
    async with replica(tmp_path_factory.mktemp("cancel"), cores=2) as server:
        # One-time costs, such as the pool's threads and NumPy's tables, do not belong to a request.
        await load.closed(server.port, [request("arrays", 300)], clients=2, each=1)
        yield server


def request(work: str, milliseconds: int) -> Ask:
    path = "/v1/hessian" if work == "recording" else "/v1/evaluate"
    return Ask(work, path, WORK[work] | {"timeout_ms": milliseconds})


async def rested(server) -> float:
    """Wait until several samples show an idle server; returns its CPU time."""
    seen = [server.cpu_seconds()]
    # A single sample may fall into a moment when other processes have the CPU.
    while len(seen) <= LOOKS or abs(seen[-1] - seen[-1 - LOOKS]) > REST_SECONDS:
        await asyncio.sleep(0.1)
        seen.append(server.cpu_seconds())
    return seen[-1 - LOOKS]


@pytest.mark.parametrize("work", WORK)
async def test_computations_stop_at_the_deadline(server, tell, work):
    await rested(server)
    before = server.figures()
    answers = await load.closed(server.port, [request(work, 700)], clients=1, each=1)
    (answer,), at_answer = answers.all, server.cpu_seconds()
    seconds = await rested(server) - at_answer
    tell("answered after", answer.seconds)
    tell("processor seconds after that", seconds)
    assert (answer.status, answer.code) == (504, "deadline_exceeded")
    await is_released(server, before)


@pytest.mark.parametrize(
    ("work", "by"),
    [
        *((work, "client") for work in WORK),
        pytest.param(
            "loop",
            "nginx",
            marks=pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
        ),
    ],
)
async def test_computations_stop_when_the_client_disconnects(server, tell, tmp_path, work, by):
    await rested(server)
    before = server.figures()
    nginx = Nginx(tmp_path, [server.port]).start() if by == "nginx" else None
    try:
        through = await nginx.listening() if nginx else server
        begun = server.cpu_seconds()
        async with load.unread(through.port, [request(work, NEVER_MS)]):
            await until(server.taken, least=begun + 0.4)
        gone = server.cpu_seconds()
        seconds = await rested(server) - gone
        tell("processor seconds after that", seconds)
        await is_released(server, before)
    finally:
        if nginx:
            nginx.stop()


async def test_many_disconnects_leave_nothing_running(server, tell):
    await rested(server)
    before = server.figures()
    async with load.unread(server.port, [request("loop", NEVER_MS)] * CROWD):
        await until(server.metric, "gradwire_in_flight", least=CROWD)
        gone = server.cpu_seconds()
    seconds = await rested(server) - gone
    tell("processor seconds after that", seconds)
    await is_released(server, before)
    assert server.figures().threads < before.threads + CROWD / 4
    assert server.figures().files < before.files + CROWD / 4


async def is_released(server, before) -> None:
    """Check that places in the queue and memory are released."""
    await until(idle, server, least=1)
    assert await server.metric("gradwire_queued") == 0
    assert server.figures().resident_bytes < before.resident_bytes + KEPT_BYTES
    answer = Ask("next", "/v1/evaluate", json.loads('{"program": "1 + 1"}'), _is_two)
    both = await load.closed(server.port, [answer, asks.health], clients=2, each=5)
    assert both.failures == {}


def _is_two(document):
    return document["outputs"] == 2 if "outputs" in document else True


async def idle(server) -> float:
    """1 when no request is in progress."""
    return float(not await server.metric("gradwire_in_flight"))
