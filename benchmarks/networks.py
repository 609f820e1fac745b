"""Derivatives of networks by their inputs, and of those in the weights, beside JAX's.

Each tool computes in a process of its own, on one core: ``python -m networks TOOL WIDTH HIDDEN
INPUTS WHAT`` answers each line of standard input by milliseconds of CPU, and the end by megabytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from measure import Figures, Row, compared, interleave
from memory import forget_peak, peak_mib, resident_mib
from numpy.typing import NDArray
from peers.interpreters import environment, installed, interpreter

_EXAMPLES = 10_000
#: How wide the hidden layers are, how many there are, and the inputs.
_SIZES = ((20, 8, 1), (20, 3, 2), (50, 3, 2), (50, 5, 3), (100, 4, 2), (200, 3, 1), (40, 10, 2))
_QUICK = 3
#: What is asked, and its bar on the ratio to JAX: first and second derivatives, then weights'.
_ASKED = ("value", "gradient by inputs", "Laplacian", "Laplacian's gradient in the weights")
_BAR, _MEMORY_BAR, _FIRST_BAR = 1.5, 2.0, 3.5
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class Network(NamedTuple):
    """A tanh network with one output, and no biases."""

    width: int
    hidden: int
    inputs: int

    def __str__(self) -> str:
        return f"{self.hidden} x {self.width}, {self.inputs} inputs"

    def values(self, examples: int) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """The inputs of all examples, and the weights."""
        rng, sizes = np.random.default_rng(0), [self.inputs, *[self.width] * self.hidden, 1]
        weights = [rng.normal(size=pair) / np.sqrt(pair[0]) for pair in pairwise(sizes)]
        return rng.normal(size=(examples, self.inputs)), weights


def report(*, quick: bool) -> list[str]:
    """Times beside JAX's and the value's, and memory beside JAX's."""
    sizes = _SIZES[:_QUICK] if quick else _SIZES
    if not installed("jax"):
        return ["Networks by their inputs: JAX is not installed."]
    rows: list[Row] = []
    of_value: list[Row] = []
    memory: list[Row] = []
    for network in map(Network._make, sizes):
        with ExitStack() as stack:
            asks = {
                (tool, what): stack.enter_context(_asking(tool, network, what))
                for what in _ASKED
                for tool in TOOLS
            }
            for ask in asks.values():
                for _ in range(4):  # the first calls record and compile
                    ask(None)
            rounds = 5 if quick else 15
            figures = interleave(rounds, *[lambda _, ask=ask: ask(None) for ask in asks.values()])
            found = dict(zip(asks, figures, strict=True))
            peaks = {key: [ask("")] for key, ask in asks.items()}
        for what in _ASKED:
            ours, jax = found["gradwire", what], found["jax", what]
            rows.append(_row(network, what, ours, jax, "ms", _BAR))
            mib = peaks["gradwire", what], peaks["jax", what]
            memory.append(_row(network, what, *mib, "MB", _MEMORY_BAR))
        first, value = found["gradwire", _ASKED[1]], found["gradwire", "value"]
        of_value.append(_row(network, _ASKED[1], first, value, "ms", _FIRST_BAR))
    return [
        compared("Networks at 10,000 points, CPU", "jax", rows),
        compared("The gradient by inputs, CPU", "the value", of_value),
        compared("Memory of networks at 10,000 points", "jax", memory),
    ]


def _row(network: Network, what: str, ours: Figures, others: Figures, unit: str, bar: float) -> Row:
    return Row.of(f"{network}: {what}", ours, others, unit, ratio_bar=bar)


@contextmanager
def _asking(tool: str, network: Network, what: str) -> Iterator[Callable[[str | None], float]]:
    """A worker: None is a call, and text the end."""
    module = "jax" if tool == "jax" else "llvmlite"
    with subprocess.Popen(
        [interpreter(module), "-m", "networks", tool, *map(str, network), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(XLA_FLAGS=_ONE_THREAD),
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        questions, answers = worker.stdin, worker.stdout

        def ask(end: str | None) -> float:
            if end is None:
                questions.write("\n")
                questions.flush()
            else:
                questions.close()
            return float(answers.readline())

        yield ask


def gradwire(network: Network, what: str, examples: int = _EXAMPLES) -> Callable[[], list[Any]]:
    """The engine, with machine code."""
    from gradwire_engine import Engine, Leaf, Query, native

    x, weights = network.values(examples)
    leaves = {"x": Leaf(x)} | {f"w{i}": Leaf(w) for i, w in enumerate(weights)}
    layers = "x @ w0" + "".join([f"\nh = tanh(h) @ w{i}" for i in range(1, len(weights))])
    second = " + ".join([f"grad(sum(g[:, {i}]), x)[:, {i}]" for i in range(network.inputs)])
    laplacian = f"g = grad(sum(h), x)\nr = {second}\n"
    text, sources = {
        "value": ("h", []),
        "gradient by inputs": ("sum(h)", ["x"]),
        "Laplacian": (laplacian + "r", []),
        "Laplacian's gradient in the weights": (
            laplacian + "mean((r + h[:, 0])**2)",
            [f"w{i}" for i in range(len(weights))],
        ),
    }[what]
    query = Query("gradient", sources=sources) if sources else Query("evaluate")
    engine = Engine(backend=native.native_backend())
    call = engine.call(engine.parse(f"h = {layers}\n{text}"), leaves, query)

    def run() -> list[Any]:
        answer = call.replay(_go_on)
        return [answer.value, *(answer.gradients if sources else ())]

    return run


def jax(network: Network, what: str, examples: int = _EXAMPLES) -> Callable[[], list[Any]]:
    """JAX, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    x, weights = jax.tree.map(jnp.asarray, network.values(examples))

    def value(x: Any, weights: Any) -> Any:
        h = x @ weights[0]
        for w in weights[1:]:
            h = jnp.tanh(h) @ w
        return h

    def total(x: Any, weights: Any) -> Any:
        return value(x, weights).sum()

    def laplacian(x: Any, weights: Any) -> Any:
        gradient = jax.grad(total)
        second = [
            jax.grad(lambda x, i=i: gradient(x, weights)[:, i].sum())(x)[:, i]
            for i in range(network.inputs)
        ]
        return sum(second)

    def residual(weights: Any, x: Any) -> Any:
        return ((laplacian(x, weights) + value(x, weights)[:, 0]) ** 2).mean()

    function, given = {
        "value": (value, (x, weights)),
        "gradient by inputs": (jax.value_and_grad(total), (x, weights)),
        "Laplacian": (laplacian, (x, weights)),
        "Laplacian's gradient in the weights": (jax.value_and_grad(residual), (weights, x)),
    }[what]
    compiled = jax.jit(function)
    return lambda: jax.tree.leaves(jax.block_until_ready(compiled(*given)))


TOOLS: dict[str, Callable[..., Callable[[], list[Any]]]] = {"gradwire": gradwire, "jax": jax}


def main(tool: str, width: str, hidden: str, inputs: str, what: str) -> None:
    """Answer lines until the input ends."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    run, before = TOOLS[tool](Network(int(width), int(hidden), int(inputs)), what), resident_mib()
    forget_peak()
    for _ in sys.stdin:
        start = process_time()
        run()
        print(1e3 * (process_time() - start), flush=True)
    print(peak_mib() - before, flush=True)


def _go_on() -> None:
    """A deadline that never passes."""


if __name__ == "__main__":
    main(*sys.argv[1:])
