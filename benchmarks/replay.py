"""The overhead of a replay over its NumPy calls, and replays with values by reference."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Limits, Query
from gradwire_engine.backends.base import Executable
from gradwire_engine.compile import Compilation, Compiled, compile_query
from gradwire_engine.engine import BACKENDS
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.ops.constants import Constant, Input
from measure import Row, compared, interleave
from peers.by_hand import rosenbrock
from peers.workloads import ROSENBROCK
from reference import Array

#: The links of the chain in the program language, and as handwritten NumPy calls.
LINKS = (
    ("sin(r)", "sin(r)"),
    ("r * x", "multiply(r, x)"),
    ("r + 0.5", "add(r, 0.5)"),
    ("tanh(r)", "tanh(r)"),
    ("x - r", "subtract(x, r)"),
)
NETWORK = """
z = (x - mean(x, axis=0)) / std(x, axis=0)
h = tanh(z @ w1 + b1)
mean((h @ w2 + b2 - y)**2)
"""
#: The minibatches of an epoch.
_MINIBATCHES = 10


def report(*, quick: bool) -> list[str]:
    """Chains of elementwise operations, one real gradient, and training steps."""
    rounds, seconds = (7, 0.01) if quick else (21, 0.03)
    rows = [
        _overhead(length, size, rounds, seconds)
        for length, size in ((10, 10), (100, 10), (100, 1000))
    ]
    gradients = [_rosenbrock(size, rounds, seconds) for size in (10, 1000, 100_000)]
    return [
        compared("Replay, CPU per instruction beyond the call", "the call", rows),
        compared("Replay of value and gradient, CPU", "by hand", gradients),
        compared("Steps of a training, CPU", "all sent", [_training(rounds)]),
    ]


def _overhead(length: int, size: int, rounds: int, seconds: float) -> Row:
    """The time of a replay minus that of the same NumPy calls, per instruction."""
    links = [LINKS[i % len(LINKS)] for i in range(length)]
    text = "r = x\n" + "".join(f"r = {link}\n" for link, _ in links)
    x = np.linspace(0.1, 1, size)
    executable = _compiled(text, x, Query("evaluate")).executable
    by_hand = _straight_line([call for _, call in links])
    instructions = executable.tape.instructions
    count = sum(not isinstance(i.op, Constant | Input) for i in instructions)
    assert count == length
    assert np.array_equal(executable.replay([x], _go_on).outputs[0], by_hand(x))
    ours, theirs = _compare(executable, by_hand, x, rounds, seconds)
    beyond = [1e6 * (a - b) / count for a, b in zip(ours, theirs, strict=True)]
    calls = [1e6 * b / count for b in theirs]
    what = f"chain of {length}, {size:,} elements"
    return Row.of(what, beyond, calls, "us", figure_bar=0.3)


def _rosenbrock(size: int, rounds: int, seconds: float) -> Row:
    x = np.random.default_rng(0).normal(size=size)
    compiled = _compiled(ROSENBROCK, x, Query("gradient"))
    outputs = compiled.executable.replay([x], _go_on).outputs
    value, gradient = rosenbrock(x)
    assert np.allclose(compiled.value(outputs), value)
    assert np.allclose(compiled.derivatives(outputs)["gradients"]["x"], gradient)
    found = _compare(compiled.executable, rosenbrock, x, rounds, seconds)
    ours, theirs = ([1e6 * second for second in figures] for figures in found)
    return Row.of(f"Rosenbrock, {size:,} elements", ours, theirs, "us")


def _training(rounds: int) -> Row:
    """Training steps, each with new weights under new digests and the next minibatch."""
    rng = np.random.default_rng(0)
    batches = [
        {"x": rng.normal(size=(64, 100)), "y": rng.normal(size=(64, 10))}
        for _ in range(_MINIBATCHES)
    ]
    shapes = {"w1": (100, 50), "b1": (50,), "w2": (50, 10), "b2": (10,)}
    names = "all by reference, a two-layer network, the minibatches in turn"
    steps = [_step(batches, shapes, by_reference=given) for given in (True, False)]
    interleave(2, *steps)  # after two epochs, recurring values are known
    ours, sent = interleave(rounds, *steps)
    return Row.of(names, ours, sent, "us", ratio_bar=1.2)


def _step(
    batches: list[dict[str, Array]], shapes: dict[str, tuple[int, ...]], *, by_reference: bool
) -> Callable[[int], float]:
    """The CPU microseconds per step of an epoch, including the creation of the call."""
    engine, query = Engine(), Query("gradient", sources=list(shapes))
    program, numbers = engine.parse(NETWORK), count()
    rng = np.random.default_rng(1)

    def epoch(_: int) -> float:
        spent = 0.0
        for k, batch in enumerate(batches):
            weights = {name: rng.normal(size=shape) for name, shape in shapes.items()}
            number = next(numbers)
            digests = {name: f"{name} {k}" for name in batch}
            digests |= {name: f"{name} of step {number}" for name in weights}
            start = thread_time()
            given = {
                name: Leaf(value, resident=digests[name] if by_reference else None)
                for name, value in {**batch, **weights}.items()
            }
            engine.call(program, given, query).replay(_go_on)
            spent += thread_time() - start
        return 1e6 * spent / len(batches)

    return epoch


def _compiled(text: str, x: Array, query: Query) -> Compiled:
    backend = BACKENDS["numpy"]
    given = parse_text(text), {"x": Leaf(x)}, query, None, Limits(), backend, _go_on
    return compile_query(Compilation(*given, {}))


def _straight_line(calls: list[str]) -> Callable[[Array], Any]:
    """A function with the calls, one per line."""
    lines = ["def by_hand(x):", " r = x", *(f" r = {call}" for call in calls), " return r"]
    names: dict[str, Any] = {name: getattr(np, name) for name in dir(np)}
    exec("\n".join(lines), names)  # the lines come from this module
    by_hand: Callable[[Array], Any] = names["by_hand"]
    return by_hand


def _compare(
    executable: Executable,
    by_hand: Callable[[Array], Any],
    x: Array,
    rounds: int,
    seconds: float,
) -> list[list[float]]:
    """The CPU seconds of one run of each function, one figure per round."""
    inputs = [x]
    runs: list[Callable[[], Any]] = [
        lambda: executable.replay(inputs, _go_on).outputs,
        lambda: by_hand(x),
    ]
    times = max(1, int(seconds / max(_per_run(run, 3) for run in runs)))
    return interleave(rounds, *[lambda _, run=run: _per_run(run, times) for run in runs])


def _per_run(run: Callable[[], Any], times: int) -> float:
    repeats = range(times)
    run()
    start = thread_time()
    for _ in repeats:
        run()
    return (thread_time() - start) / times


def _go_on() -> None:
    """A deadline that never passes."""
