"""Calls through the Python SDK compared with handwritten httpx requests and other SDKs."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time
from typing import Any

import gradwire
import httpx
import numpy as np
import orjson
from gradwire_service.wire.unpacking import unpack
from measure import Figures, Row, compared, interleave, shown, table
from peers.by_hand import Array, rosenbrock
from peers.interpreters import environment, installed, interpreter
from peers.workloads import ROSENBROCK
from servers import GRADWIRE, JSON, Server, running
from wire.forms import MESSAGEPACK, from_leaf, to_json, to_messagepack
from wire.others import PEERS, SERVERS
from wire.sizes import points

#: A value and its gradient at a point.
Ask = Callable[[Array], tuple[Any, Any]]

_PATH = "/v1/gradient"
_SIZES = (10, 100_000)
_LINEAR = "mean((data @ w)**2)"


@dataclass
class Side:
    """One way to call, and the medians of each round: latency and CPU time in microseconds."""

    ask: Ask
    latency: Figures = field(default_factory=list)
    cpu: Figures = field(default_factory=list)

    def once(self, x: Array) -> tuple[float, float]:
        """The latency and CPU time of one call."""
        begin, cpu = perf_counter(), process_time()
        self.ask(x)
        return (perf_counter() - begin) * 1e6, (process_time() - cpu) * 1e6


def report(*, quick: bool) -> list[str]:
    """Calls from NumPy to NumPy: encode, send, wait, decode."""
    rounds = 8 if quick else 40
    with running(GRADWIRE) as server, gradwire.Client(_url(server)) as client:
        rows = [*_waiting(server, client, rounds), *_awaiting(server, rounds)]
        rows.append(_again(server, rounds))
    title = "Value and gradient from NumPy to NumPy by the SDK, of Rosenbrock's function"
    return [compared(title, "by hand", rows), _others(quick=quick)]


def _waiting(server: Server, client: gradwire.Client, rounds: int) -> list[Row]:
    """``Client`` compared with ``httpx.Client``."""
    with httpx.Client(base_url=_url(server)) as http:

        def by_hand(body: bytes, media_type: str) -> bytes:
            return http.post(_PATH, content=body, headers={"Content-Type": media_type}).content

        def in_json(x: Array) -> tuple[Any, Any]:
            return _read_json(by_hand(_json(x), JSON))

        def in_messagepack(x: Array) -> tuple[Any, Any]:
            return _read_messagepack(by_hand(_messagepack(x), MESSAGEPACK))

        def ours(x: Array) -> tuple[Any, Any]:
            return _read(client.gradient(ROSENBROCK, {"x": x}, sources="x"))

        small = alternate(rounds, 10, 50, ours, in_json)
        large = alternate(rounds, 100_000, 5, ours, in_messagepack)
    return [
        *_rows("10 numbers, beside JSON", *small, 1.3),
        *_rows("100,000 numbers, beside MessagePack", *large, 1.5),
        Row.of(
            "100,000 numbers: latency", large[0].latency, large[1].latency, "us", figure_bar=3000
        ),
    ]


def _rows(what: str, ours: Side, theirs: Side, most: float) -> list[Row]:
    return [
        Row.of(f"{what}: latency", ours.latency, theirs.latency, "us", ratio_bar=most),
        Row.of(f"{what}: CPU", ours.cpu, theirs.cpu, "us"),
    ]


def _awaiting(server: Server, rounds: int) -> list[Row]:
    """``AsyncClient`` compared with ``httpx.AsyncClient``."""
    with asyncio.Runner() as runner:
        http = httpx.AsyncClient(base_url=_url(server))
        client = gradwire.AsyncClient(_url(server))

        async def by_hand(x: Array) -> tuple[Any, Any]:
            answer = await http.post(_PATH, content=_json(x), headers={"Content-Type": JSON})
            return _read_json(answer.content)

        async def sdk(x: Array) -> tuple[Any, Any]:
            return _read(await client.gradient(ROSENBROCK, {"x": x}, sources="x"))

        wait = runner.get_loop().run_until_complete
        sides = alternate(rounds, 10, 50, lambda x: wait(sdk(x)), lambda x: wait(by_hand(x)))
        runner.run(http.aclose())
        runner.run(client.close())
    return _rows("10 numbers, awaited, beside JSON", *sides, 1.3)


def _again(server: Server, rounds: int) -> Row:
    """Repeated values by reference, compared with a client with references disabled."""
    data, w = np.random.default_rng(0).normal(size=(10_000, 100)), np.ones(100)

    def asking(client: gradwire.Client) -> Callable[[int], float]:
        def ask(number: int) -> float:
            begin = perf_counter()
            client.gradient(_LINEAR, {"data": data, "w": w + number}, sources="w")
            return (perf_counter() - begin) * 1e6

        for number in range(4):
            ask(-number)
        return ask

    url = _url(server)
    with gradwire.Client(url) as client, gradwire.Client(url, references=False) as plain:
        figures = interleave(rounds, asking(client), asking(plain))
    what = "in 100 weights, 8 MB of data again, beside all sent: latency"
    return Row.of(what, figures[0], figures[1], "us")


def alternate(rounds: int, size: int, count: int, ours: Ask, theirs: Ask) -> tuple[Side, Side]:
    """Alternate calls of both, after checking their results."""
    (start,) = points(size, 1)
    sides = Side(ours), Side(theirs)
    for side in sides:
        for value, expected in zip(side.ask(start), rosenbrock(start), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-9)
    numbers = itertools.count(1)
    for _ in range(rounds):
        gc.collect()
        found: list[list[tuple[float, float]]] = [[], []]
        for turn in range(count):
            for i in (turn % 2, 1 - turn % 2):
                x = start + 1e-9 * next(numbers)  # no point is repeated
                found[i].append(sides[i].once(x))
        for side, figures in zip(sides, found, strict=True):
            latencies, cpu = zip(*figures, strict=True)
            side.latency.append(median(latencies))
            side.cpu.append(median(cpu))
    return sides


def _json(x: Array) -> bytes:
    return to_json({"program": ROSENBROCK, "variables": {"x": x}, "sources": "x"})


def _messagepack(x: Array) -> bytes:
    return to_messagepack({"program": ROSENBROCK, "variables": {"x": x}, "sources": "x"})


def _read(answer: gradwire.Gradient) -> tuple[Any, Any]:
    return answer.value, answer.gradients


def _read_json(body: bytes) -> tuple[Any, Any]:
    document = orjson.loads(body)
    return document["value"], np.array(document["gradients"])


def _read_messagepack(body: bytes) -> tuple[Any, Any]:
    document = unpack(body)
    return from_leaf(document["value"]), from_leaf(document["gradients"])


def _url(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def _others(*, quick: bool) -> str:
    """Other services through their own SDKs, with two requests; missing ones are skipped."""
    found: dict[str, Sequence[float]] = {}
    for name in ("gradwire", *PEERS):
        if name == "gradwire" or installed(name):
            with SERVERS[name]() as server:
                found[name] = _asked_there(name, server, 20 if quick else 200)
    missing = [name for name in PEERS if name not in found]
    skipped = f"; not installed: {', '.join(missing)}" if missing else ""
    rows = [
        [f"{size:,} numbers, us", *[shown(figures[i]) for figures in found.values()]]
        for i, size in enumerate(_SIZES)
    ]
    return table(f"Value and gradient by the SDKs of others{skipped}", ["", *found], rows)


def _asked_there(name: str, server: Server, count: int) -> list[float]:
    """The median microseconds for each size, from a process that has the SDK."""
    command = [interpreter(name), "-m", "peers.sdks", name, _url(server), str(count)]
    sizes = [str(size) for size in _SIZES]
    around = environment()
    done = subprocess.run([*command, *sizes], env=around, check=True, capture_output=True)
    figures: list[float] = json.loads(done.stdout)
    return figures
