"""Exact results are equal bit for bit in every process and replica, at first and later."""

import asyncio
import os
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.test_random_programs import VALUES, scripts
from tests.engine.test_replays import ASKED, EXTREMES, SEEDS, SHAPES, programs, values_of
from tests.fleet.fleets import replica
from tests.fleet.processes import until

PACKED = {"content-type": "application/msgpack", "accept": "application/msgpack"}
#: One computes short requests on its event loop, another never does, and one batches requests.
SETTINGS = (
    {"processes": 2, "inline_microseconds": 5000},
    {"processes": 3, "inline_microseconds": 0},
    {"processes": 0, "batch_window_microseconds": 300},
)
#: Requests to each replica, sequential then concurrent: enough to reach all of its processes.
TIMES = 3
#: Uses NumPy, BLAS, LAPACK, an FFT and a random generator, up to the ends of the float range.
LIBRARIES = """
q = x @ x.T + eye(len(x))
a = solve(q, x) + inv(q) @ x
b = sum(abs(fft.fft(x[0]))) + sum(svd(x, compute_uv=False)) + sum(eigvalsh(q))
c = sum(random.normal(random.key(7), x.shape) * x)
d = x[::2].T * 5e-324 + x[1::2].T * 1e-310
sum(a) * b + c, sum(x.T, axis=0), d
"""


@pytest.fixture(scope="module")
async def clients(tmp_path_factory):
    """Servers that share a store, and a client of each; one shares no memory with the others."""
    folder = tmp_path_factory.mktemp("exact")
    async with AsyncExitStack() as stack:
        servers, clients = [], []
        for number, settings in enumerate(SETTINGS):
            path = folder / str(number)
            path.mkdir()
            store = f"sqlite:{folder}/kept.db"
            server = await stack.enter_async_context(
                replica(path, apart=not number, store=store, **settings)
            )
            servers.append(server)
            clients.append(await stack.enter_async_context(server.client()))
        yield servers, clients


def packed(x):
    x = np.asarray(x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "data": x.tobytes()}


async def asked(client, path, document):
    """The body of the response, in which arrays are raw bytes."""
    body = msgpack.packb({**document, "exact": True})
    response = await client.post(path, content=body, headers=PACKED)
    assert response.status_code in (200, 201), response.text
    return response.content


async def answers(clients, path, document):
    """The responses of all replicas: first, later and concurrent ones."""
    found = Counter[bytes]()
    for client in clients:
        found.update([await asked(client, path, document) for _ in range(TIMES)])
    together = [asked(client, path, document) for client in clients for _ in range(TIMES)]
    found.update(await asyncio.gather(*together))
    return found


@pytest.mark.parametrize("kind", ASKED)
@examples(25)
@given(text=programs(), seed=SEEDS, extreme=st.booleans())
async def test_replicas_and_processes_give_the_same_bits(clients, kind, text, seed, extreme):
    path, fields = ASKED[kind]
    batch = list(SHAPES) if kind == "batch" else None
    values = values_of(seed, 3) if batch else values_of(seed)
    if extreme:
        rng = np.random.default_rng(seed)
        values = [rng.choice([x.flat[0], *EXTREMES], x.shape) for x in values]
    variables = dict(zip(SHAPES, map(packed, values), strict=True))
    document = {"program": text, "variables": variables, "batch": batch, **fields}
    assert len(await answers(clients[1], f"/v1/{path}", document)) == 1


@examples(25)
@given(text=scripts(), seed=SEEDS)
async def test_branches_taken_before_do_not_change_the_bits(clients, text, seed):
    """Each replica first gets other values, which take other branches."""
    rng = np.random.default_rng(seed)

    def document(scale):
        variables = {k: packed(scale * rng.normal(size=x.shape)) for k, x in VALUES.items()}
        return {"program": text, "variables": variables}

    for number, client in enumerate(clients[1]):
        for _ in range(number):
            await asked(client, "/v1/gradient", document(number))
    assert len(await answers(clients[1], "/v1/gradient", document(1))) == 1


