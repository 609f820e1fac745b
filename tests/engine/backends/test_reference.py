"""The reference backend beside the other: the same bits, errors and places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Query
from gradwire_engine.engine import BACKENDS
from gradwire_engine.errors import EngineError, LimitExceeded
from gradwire_engine.nesting import leaves
from gradwire_engine.polling import no_deadline
from hypothesis import given
from numpy.testing import assert_array_equal

from tests.effort import examples
from tests.engine.conftest import called
from tests.engine.test_replays import SEEDS, SHAPES, programs, values_of

#: A loop of each kind: counted, with a path that ends it, backward in its derivative, nested.
LOOPS = {
    "counted": "s = x\nfor i in range(30):\n    s = sin(s) * y + i / 30\nsum(s)",
    "ends": "s = x\nwhile sum(s) < 40:\n    s = s * 1.1 + y\nsum(s**2)",
    "paths": "s = x\nfor i in range(25):\n    if sum(s) > 3:\n        s = s * 0.5\n"
    "    else:\n        s = s + y\nsum(s)",
    "nested": "s = x\nfor i in range(20):\n    t = s\n    for j in range(20):\n"
    "        t = t * 0.9 + y / 20\n    s = s + tanh(t)\nsum(s)",
    "scanned": "w = jax.lax.scan(lambda c, a: [c * 0.9 + a, sum(c)], x, stack([y] * 40))\n"
    "sum(w[1] ** 2)",
}
VALUES = {"x": [0.5, -0.25, 1.0], "y": [0.25, 0.5, 0.125]}


def answered(
    backend: str, text: str, values: Mapping[str, Any], *, times: int = 1, **asked: Any
) -> Answer:
    engine = Engine(backend=BACKENDS[backend])
    given = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    query = Query(**{"kind": "gradient", **asked})
    for _ in range(times):
        answer = engine.call(engine.parse(text), given, query).replay(no_deadline)
    return answer


def alike(one: Answer, other: Answer) -> None:
    for tree, again in ((one.value, other.value), (one.derivatives, other.derivatives)):
        for x, y in zip(leaves(tree), leaves(again), strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    assert one.nonfinite == other.nonfinite


@examples(20)
@given(text=programs(), seed=SEEDS)
def test_exact_answers_have_the_same_bits(text, seed):
    values = dict(zip(SHAPES, values_of(seed), strict=True))
    asked: dict[str, Any] = {"exact": True, "unconnected": "zero"}
    expected = answered("numpy", text, values, times=3, **asked)
    alike(answered("reference", text, values, **asked), expected)


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_loops_give_the_same_bits(text):
    expected = answered("numpy", text, VALUES, times=3, exact=True)
    alike(answered("reference", text, VALUES, exact=True), expected)


def test_errors_in_a_pass_have_their_place():
    text = "s = x\nfor i in range(30):\n    s = s + inv(reshape(y[:1] - i, (1, 1)))[0, 0]\nsum(s)"
    found: list[Any] = []
    for backend in BACKENDS:
        with pytest.raises(EngineError, match="not invertible") as raised:
            answered(backend, text, {"x": [1.0], "y": [7.0]})
        assert "a multiple of the identity" in (raised.value.hint or "")
        found.append((str(raised.value), raised.value.at))
    assert found[0] == found[1]
    assert found[0][1].line == 3


def test_a_guard_that_fails_leads_to_another_recording():
    text = "y = x * 2 if sum(x) > 0 else x * 3\nsum(y)"
    for backend in BACKENDS.values():
        engine = Engine(backend=backend)
        for x, slope in ((1.0, 2.0), (-1.0, 3.0), (2.0, 2.0)):
            call = called(engine, text, {"x": np.array([x])}, "gradient")
            assert_array_equal(call.replay(no_deadline).gradients["x"], [slope])


@pytest.mark.thorough
def test_passes_are_stopped():
    class Stopped(LimitExceeded):
        """Raised by a deadline."""

    polls = 0

    def poll() -> None:
        nonlocal polls
        polls += 1
        if polls > 50_000:
            raise Stopped("enough")

    engine = Engine(backend=BACKENDS["reference"])
    text = "s = x\nfor i in range(1000000):\n    s = s * 0.5 + 1\nsum(s)"
    with pytest.raises(Stopped):
        called(engine, text, {"x": np.ones(3)}, "gradient").replay(poll)
