"""Rosenbrock's function through the SDKs of several services, as far as they are installed.

``python -m peers.sdks umbridge http://127.0.0.1:4242 100 10 100000`` makes a hundred calls with
ten numbers, then with 100,000, and prints the medians in microseconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from peers.by_hand import Array, rosenbrock
from peers.workloads import ROSENBROCK

Ask = Callable[[Array], tuple[Any, Any]]


def gradwire(url: str) -> Ask:
    """One request for both."""
    import gradwire as sdk

    client = sdk.Client(url)

    def ask(x: Array) -> tuple[Any, Any]:
        answer = client.gradient(ROSENBROCK, {"x": x}, sources="x")
        return answer.value, answer.gradients

    return ask


def umbridge(url: str) -> Ask:
    """Lists, with one request each for value and gradient."""
    import umbridge as sdk

    model = sdk.HTTPModel(url, "rosenbrock")

    def ask(x: Array) -> tuple[Any, Any]:
        asked, config = [x.tolist()], {"size": len(x)}
        value = model(asked, config)[0][0]
        return value, np.array(model.gradient(0, 0, asked, [1.0], config))

    return ask


def tesseract_core(url: str) -> Ask:
    """Arrays, with one request each for value and gradient."""
    from tesseract_core import Tesseract

    tesseract = Tesseract.from_url(url)

    def ask(x: Array) -> tuple[Any, Any]:
        value = tesseract.apply({"x": x})["value"]
        pulled = tesseract.vector_jacobian_product({"x": x}, ["x"], ["value"], {"value": 1.0})
        return value, pulled["x"]

    return ask


def latency(ask: Ask, size: int, count: int) -> float:
    """The median microseconds of a number of calls, after checking a result."""
    x = np.random.default_rng(0).normal(size=size)
    for value, expected in zip(ask(x), rosenbrock(x), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-9)
    figures = []
    for number in range(count):
        point = x + 1e-9 * number
        begin = perf_counter()
        ask(point)
        figures.append((perf_counter() - begin) * 1e6)
    return median(figures)


if __name__ == "__main__":
    name, url, count, *sizes = sys.argv[1:]
    asked: Ask = {"gradwire": gradwire, "umbridge": umbridge, "tesseract_core": tesseract_core}[
        name
    ](url)
    # Large points take a hundred times as long.
    print(json.dumps([latency(asked, int(n), max(5, int(count) * 10 // int(n))) for n in sizes]))
