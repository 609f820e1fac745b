"""Requests with large inputs: their transfers overlapped with other requests' replays, or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isqrt
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query

from gpu.cases import Case, Run
from gpu.devices import Device
from gpu.tools import LIMITS, go_on, wait_for_torch

_TEXT = "sum(tanh(x @ x / 64.0)**2)"
#: Concurrent requests, and their number.
_AT_ONCE, _REQUESTS = 4, 8


def overlap(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """8 requests of 64 MB each, which are squared as a matrix."""
    side = isqrt(int(4096**2 * scale))
    draw = np.random.default_rng(0)
    drawn = [draw.normal(size=(side, side)).astype(np.float32) for _ in range(2)]
    hosts = [drawn[i % 2] for i in range(_REQUESTS)]

    def expected() -> Sequence[Any]:
        exact = [each.astype(np.float64) for each in drawn]
        values = [np.sum(np.tanh(each @ each / 64.0) ** 2) for each in exact]
        return [values[i % 2] for i in range(_REQUESTS)]

    def concurrent() -> Run:
        ask = _asking(device, stay=False)
        pool = ThreadPoolExecutor(_AT_ONCE)
        return lambda: [*pool.map(ask, hosts)]

    def consecutive() -> Run:
        ask = _asking(device, stay=False)
        return lambda: [ask(host) for host in hosts]

    def apart() -> Run:
        ask = _asking(device, stay=True)

        def run() -> Sequence[Any]:
            answers = []
            for host in hosts:
                there = device.xp.asarray(host)
                device.synchronize()
                answers.append(ask(there))
                device.synchronize()
            return answers

        return run

    def replays() -> Run:
        ask = _asking(device, stay=True)
        there = [device.xp.asarray(host) for host in hosts]

        def run() -> Sequence[Any]:
            answers = [ask(each) for each in there]
            device.synchronize()
            return answers

        return run

    def transfers() -> Run:
        def run() -> Sequence[Any]:
            for host in hosts:
                device.xp.asarray(host)
            device.synchronize()
            return ()

        return run

    yield Case(
        f"{_REQUESTS} requests of {drawn[0].nbytes / 2**20:,.0f} MiB: sum(tanh(x @ x)²), float32",
        {
            f"gradwire, {_AT_ONCE} at once": concurrent,
            "gradwire, one by one": consecutive,
            "gradwire, transfer then replay": apart,
            "gradwire, replays alone": replays,
            "transfers alone": transfers,
            "torch, two streams, pinned": lambda: _streams(device, hosts),
        },
        expected,
        1e-3,
        unchecked=frozenset({"transfers alone"}),
    )


def _asking(device: Device, *, stay: bool) -> Callable[[Any], Any]:
    engine = Engine(LIMITS, backend=device.backend(stay=stay))
    program, query = engine.parse(_TEXT), Query("evaluate")

    def ask(x: Any) -> Any:
        return engine.call(program, {"x": Leaf(x)}, query).replay(go_on).value

    return ask


def _streams(device: Device, hosts: Sequence[Any]) -> Run:
    """Each request on one of two streams, from memory that is pinned beforehand."""
    import torch

    pinned = [torch.from_numpy(host) for host in hosts]
    if device.torch == "cuda":
        pinned = [each.pin_memory() for each in pinned]
        streams = [torch.cuda.Stream(), torch.cuda.Stream()]

    def answer(host: Any) -> Any:
        x = host.to(device.torch, non_blocking=True)
        return (torch.tanh(x @ x / 64.0) ** 2).sum()

    def run() -> Sequence[Any]:
        if device.torch != "cuda":
            return [answer(host) for host in pinned]
        answers = []
        for number, host in enumerate(pinned):
            with torch.cuda.stream(streams[number % 2]):
                answers.append(answer(host))
        wait_for_torch()
        return answers

    return run
