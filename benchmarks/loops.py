"""The cost of loops: first calls, replays per instruction and iteration, growth and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from measure import Row, compared, interleave

PASSES = 10_000
#: Bodies of five operations, and the number of operations per iteration.
FOR = "y = x\nfor i in range({n}):\n  y = y + sin(y * w) * h / 3\ny"
WHILE = "y, t = x, 0.0\nwhile t < end:\n  y = y + sin(y * w) * h / 3\n  t = t + h\ny"
INSTRUCTIONS = 5
#: A vector loop that stores the value of each step, once plainly and once with checkpoints.
VECTOR = """
def f(y):
    for i in range({n}):
        y = y + sin(y * w) * h / 3
    return y
sum({f}(x))
"""


def report(*, quick: bool) -> list[str]:
    """First calls and replays of value and gradient, compared with Python and NumPy loops."""
    rounds = 3 if quick else 11
    first, replays, growth = [], [], []
    for name, text, values in (
        ("for, 10,000 passes", FOR.format(n=PASSES), _values()),
        ("while, 10,000 passes", WHILE, _values(end=0.001 * (PASSES - 0.5))),
    ):
        spent, again, hand = interleave(rounds, *_measurements(text, values))
        first.append(Row.of(name, spent, again, "ms", figure_bar=50.0))
        each = [1e3 * ms / PASSES / INSTRUCTIONS for ms in again]
        theirs = [1e3 * ms / PASSES / INSTRUCTIONS for ms in hand]
        replays.append(Row.of(name, each, theirs, "us", figure_bar=1.0))
    short, long = interleave(rounds, *[_compiling(FOR.format(n=n)) for n in (1_000, 100_000)])
    growth.append(Row.of("for, 100,000 passes", long, short, "ms", ratio_bar=1.5))
    memory = []
    for n in (1_000, 10_000):
        plain, spared = (_peak(VECTOR.format(n=n, f=f)) for f in ("f", "checkpoint(f)"))
        memory.append(Row.of(f"{n:,} passes of 1,000 numbers", [spared], [plain], "MB"))
    return [
        compared("New program to value and gradient, CPU", "a replay", first),
        compared("Replay for each instruction and pass, CPU", "Python's loop", replays),
        compared("Compiling, CPU", "1,000 passes", growth),
        compared("Peak memory under checkpoint", "plainly", memory),
    ]


def _values(**more: float) -> dict[str, Leaf]:
    return {k: Leaf(np.array(v)) for k, v in {"x": 0.3, "w": 1.5, "h": 0.001, **more}.items()}


def _measurements(text: str, values: dict[str, Leaf]) -> list[Callable[[int], float]]:
    """Milliseconds of a first call, a replay, and the handwritten loop with its adjoint."""
    engine = Engine()
    call = engine.call(engine.parse(text), values, Query("gradient"))
    for _ in range(2):
        answer = call.replay(_go_on)
    x, w, h = (np.asarray(values[name].value)[()] for name in "xwh")
    value, slopes = _by_hand(x, w, h)
    np.testing.assert_allclose(answer.value, value)
    np.testing.assert_allclose([answer.gradients[name] for name in "xwh"][:2], slopes)

    def first() -> None:
        fresh = Engine()
        fresh.call(fresh.parse(text), values, Query("gradient")).replay(_go_on)

    return [_timed(first), _timed(call.replay, _go_on), _timed(_by_hand, x, w, h)]


def _by_hand(x: Any, w: Any, h: Any) -> tuple[Any, list[Any]]:
    kept, y = [], x
    for _ in range(PASSES):
        kept.append(y)
        y = y + np.sin(y * w) * h / 3
    y_bar, w_bar = np.float64(1), np.float64(0)
    for begun in reversed(kept):
        inner = np.cos(begun * w) * (y_bar * h / 3)
        w_bar = w_bar + inner * begun
        y_bar = y_bar + inner * w
    return y, [y_bar, w_bar]


def _compiling(text: str) -> Callable[[int], float]:
    def compile_anew() -> None:
        engine = Engine()
        engine.call(engine.parse(text), _values(), Query("gradient")).compile(_go_on)

    return _timed(compile_anew)


def _peak(text: str) -> float:
    """The peak memory of value and gradient in megabytes."""
    engine, values = Engine(), {**_values(), "x": Leaf(np.linspace(0, 1, 1_000))}
    call = engine.call(engine.parse(text), values, Query("gradient"))
    call.replay(_go_on)
    tracemalloc.start()
    call.replay(_go_on)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _timed(run: Callable[..., Any], *args: Any) -> Callable[[int], float]:
    def measure(_: int) -> float:
        start = thread_time()
        run(*args)
        return 1e3 * (thread_time() - start)

    return measure


def _go_on() -> None:
    """A deadline that never passes."""
