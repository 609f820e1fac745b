"""Loops as walks within walks: what Python computes, where they fail, IEEE arithmetic in them."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.errors import DomainError
from gradwire_engine.loops.loop import Loop
from numpy.testing import assert_allclose, assert_equal

from tests.tables import cases


def nothing():
    """Never stop."""


def ask(engine, text, query, **values):
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    return engine.call(engine.parse(text), leaves, query).replay(nothing)


def body_of(instructions):
    """Lines of a loop, of some times so many instructions."""
    lines = range(instructions // 3)
    return [f"    y = sin(y)*0.5 + cos(y*0.1 + {n}) + {n}*x*0.001" for n in lines]


BODY = body_of(128)
LOOPS = {
    "for": ["y = x", "for i in range(5):", *BODY],
    "paths": ["y = x", "for i in range(5):", *BODY, "    y = y*0.9 if y > 0.3 else y + x"],
    "while": ["y = x", "k = 0.0", "while k < 2 + x:", *BODY, "    k = k + 1"],
    "two": ["y = x", "z = x", "for i in range(4):", *BODY, "    z = z*0.9 + y*i", "y = y + z"],
    "nested": [
        *["y = x", "for j in range(3):", "    for i in range(3):"],
        *[f"    {line}" for line in BODY],
        "    y = y + j*x",
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_long_bodies_compute_what_python_does(loop, exact):
    text, engine = "\n".join([*LOOPS[loop], "y"]), Engine()

    def value(x):
        names = {"x": x, "sin": np.sin, "cos": np.cos}
        exec(text, names)
        return names["y"]

    for x in (0.4, 1.3):
        slope = (value(x + 1e-6) - value(x - 1e-6)) / 2e-6
        for _ in range(2):
            answer = ask(engine, text, Query("gradient", exact=exact), x=x)
            assert_allclose(answer.value, value(x), rtol=1e-12)
            assert_allclose(answer.gradients["x"], slope, rtol=1e-5, atol=1e-7)


def test_what_fails_in_a_long_body_is_found():
    body = ["y = x", "for i in range(5):", *body_of(1024), "    z = inv(ones((2, 2)) * y)"]
    text = "\n".join([*body, "    y = y + sum(z)", "y"])
    for _ in range(2):
        with pytest.raises(DomainError) as failed:
            ask(Engine(), text, Query("evaluate"), x=0.5)
        assert failed.value.at is not None
        assert (failed.value.at.op, failed.value.at.line) == ("inv", len(body))


@cases("text, value, slope")
def test_where_python_raises_the_answer_is_that_of_ieee_arithmetic(text, value, slope):
    engine = Engine()
    for _ in range(3):
        answer = ask(engine, text, Query("gradient"), x=0.5, v=np.arange(3.0))
        assert isinstance(answer.value, np.generic | np.ndarray)
        assert_equal(float(answer.value), value)
        assert_equal(float(answer.gradients["x"]), slope)


def test_functions_go_with_their_loops():
    engine, values = Engine(), {"x": Leaf(np.asarray(0.5))}
    program = engine.parse("y = x\nfor i in range(5000):\n  y = sin(y) + x\ny")
    call = engine.call(program, values, Query("evaluate"))
    call.replay(nothing)
    made = call.entry.paths[0].executable.tape.instructions
    (op,) = [i.op for i in made if isinstance(i.op, Loop)]
    loops, other = Loops(), replace(op, most_bytes=op.most_bytes - 1)
    assert loops.function(other) is loops.function(replace(other))
    assert len(loops._functions) == 1
    del other
    gc.collect()
    assert not loops._functions
