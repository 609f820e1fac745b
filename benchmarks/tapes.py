"""Later gradients of a persistent tape compared with stateless ones, which rerun the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Unpack

import gradwire
import httpx
import numpy as np
from gradwire.endpoints import GradientOptions
from measure import Row, compared, interleave
from servers import GRADWIRE, running

_LAYERS, _WIDTH, _SEEDS = 20, 200, 50
_PROGRAM = f"h = x\nfor i in range({_LAYERS}):\n    h = tanh(h @ w[i])\nlast = h @ v\ny = sum(last)"


def report(*, quick: bool) -> list[str]:
    """Replay times from ``Server-Timing``, after sending each request twice."""
    rounds = 9 if quick else 41
    with running(GRADWIRE) as server:
        url = f"http://127.0.0.1:{server.port}"
        with gradwire.Client(url) as client:
            rows = _rows(client, rounds)
        _check_counter(httpx.get(f"{url}/metrics").text)
    return [compared("Replay of a persistent tape's gradient", "stateless", rows)]


def _rows(client: gradwire.Client, rounds: int) -> list[Row]:
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(_WIDTH, _WIDTH)) / _WIDTH**0.5 for _ in range(_LAYERS)]
    point = {"x": rng.normal(size=(_WIDTH, _WIDTH)), "w": weights, "v": rng.normal(size=_WIDTH)}
    seeds = rng.normal(size=(_SEEDS, _WIDTH))
    with client.tape(_PROGRAM, point, persistent=True) as tape:

        def beside(what: str, bar: float, **asked: Unpack[GradientOptions]) -> Row:
            np.testing.assert_allclose(
                tape.gradient(**asked).gradients,
                client.gradient(_PROGRAM, point, **asked).gradients,
                rtol=1e-9,
                atol=1e-12,
            )
            ours, theirs = interleave(
                rounds,
                _replay_us(lambda: tape.gradient(**asked)),
                _replay_us(lambda: client.gradient(_PROGRAM, point, **asked)),
            )
            return Row.of(what, ours, theirs, "us", ratio_bar=bar)

        def seeded(seeds: Any, batch: list[str] | None = None) -> gradwire.Gradient:
            answer: gradwire.Gradient = tape.gradient(
                target="last", sources="v", output_gradients=seeds, batch=batch
            )
            return answer

        together, alone = interleave(
            rounds,
            _replay_us(lambda: seeded(seeds, ["output_gradients"]), _SEEDS),
            _replay_us(lambda: seeded(seeds[0])),
        )
        what = f"{_SEEDS} cotangents at once, each; beside one alone"
        return [
            beside(f"{_LAYERS} layers, all of them", 0.9, sources="w"),
            beside("the last one's vector", 0.1, sources="v"),
            Row.of(what, together, alone, "us", ratio_bar=1.0),
        ]


def _replay_us(ask: Callable[[], gradwire.Gradient], parts: int = 1) -> Callable[[int], float]:
    """The replay time of a compiled request in microseconds."""
    for _ in range(2):
        ask()
    return lambda _: 1000 * ask().timings["replay"] / parts


def _check_counter(metrics: str) -> None:
    """Check that no request to the tape ran the program again."""
    outcomes = re.findall(r'^gradwire_tape_values_total\{outcome="(\w+)"\}', metrics, re.MULTILINE)
    assert outcomes == ["kept"], outcomes
