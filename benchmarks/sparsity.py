"""The time of sparse Jacobians and Hessians, from the function to the nonzeros, and slices."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.autodiff.sparse_matrices import sparse_hessian, sparse_jacobian
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.check import trace
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.optimize.simplify import optimize
from measure import Row, compared, interleave
from reference import Array

#: Records a sparse matrix of a function of one vector on a builder.
Matrix = Callable[..., Any]
SIZES = (1_000, 10_000, 100_000)


def report(*, quick: bool) -> list[str]:
    """First calls of new functions and their growth, and replays compared with NumPy by hand."""
    rounds = 3 if quick else 11
    first, growth, replays = [], [], []
    for name, matrix, by_hand in (
        ("tridiagonal Jacobian", _reaction, _reaction_by_hand),
        ("tridiagonal Hessian", _rosenbrock, _rosenbrock_by_hand),
    ):
        spent = {n: interleave(rounds, _timed(matrix, n))[0] for n in SIZES}
        replay, hand = interleave(rounds, *_replays(matrix, by_hand, 10_000))
        rows = spent[10_000]
        first.append(Row.of(f"{name}, 10,000", rows, replay, "ms", figure_bar=100.0))
        for short, long in ((1_000, 10_000), (10_000, 100_000)):
            ours, theirs = ([1e3 * ms / n for ms in spent[n]] for n in (long, short))
            growth.append(Row.of(f"{name}, {long:,}", ours, theirs, "us/row", ratio_bar=2.0))
        replays.append(Row.of(f"{name}, 10,000", replay, hand, "ms"))
    slices, hand = interleave(rounds, *_slices())
    gathered = Row.of("1,000 of 1,000,000 rows of 16", slices, hand, "ms")
    return [
        compared("New function to its nonzeros, CPU", "a replay", first),
        compared("The same for each row", "of a tenth", growth),
        compared("Replay of the nonzeros, CPU", "by hand", replays),
        compared("Gradient by slices, CPU", "by hand", [gathered]),
    ]


def _timed(matrix: Matrix, size: int) -> Callable[[int], float]:
    def measure(seed: int) -> float:
        x = np.random.default_rng(seed).normal(size=size)
        start = thread_time()
        with gc_paused:
            _compiled(matrix, x).replay([x], _go_on)
        return 1e3 * (thread_time() - start)

    return measure


def _replays(
    matrix: Matrix, by_hand: Callable[[Array], Array], size: int
) -> list[Callable[[int], float]]:
    """The milliseconds of a replay, and of the same computation by hand."""
    x = np.random.default_rng(0).normal(size=size)
    executable = _compiled(matrix, x)
    for _ in range(2):  # the second call generates code
        (values,) = executable.replay([x], _go_on).outputs
    np.testing.assert_allclose(values, by_hand(x))

    def ours(_: int) -> float:
        start = thread_time()
        executable.replay([x], _go_on)
        return 1e3 * (thread_time() - start)

    def theirs(_: int) -> float:
        start = thread_time()
        by_hand(x)
        return 1e3 * (thread_time() - start)

    return [ours, theirs]


def _compiled(matrix: Matrix, x: Array) -> WalkExecutable:
    b, _, values = trace(lambda b, x: matrix(b, x).values, [x])
    return WalkExecutable(optimize(b.tape(values), NUMPY_BACKEND, _go_on))


def _function(b: Any, name: str, *args: Any) -> Any:
    return FUNCTIONS[name].record(b, *args)


def _reaction(b: Any, x: Any) -> Any:
    """``y_i = sin(x_{i-1}) x_i + x_{i+1}^2``."""
    n = x.shape[0]
    left, middle, right = (_function(b, "split", x, [i, n - 2 + i])[1] for i in range(3))
    return sparse_jacobian(b, _function(b, "sin", left) * middle + right * right, x)


def _reaction_by_hand(x: Array) -> Array:
    left, middle, right = x[:-2], x[1:-1], x[2:]
    return np.stack([np.cos(left) * middle, np.sin(left), 2 * right], axis=1).ravel()


def _rosenbrock(b: Any, x: Any) -> Any:
    n = x.shape[0]
    left, right = (_function(b, "split", x, [i, n - 1 + i])[1] for i in range(2))
    rise, rest = right - left * left, 1 - left
    return sparse_hessian(b, 100 * (rise * rise) + rest * rest, x)


def _rosenbrock_by_hand(x: Array) -> Array:
    beside = np.append(-400 * x[:-1], 0)
    diagonal = np.append(1200 * x[:-1] ** 2 - 400 * x[1:] + 2, 0)
    diagonal[1:] += 200
    return np.stack([np.roll(beside, 1), diagonal, beside], axis=1).ravel()[1:-1]


def _slices() -> tuple[Callable[[int], float], Callable[[int], float]]:
    """Value and gradient of a function of gathered table rows, and the same by hand."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1_000_000, 16)).astype(np.float32)
    ids = rng.integers(0, len(table), 1_000)
    engine, variables = Engine(), {"table": Leaf(table), "ids": Leaf(ids)}
    query = Query("gradient", sources="table", slices="listed")
    call = engine.call(engine.parse("sum(tanh(table[ids])**2)"), variables, query)
    for _ in range(2):
        call.replay(_go_on)

    def by_hand() -> Any:
        rows = np.tanh(table[ids])
        return np.sum(rows * rows), rows * (1 - rows * rows) * 2

    def timed(run: Callable[..., Any], *args: Any) -> Callable[[int], float]:
        def measure(seed: int) -> float:
            start = thread_time()
            for _ in range(20):
                run(*args)
            return 1e3 * (thread_time() - start) / 20

        return measure

    return timed(call.replay, _go_on), timed(by_hand)


def _go_on() -> None:
    """A deadline that never passes."""