@pytest.mark.parametrize("size", [6, 150])
async def test_libraries_give_the_same_bits(clients, size):
    """In short requests, and in requests too long for the event loop."""
    x = np.random.default_rng(size).normal(size=(size, size))
    document = {"program": LIBRARIES, "variables": {"x": packed(x)}}
    for path in "evaluate", "gradient":
        assert len(await answers(clients[1], f"/v1/{path}", document)) == 1


async def test_short_requests_are_also_computed_on_the_event_loop(clients):
    """The replicas really compute in the intended ways."""
    (first, second, _), (one, other, _) = clients
    document = {"program": "sum(sin(x) * x) / 7", "variables": {"x": packed(np.ones(30) / 3)}}

    async def queued(client, server):
        """How many of its processes' answers one request takes: 0 on the event loop."""
        name = "gradwire_queue_wait_seconds_count"
        before = await server.metric(name)
        bodies.add(await asked(client, "/v1/gradient", document))
        return await server.metric(name) - before

    bodies = set[bytes]()
    # It is computed there once it is known to be short, which a busy machine may not see at once.
    while await queued(one, first):
        assert await queued(other, second) == 1
    for _ in range(TIMES):
        assert await queued(other, second) == 1
    assert len(bodies) == 1


async def test_tensors_and_tapes_give_the_same_bits_as_sent_values(clients):
    text = "y = sum(tanh(m @ v)) + logsumexp(m)\nz = m @ v"
    x = dict(zip(SHAPES, values_of(3), strict=True))
    variables = {name: packed(x[name]) for name in ("m", "v")}
    question = {"target": "y", "sources": ["m", "v"]}
    (expected,) = await answers(
        clients[1], "/v1/gradient", {"program": text, "variables": variables, **question}
    )
    body = msgpack.packb(variables["m"])
    stored = await clients[1][0].put("/v1/tensors", content=body, headers=PACKED)
    ref = {"ref": msgpack.unpackb(stored.content)["ref"]}
    resident = {"program": text, "variables": {**variables, "m": ref}, **question}
    assert {*await answers(clients[1], "/v1/gradient", resident)} == {expected}

    made = await asked(
        clients[1][0],
        "/v1/tapes",
        {"program": text, "variables": variables, "persistent": True},
    )
    tape = msgpack.unpackb(made)["tape"]
    for client in clients[1]:
        for _ in range(TIMES):
            reply = await client.post(
                f"/v1/tapes/{tape}/gradient", content=msgpack.packb(question), headers=PACKED
            )
            assert reply.content == expected


async def test_a_request_retried_after_a_crash_gives_the_same_bits(clients):
    """The worker that computes it is killed; the retry may go to any replica."""
    (server, *_), (client, *others) = clients
    program = "y = v\nfor i in range(n):\n    y = tanh(s @ y) + y / 7\nsum(y)"
    values = dict(zip(SHAPES, values_of(5), strict=True))
    variables = {name: packed(values[name]) for name in ("s", "v")}
    variables["n"] = packed(200_000)
    document = {"program": program, "variables": variables, "timeout_ms": 3_600_000}
    running = asyncio.create_task(
        client.post(
            "/v1/evaluate", content=msgpack.packb({**document, "exact": True}), headers=PACKED
        )
    )
    os.kill(await computing(server), signal.SIGSEGV)
    lost = await running
    assert (lost.status_code, lost.json()["code"]) == (500, "worker_crashed")
    again = [asked(one, "/v1/evaluate", document) for one in (client, *others)]
    assert len({*await asyncio.gather(*again)}) == 1


async def computing(server):
    """Wait until a process of ``server`` computes for long, and return its id."""
    before = spent(server)
    found = None

    async def most():
        nonlocal found
        more = {pid: time - before.get(pid, 0) for pid, time in spent(server).items()}
        found = max(more, key=more.__getitem__)
        return 0 if found == server.process.pid else more[found]

    await until(most, least=150_000_000)
    return found


def spent(server):
    """The CPU time of each of its processes in nanoseconds."""
    stats = {pid: Path(f"/proc/{pid}/schedstat") for pid in server.family()}
    return {pid: int(stat.read_text().split()[0]) for pid, stat in stats.items()}
