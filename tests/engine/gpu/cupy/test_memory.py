"""Replays for which memory runs out, or which CUDA fails, at every place where that can be."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf
from gradwire_engine.backends.devices import GpuLost, OutOfGpuMemory
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_gpu.cupy import device, executable, segments

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from tests.engine.gpu.cupy.machine import Machine
from tests.engine.gpu.cupy.memory import MEMORY, CudaError
from tests.engine.gpu.cupy.test_executable import opened
from tests.engine.gpu.cupy.test_graphs import brought
from tests.engine.gpu.nvptx.launched import go_on
from tests.engine.gpu.nvptx.test_launches import same

RNG = np.random.default_rng(8)
N = 3
X, W = RNG.normal(size=(N, N)), RNG.normal(size=(N, N)) / N
W.flags.writeable = False
#: Two graphs, with what the host computes between them.
TEXT = "a = tanh(x @ w)\nb = sort(a, axis=0)\nc = dawsn(b)\n[tanh(c @ w) + b, b, c, x]"
#: Replays that went before: by launches, also when a constant comes again; then with graphs.
TURNS = range(4)
#: How many allocations are refused.
MANY = {"a little": 2, "from then on": 1 << 30}


@pytest.fixture(autouse=True, scope="module")
def little_garbage() -> Iterator[None]:
    """Collect, thousands of times, only what these tests made: others leave a million objects."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


class Counted:
    """Says of so many calls, from the ``first`` on, that they fail."""

    def __init__(self, first: int, many: int) -> None:
        self._calls, self._failing = count(), range(first, first + many)
        self.failed = False

    def __call__(self) -> bool:
        fails = next(self._calls) in self._failing
        self.failed |= fails
        return fails


@contextmanager
def refusing(first: int, many: int) -> Iterator[Counted]:
    """Refuse so many allocations; the double tries each again once the device is done."""
    before, MEMORY.refuses = MEMORY.refuses, Counted(first, many)
    try:
        yield MEMORY.refuses
    finally:
        MEMORY.refuses = before


class Replays:
    """An executable, and the answers that it must give, of inputs some of which stay."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._executable = backend.compile(made(), go_on)

    def __call__(self, turn: int) -> None:
        """Replay with other inputs than in other turns, and look at the outputs."""
        inputs = [X * (1 + turn / 8), W]
        got = self._executable.replay(inputs, go_on).outputs
        for found, each in zip(got, expected(turn), strict=True):
            there = isinstance(found, self._backend.device.cupy.ndarray)
            same(brought(self._backend, found) if there else found, each)


@cache
def made() -> Any:
    engine = Engine(backend=NUMPY_BACKEND)
    call = called(engine, TEXT, {"x": Leaf(X), "w": Leaf(W)}, "evaluate")
    call.compile(go_on)
    return call.entry.paths[0].tiers.executable.tape


@cache
def expected(turn: int) -> Any:
    host = NUMPY_BACKEND.compile(made(), go_on)
    return host.replay([X * (1 + turn / 8), W], go_on).outputs


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr(logging.getLogger("gradwire"), "disabled", True)  # pytest keeps records
    monkeypatch.setattr(segments, "_LAUNCHES_PER_GRAPH", -1)
    monkeypatch.setattr(executable.CupyExecutable, "peak_bytes", 1 << 20)  # graphs may hold them
    for module in (device, executable):  # of results, copies are kept
        monkeypatch.setattr(module, "KEPT_BYTES", X.nbytes)


def is_free(backend: Any) -> bool:
    lanes = backend.device._computing, backend.device._arriving
    return not any(lane.lock.locked() for lane in lanes)


@pytest.mark.thorough
@pytest.mark.parametrize("named", MANY)
@pytest.mark.parametrize("turns", TURNS)
def test_memory_that_runs_out(turns, named):
    """The answer is right, or the error says it; later ones are right, and nothing is held.

    Where outputs stay on the device alternates, so that each pair of conditions is tried.
    """
    many, stay, refused = MANY[named], turns % 2 == [*MANY].index(named), 0
    with opened("simulated", stay=stay) as backend:
        pool, alive = backend.device.pool, Replays(backend)  # which keeps what is compiled
        alive(0)
        backend.device.residents.forget()
        gc.collect()
        begun = pool.used_bytes()
        for first in count():
            replay = Replays(backend)
            for turn in range(turns):
                replay(turn)
            gc.collect()
            used = pool.used_bytes()
            ended = False
            with refusing(first, many) as refuses:
                try:
                    replay(turns)
                except OutOfGpuMemory:
                    ended = True
            if ended and turns:
                for lane in (backend.device._computing, backend.device._arriving):
                    lane.stream.synchronize()  # what it has still to do holds memory
                gc.collect()
                assert pool.used_bytes() <= used
            refused += ended
            assert is_free(backend)
            for turn in range(turns + 1, turns + 3):
                replay(turn)
            del replay
            backend.device.residents.forget()
            gc.collect()
            assert pool.used_bytes() == begun
            if not refuses.failed:
                break
    assert refused or many == 2  # then it goes on without graphs


@pytest.mark.thorough
def test_a_context_that_is_lost_while_graphs_are_made():
    """Wherever it is, it is said, then and from then on."""
    for first in count():
        with opened("simulated") as backend, pytest.MonkeyPatch.context() as patch:
            replay, fails = Replays(backend), Counted(first, 1)
            for turn in range(2):  # the constant first comes, then stays, then there are graphs
                replay(turn)

            def check(_: Machine, fails: Counted = fails) -> None:
                if fails():
                    raise CudaError(719)

            patch.setattr(Machine, "check", check)
            try:
                replay(2)
            except GpuLost:
                assert fails.failed
            assert is_free(backend)
            assert backend.device.lost == fails.failed
            if not fails.failed:
                break
            with pytest.raises(GpuLost, match="before"):
                replay(2)
