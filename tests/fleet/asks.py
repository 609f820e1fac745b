"""Requests of the fleet tests, with expected results from NumPy and calculus by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from tests.fleet.load import Ask

Numbers = NDArray[np.float64]

#: Its gradient in ``x`` is ``c * cos(x) + 2 * x``.
SMOOTH = "sum(c * sin(x) + x * x)"


def smooth(
    size: int, seed: int, name: str = "smooth", program: object = SMOOTH, tenant: str | None = None
) -> Ask:
    """The gradient of a function of ``size`` numbers, sent as JSON."""
    x, c = np.random.default_rng(seed).normal(size=(2, size))
    document = {
        "program": program,
        "variables": {"x": x.tolist(), "c": c.tolist()},
        "sources": "x",
    }
    headers = [] if tenant is None else [("Authorization", f"Bearer {tenant}")]
    return Ask(name, "/v1/gradient", document, gives(c * np.cos(x) + 2 * x), headers=headers)


def slow(passes: int, seed: int = 0) -> Ask:
    """A loop over 50,000 numbers in a thread; each iteration takes a fraction of a millisecond."""
    start, size = 1.0 + seed, 50_000
    program = f"y = x * range({size}) / {size}\nfor i in range({passes}): y = sin(y) + y\nmean(y)"
    y = start * np.arange(size) / size
    for _ in range(passes):
        y = np.sin(y) + y
    mean = float(y.mean())
    document = {"program": program, "variables": {"x": start}}
    return Ask("slow", "/v1/evaluate", document, lambda found: isclose(found["outputs"], mean))


def large(size: int) -> Ask:
    """The sum of a sorted array, which briefly needs some memory."""
    document = {"program": f"sum(sort(sin(x * arange({size}))))", "variables": {"x": 1.0}}
    total = float(np.sin(np.arange(size)).sum())
    return Ask(
        "large",
        "/v1/evaluate",
        document,
        lambda found: isclose(found["outputs"], total, abs_tol=1e-6),
    )


def waiting(milliseconds: int, seed: int = 0) -> Ask:
    """An endless loop over numbers, which runs until the request times out."""
    document = {
        "program": "while x > 0: x = x + 1\nx",
        "variables": {"x": 1.0 + seed},
        "timeout_ms": milliseconds,
    }
    return Ask("waiting", "/v1/evaluate", document, lambda _: False)


def gives(gradient: Numbers) -> Callable[[Any], bool]:
    """A check of a response by its gradient."""

    def right(document: Any) -> bool:
        found = np.asarray(document["gradients"], float)
        return found.shape == gradient.shape and np.allclose(found, gradient, 1e-9, 1e-9)

    return right


async def registered(client: httpx.AsyncClient, size: int, seed: int) -> Ask:
    """The same gradient, of a registered program."""
    reply = await client.post("/v1/programs", json={"program": SMOOTH})
    assert reply.status_code in (200, 201), reply.text
    return smooth(size, seed, "by id", {"ref": reply.json()["id"]})


async def recorded(client: httpx.AsyncClient, size: int, seed: int) -> Ask:
    """A request to a stored tape."""
    x = np.random.default_rng(seed).normal(size=size)
    asked = {"program": "y = sum(x ** 3)", "variables": {"x": x.tolist()}, "persistent": True}
    reply = await client.post("/v1/tapes", json=asked)
    assert reply.status_code == 201, reply.text
    question = {"target": "y", "sources": "x"}
    return Ask("tape", f"/v1/tapes/{reply.json()['tape']}/gradient", question, gives(3 * x * x))


async def mixed(client: httpx.AsyncClient) -> list[Ask]:
    """Small and larger gradients, by text and by id, on the event loop and in threads, and tapes.

    Most are small, as in a real service.
    """
    asks = [smooth(10, seed) for seed in range(12)]
    asks += [smooth(2_000, seed, "larger") for seed in range(2)]
    asks += [await registered(client, 10, seed) for seed in range(4)]
    asks += [await recorded(client, 10, seed) for seed in range(4)]
    return [*asks, slow(30)]


health = Ask("health", "/healthz", right=lambda _: True, method="GET")
