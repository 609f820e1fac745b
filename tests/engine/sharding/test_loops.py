"""Loops that are one instruction, over what each row has and over sums that passes add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query, Shard
from gradwire_engine.errors import ShardingError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.tape import Tape

from tests.engine.sharding.shards import Objective

RNG = np.random.default_rng(0)
ROWS, SIZES, STEPS = 7, (3, 0, 1, 3), 700
DATA: dict[str, Any] = {
    "X": RNG.normal(size=(ROWS, 3)),
    "y": RNG.normal(size=ROWS),
    "series": RNG.normal(size=(ROWS, STEPS)),
    "shared": RNG.normal(size=(STEPS, 3)),
    "w": RNG.normal(size=3),
    "b": np.array(0.3),
    "A": RNG.normal(size=(2, 2)) / 3,
}
OF = ["X", "y", "series"]

LOOPS: dict[str, str] = {
    "carries with rows": "h = X @ w\nfor i in range(700):\n    h = sin(h) + b*y\nmean(h)",
    "carries that get rows": (
        "h = zeros(len(y))\nfor i in range(700):\n    h = 0.9*sin(h) + b*y\nmean(h**2)"
    ),
    "a carry that becomes a sum": (
        "s = 0.0\nu = w\nfor i in range(700):\n    u = 0.99*u\n"
        "    s = s + mean(tanh(X @ u)*y) + sum(u**2)\ns"
    ),
    "rows and their sum": (
        "h = y\ns = b\nfor i in range(700):\n    h = 0.9*sin(h + X @ w)\n    s = s + sum(h)\ns"
    ),
    "a linear recurrence of a sum": (
        "s = sum(X @ w)\nfor i in range(700):\n    s = 0.9*s + b\ns + mean(y)"
    ),
    "items that each row has": (
        "h = zeros((len(y), 2))\nfor t in range(700):\n"
        "    h = tanh(series[:, t, None] + h @ A)\nmean(sum(h, axis=1)*y)"
    ),
    "scanned items": (
        "h, hs = lax.scan(lambda h, x: (tanh(0.5*h + b*x), h), y, series.T)\n"
        "mean(h) + sum(hs**2) / len(y)"
    ),
    "scanned items of all shards": (
        "h, hs = lax.scan(lambda h, u: (tanh(0.5*h + X @ u), sum(h)), y, shared*b)\n"
        "mean(h) + sum(hs)"
    ),
    "two paths by parameters": (
        "h = y\ni = 0\nu = b\nwhile u < 300:\n    u = u + 0.5\n"
        "    if sin(u) > 0.2:\n        h = sin(h) + X @ w\n    else:\n        h = 0.5*h\nmean(h)"
    ),
    "a loop in a loop": (
        "h = y\nfor i in range(60):\n    for j in range(60):\n        h = sin(h) + b*y\nmean(h)"
    ),
    "a gradient of a loop": (
        "def loss(u):\n    h = y\n    for i in range(700):\n        h = 0.9*sin(h + X @ u)\n"
        "    return sum(h)\ng = grad(loss)(w)\nsum(g)"
    ),
    "a loop for each row": (
        "def end(x, t):\n    h = t\n    for i in range(700):\n        h = 0.9*sin(h + sum(x*w))\n"
        "    return h\nmean(vmap(end)(X, y))"
    ),
    "what a loop leaves beside rows": (
        "h = y\nu = w\nfor i in range(700):\n    u = 0.999*u\n    h = sin(h) + X @ u\n"
        "v = sum(u**2)\nmean(h)*v + log(1 + v) + len(y)*b"
    ),
    "the number of rows": ("s = 0.0\nfor i in range(700):\n    s = s + sum(y)*b / (len(y) + i)\ns"),
}


def recorded(program: str) -> Tape:
    """The tape of a shard's value, before it is optimised."""
    engine, found = Engine(), dict[str, Tape]()
    leaves = {name: Leaf(np.asarray(value)) for name, value in DATA.items()}
    query = Query("evaluate", shard=Shard(tuple(OF), 2 * ROWS))
    call = engine.call(engine.parse(program), leaves, query)
    call.on_tape = found.__setitem__
    call.compile(lambda: None)
    return found["batched"]


@pytest.mark.parametrize("name", LOOPS)
def test_parts_add_up(name):
    program = LOOPS[name]
    sources = [source for source in ("w", "b", "A") if source in program.replace("lambda", "")]
    Objective(program, DATA, OF, SIZES).check_all(sources, rtol=1e-8)
    assert any(isinstance(i.op, Loop) for i in recorded(program).instructions)


REFUSED: dict[str, tuple[str, tuple[int, int], str]] = {
    "as many passes as each row needs": (
        "def end(x, t):\n    h = t*t + 1\n    while h < 50:\n        h = 1.01*h + b*b + sum(x*x)\n"
        "    return h\nmean(vmap(end)(X, y))",
        (3, 5),
        "any over the rows",
    ),
    "rows in turn": (
        "s = 0.0\nfor i in range(len(y)):\n    s = s + tanh(X[i] @ w)\ns",
        (2, 1),
        "a loop over the rows",
    ),
    "rows as items": (
        "s, z = lax.scan(lambda s, x: (tanh(s + x @ w), s), b, X)\ns",
        (1, 8),
        "a loop over the rows",
    ),
    "products of sums": (
        "s = sum(y)\nfor i in range(900):\n    s = s*s*b\ns",
        (3, 9),
        "two sums",
    ),
    "decisions by rows": (
        "h = y\nfor i in range(900):\n    if sum(h) > 0:\n        h = h - b\nmean(h)",
        (3, 8),
        "greater of a sum over all rows",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_place(name):
    program, place, message = REFUSED[name]
    rows = 900
    data = {"X": np.ones((rows, 3)), "y": np.ones(rows), "w": DATA["w"], "b": DATA["b"]}
    with pytest.raises(ShardingError) as caught:
        Objective(program, data, ["X", "y"], (rows - 1, 1)).shards(sources=["w", "b"])
    assert message in caught.value.message
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == place
