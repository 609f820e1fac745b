"""Programs to draw, and programs whose names are meant to break the drawing."""

from __future__ import annotations

import pytest
from gradwire_engine import Engine
from gradwire_engine.dataflow import Graph, dataflow

PROGRAMS = {
    "empty": "",
    "rosenbrock": "f = (1 - x)**2 + 100 * (y - x**2)**2",
    "perceptron": "h = tanh(x @ l[0].w + l[0].b)\nloss = mean((h @ l[1].w - y)**2, axis=(0, 1))",
    "loop": "s = 0.0\nfor i in range(9):\n  if x[i] > 0: s += x[i]**2\n  else: s -= k * x[i]\ns",
    "functions": (
        "def f(t, n=2):\n  if t > 0: return t**n\n  return g(t)\n"
        "g = lambda u: sum(u * x)\nq = f(a)\nwhile q < 10: q = q * 2 + f(q)\n"
        "r = cond(q > 1, lambda: q, lambda: sum([i for i in x if i]))"
    ),
    "recurrent": "\n".join(
        f"z{t} = concatenate([x[{t}], h{t}]) @ W + b\nc{t + 1} = c{t} * sigmoid(z{t}[:8])\n"
        f"h{t + 1} = tanh(c{t + 1}) * z{t}[8:]"
        for t in range(25)
    ),
    "jumps": "while a:\n  with stop_recording(): x = x + 1\n  if x: break\nelse: x = 2\nreturn x",
}
HOSTILE = "</text><script>alert(1)</script>", "\"'&<!--\x00\x1b\\N\\", "]]>\ud800 \u202e 漢字" * 9


@pytest.fixture(params=PROGRAMS)
def graph(request) -> Graph:
    return dataflow(Engine().parse(PROGRAMS[request.param]))


@pytest.fixture
def hostile() -> Graph:
    first, second, third = HOSTILE
    nodes = [
        {"id": first, "op": second, "args": [third, {"op": "sin", "args": []}]},
        {"id": second, "op": third, "args": [first], "attrs": {second: first, "axis": third}},
    ]
    marks = {"target": [second], "source": [first]}
    return dataflow(Engine().parse({"nodes": nodes, "outputs": {third: second}}), marks=marks)
