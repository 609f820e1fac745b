"""Replays by NumPy: one step for an instruction, places used again, deadlines looked at."""

import random
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import interpret
from gradwire_engine.errors import BadArgument, DeadlineExceeded, DomainError

from tests.engine.conftest import called


def executable(ask, text, variables, kind="evaluate"):
    leaves = {key: Leaf(np.asarray(value)) for key, value in variables.items()}
    call = called(ask.engine, text, leaves, kind)
    call.compile(ask.poll)
    return call.entry.paths[0].executable, [leaf.value for leaf in leaves.values()]


@pytest.mark.parametrize(
    ("text", "error", "line", "op"),
    [
        ("a = x*2\nb = a[k]\nsum(b)", BadArgument, 2, "index"),
        ("a = m*2\n\nb = inv(a - a)\nsum(b)", DomainError, 3, "inv"),
        ("n = k*0 + 2\ny = n**(0*n - 1)", DomainError, 2, "power"),
    ],
)
def test_failures_at_replay_name_the_line(ask, text, error, line, op):
    variables = {"x": np.arange(3.0), "m": np.eye(2), "k": np.array([0, 7])}
    for _ in range(2):
        with pytest.raises(error) as caught:
            ask.value(text, variables)
        assert (caught.value.at.line, caught.value.at.op) == (line, op)


def test_replay_gives_what_the_tape_says(ask):
    text = "h = tanh(x @ w)\ns = softmax(h)\nl = -log(s[0, 0])\nl*sum(h[1:])"
    rng = np.random.default_rng(0)
    run, inputs = executable(
        ask, text, {"x": rng.normal(size=(4, 3)), "w": rng.normal(size=(3, 2))}, "gradient"
    )
    expected = interpret(run.tape, inputs, NUMPY_BACKEND)
    for _ in range(3):
        for slot, output in zip(
            run.tape.outputs, run.replay(inputs, ask.poll).outputs, strict=True
        ):
            assert np.array_equal(expected[slot], output)


def test_inputs_are_left_alone(ask):
    x = np.arange(3.0)
    x.flags.writeable = False
    text = "y = x\ny[0] = 5\nx.assign_add(y)\nz = x*1\nsum(z*y) + sum(x)"
    before = x.copy()
    for _ in range(2):
        ask.value(text, {"x": x})
        assert np.array_equal(x, before)


def test_places_are_used_again(ask):
    size = 1000
    text = "y = x\n" + "y = sin(y) + x\n" * 50
    run, _ = executable(ask, text, {"x": np.ones(size)})
    assert run.peak_bytes <= 5 * 8 * size
    kept, _ = executable(ask, text + "y", {"x": np.ones(size)}, "gradient")
    assert kept.peak_bytes >= 50 * 8 * size  # the backward pass needs what the forward pass made
    made = [line.partition(" = ")[0] for line, _ in run.listing(ask.poll).code]
    assert len(made) >= 100
    assert len({*made}) <= 5


def test_peak_bytes_bound_what_is_allocated(ask):
    import tracemalloc
    from threading import Thread

    text = "y = x\nfor i in range(20):\n  y = tanh(y)*x\nsum(y)"
    run, inputs = executable(ask, text, {"x": np.ones(100_000)}, "gradient")
    run.replay(inputs, ask.poll)
    tracemalloc.start()
    thread = Thread(target=run.replay, args=(inputs, ask.poll))  # this one has memory already
    thread.start()
    thread.join()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.3 * run.peak_bytes < peak <= 1.1 * run.peak_bytes


def test_long_replays_are_polled(ask):
    text = "y = x\n" + "y = tanh(y)\n" * 100
    run, inputs = executable(ask, text, {"x": np.ones(100_000)})

    def stop():
        raise DeadlineExceeded("the time is up")

    for _ in range(2):  # the first prepares the walk
        ask.polls = 0
        run.replay(inputs, ask.poll)
        assert 50 <= ask.polls <= 101
    for again in (run, executable(ask, text + "y", {"x": np.ones(100_000)})[0]):
        with pytest.raises(DeadlineExceeded):
            again.replay(inputs, stop)


@pytest.mark.thorough
def test_replays_of_many_numbers_are_polled(ask):
    names = random.Random(0).choices(["sin", "cos", "tanh", "exp"], k=5_000)  # no loop
    lines = [f"x = x * 0.5 + {name}({n} - x)\n" for n, name in enumerate(names)]
    run, inputs = executable(ask, "".join(lines) + "x", {"x": np.array(1.0)})
    for _ in range(2):  # the first prepares the walk
        ask.polls = 0
        run.replay(inputs, ask.poll)
        assert 5 <= ask.polls <= len(run.tape.instructions) // 10


def test_small_replays_are_not_polled(ask):
    run, inputs = executable(ask, "sin(x)", {"x": np.ones(3)})

    def fail():
        raise AssertionError

    run.replay(inputs, fail)


def test_costs_are_known_beforehand(ask):
    small, _ = executable(ask, "x @ x", {"x": np.ones((10, 10))})
    large, _ = executable(ask, "x @ x", {"x": np.ones((100, 100))})
    assert 500 < large.flops / small.flops < 1500
    assert large.seconds > small.seconds
    assert large.nbytes > 0


def test_tenants_share_no_function_of_a_loop():
    """The time of a first call does not reveal whether another tenant has asked the same."""
    engine = Engine()
    text = "s = x\nfor i in range(5000):\n    s = sin(s) + x\nsum(s)"
    functions = []
    for one in (engine, engine.apart("bob")):
        call = called(one, text, {"x": np.ones(3)}, "gradient")
        for _ in range(2):
            call.replay(lambda: None)
        backend: Any = one._context.backend
        functions.append([*backend._loops._functions.values()])
    assert all(functions)
    assert not {*map(id, functions[0])}.intersection(map(id, functions[1]))
