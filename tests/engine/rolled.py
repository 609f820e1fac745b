"""Programs that are recorded step by step, beside what each step gives by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.tape import Tape

RNG = np.random.default_rng(11)
VALUES: dict[str, Any] = {
    "x": RNG.uniform(0.5, 1.5, 40),
    "m": RNG.uniform(0.5, 1.5, (12, 5)),
    "a": np.float64(0.7),
    "n": np.arange(40) % 7,
}


def answer(text: str, values: dict[str, Any] = VALUES, **question: Any) -> Any:
    engine = Engine()
    leaves = {name: Leaf(value) for name, value in values.items()}
    question = {"kind": "gradient", "sources": {name: name for name in "xma"}, **question}
    return engine.call(engine.parse(text), leaves, Query(**question)).replay(lambda: None)


def tapes(text: str, values: dict[str, Any] = VALUES) -> dict[str, Tape]:
    """The tapes on the way to the gradient."""
    engine, seen = Engine(), dict[str, Tape]()
    leaves = {name: Leaf(value) for name, value in values.items()}
    call = engine.call(engine.parse(text), leaves, Query("gradient"))
    call.on_tape = seen.__setitem__
    call.compile(lambda: None)
    return seen


def agree(text: str, values: dict[str, Any] = VALUES, **question: Any) -> Any:
    """The answer, which is the same as expression by expression, as exact ones are computed."""
    found, expected = answer(text, values, **question), answer(text, values, exact=True, **question)
    np.testing.assert_equal(np.shape(found.value), np.shape(expected.value))
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12, atol=1e-13)
    same(found.gradients, expected.gradients)
    return found


def same(found: Any, expected: Any) -> None:
    """Assert that nested arrays are equal but for rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
