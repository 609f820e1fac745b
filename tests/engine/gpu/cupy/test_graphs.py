"""Tapes with operations that cannot be captured: graphs between them, and the same numbers."""

from __future__ import annotations

import gc
import logging
import weakref
from contextlib import suppress
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Kind, Leaf
from gradwire_engine.backends.devices import GpuLost, OutOfGpuMemory
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_gpu.cupy import host

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from tests.engine.gpu.cupy.machine import Stream
from tests.engine.gpu.cupy.memory import CudaError
from tests.engine.gpu.cupy.test_executable import DEVICES, ROOM_BYTES, opened
from tests.engine.gpu.nvptx.launched import go_on
from tests.engine.gpu.nvptx.test_launches import same

RNG = np.random.default_rng(3)
N = 20
X, W = RNG.normal(size=(N, N)), RNG.normal(size=(N, N)) / N
BEFORE = "a = tanh(x @ w)\nb = tanh(a @ w)\nc = tanh(b @ w + a)\n"
AFTER = "e = tanh(d @ w)\nf = tanh(e @ w)\ng = tanh(f @ w + e)\n"

#: Programs, and how many graphs they are: forward, and back again.
PROGRAMS: dict[str, tuple[str, int]] = {
    "a factorisation": (f"{BEFORE}d = cholesky(c @ c.T + eye({N}))\n{AFTER}sum(g)", 3),
    "several results": (f"{BEFORE}l, d = eigh(c + c.T)\n{AFTER}sum(g * g * l)", 2),
    "on the host": (f"{BEFORE}d = dawsn(c)\n{AFTER}sum(g)", 2),
    "one after the other": (
        f"{BEFORE}d = dawsn(c)\n{AFTER}d = dawsn(g)\n{AFTER}sum(dawsn(g) * c)",
        4,
    ),
    "a loop": (
        f"{BEFORE}d = c\nfor k in range(30):\n    d = dawsn(d) * 1.5\n"
        f"    if sum(d) > 900:\n        break\n{AFTER}sum(g)",
        3,
    ),
    "decisions": (
        f"{BEFORE}if sum(c) > 1e6:\n    c = -c\nd = dawsn(c)\n{AFTER}"
        "if sum(g) > 1e6:\n    g = -g\nsum(g)",
        2,
    ),
    "throughout": (f"{BEFORE}d = sort(c, axis=0)\n{AFTER}sum(g)", 1),
    "few launches": ("sum(dawsn(x))", 0),
}


@pytest.fixture(scope="module", params=DEVICES)
def backend(request):
    with opened(request.param) as backend:
        yield backend


@cache
def tape(text: str, kind: Kind = "gradient") -> Any:
    """The optimised tape of a program's value and gradient, by NumPy's rules."""
    engine = Engine(backend=NUMPY_BACKEND)
    call = called(engine, text, {"x": Leaf(X), "w": Leaf(W)}, kind)
    call.compile(go_on)
    return call.entry.paths[0].tiers.executable.tape


def graphs(executable: Any) -> list[int]:
    """The number of graphs in each of its recordings."""
    return [len(each._graphs) for each in executable._recordings._kept.values()]


def replayed(executable: Any, made: Any, inputs: list[Any], turns: int = 4) -> None:
    """Replays, each with other inputs, give NumPy's numbers."""
    host = NUMPY_BACKEND.compile(made, go_on)
    for turn in range(turns):
        moved = [inputs[0] * (1 + turn / 8), *inputs[1:]]
        got, expected = executable.replay(moved, go_on), host.replay(moved, go_on)
        for x, y in zip(got.outputs, expected.outputs, strict=True):
            same(x, y)


def failing(status: int) -> Any:
    """An end of captures that fails."""
    end_capture = Stream.end_capture

    def end(stream: Any) -> Any:
        end_capture(stream)
        raise CudaError(status)

    return end


def brought(backend: Any, x: Any) -> Any:
    with backend.device.working(go_on):
        return backend.device.copy_from(x, go_on)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_can_be_captured_is(backend, name):
    text, expected = PROGRAMS[name]
    executable = backend.compile(tape(text), go_on)
    replayed(executable, tape(text), [X, W])
    assert sum(graphs(executable)) == expected
    pieces = executable._segments
    assert [piece.begin for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]


@pytest.mark.thorough
def test_inputs_that_stay_have_graphs_of_their_own(backend):
    text, expected = PROGRAMS["on the host"]
    executable = backend.compile(tape(text), go_on)
    for _ in range(2):
        w = W.copy()
        w.flags.writeable = False
        replayed(executable, tape(text), [X, w])
    assert graphs(executable) == [expected] * 3  # w is met, then stays at two places


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", [0, 1])
def test_decisions_in_every_graph_are_looked_at(backend, wrong):
    text = f"{BEFORE}s = sum(c) + x[0, 0]\nif s > 1e6:\n    c = -c\nd = dawsn(c)\n{AFTER}"
    made = tape(f"{text}if sum(g) + x[0, 1] > 1e6:\n    g = -g\nsum(g)")
    executable = backend.compile(made, go_on)
    replayed(executable, made, [X, W])
    x = X.copy()
    x[0, wrong] = 1e9
    assert executable.replay([x, W], go_on).guard is not None
    replayed(executable, made, [X, W])


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["c", "g"])
def test_what_is_not_finite_is_found_wherever_it_is(backend, where):
    made = tape(f"{BEFORE}d = dawsn(c)\n{AFTER}[sum(log(x[0, 0] + 0 * {where})), c, g]", "evaluate")
    executable = backend.compile(made, go_on)
    for _ in range(3):
        for first, finite in ((1.0, True), (-1.0, False)):
            x = X.copy()
            x[0, 0] = first
            assert executable.replay([x, W], go_on).finite == finite


@pytest.mark.thorough
def test_requirements_in_a_graph_are_looked_at(backend):
    text = f"{BEFORE}d = dawsn(c)\n{AFTER}g.at[astype(floor(x[0]), 'int64')].set(1)"
    made = tape(text, "evaluate")
    executable = backend.compile(made, go_on)
    replayed(executable, made, [X, W])
    assert graphs(executable) == [2]
    x = X.copy()
    x[0, 7] = 1e3
    with pytest.raises(IndexError):
        executable.replay([x, W], go_on)


@pytest.mark.thorough
def test_outputs_that_stay_are_not_written_again():
    text = f"{BEFORE}d = dawsn(c)\n{AFTER}[c, d, g]"
    with opened("simulated", stay=True) as backend:
        made = tape(text, "evaluate")
        executable = backend.compile(made, go_on)
        host = NUMPY_BACKEND.compile(made, go_on)
        kept = [executable.replay([X + k, W], go_on).outputs for k in range(4)]
        for k, outputs in enumerate(kept):
            expected = host.replay([X + k, W], go_on)
            for x, y in zip(outputs, expected.outputs, strict=True):
                same(brought(backend, x), y)
        assert graphs(executable) == [2]


def test_a_transposed_array_is_not_taken_for_what_is_at_its_place():
    with opened("simulated", stay=True) as backend:
        import cupy

        executable = backend.compile(tape("exp(x) @ w", "evaluate"), go_on)
        with backend.device.working(go_on):
            x, w = backend.device.copied(X), backend.device.copied(W)
        for _ in range(3):
            for given, expected in ((x, X), (cupy.transpose(x), X.T)):
                (found,) = executable.replay([given, w], go_on).outputs
                same(brought(backend, found), np.exp(expected) @ W)


@pytest.mark.thorough
def test_memory_is_freed_with_the_graphs():
    with opened("simulated") as backend:
        executable = backend.compile(tape(PROGRAMS["one after the other"][0]), go_on)
        executable.replay([X, W], go_on)
        used = backend.device.pool.used_bytes()
        replayed(executable, executable.tape, [X, W])
        assert backend.device.pool.used_bytes() > used
        del executable
        gc.collect()
        assert backend.device.pool.used_bytes() < used


@pytest.mark.thorough
def test_graphs_give_way_where_memory_is_short():
    made = tape(PROGRAMS["on the host"][0], "evaluate")
    with opened("simulated") as backend:
        pool, launched = backend.device.pool, set()
        replayed(backend.compile(made, go_on), made, [X, W], 1)  # cuBLAS takes memory, too
        for arrays in range(25, 0, -1):
            executable = backend.compile(made, go_on)
            pool.set_limit(pool.used_bytes() + arrays * X.nbytes)
            try:
                replayed(executable, made, [X, W], 1)
            except OutOfGpuMemory:
                break
            replayed(executable, made, [X, W], 2)
            launched.add(sum(graphs(executable)))
            pool.set_limit(ROOM_BYTES)
    assert {0, 2} <= launched


@pytest.mark.thorough
def test_what_cannot_be_captured_though_it_should_is_launched(caplog, monkeypatch):
    monkeypatch.setattr(host, "WAITING", frozenset[str]())
    text, _ = PROGRAMS["a factorisation"]
    with opened("simulated") as backend, caplog.at_level(logging.WARNING, "gradwire"):
        executable = backend.compile(tape(text), go_on)
        replayed(executable, tape(text), [X, W])
        assert graphs(executable) == [1]  # the last, as before and between it waits
    assert caplog.text.count("cannot be captured") == 1


@pytest.mark.thorough
def test_a_graph_that_fails_leaves_no_memory(monkeypatch):
    monkeypatch.setattr(logging.getLogger("gradwire"), "disabled", True)  # pytest keeps records
    with opened("simulated") as backend:
        executable = backend.compile(tape(PROGRAMS["on the host"][0]), go_on)
        replayed(executable, executable.tape, [X, W], 1)
        gc.collect()
        used = backend.device.pool.used_bytes()
        monkeypatch.setattr(Stream, "end_capture", failing(901))
        replayed(executable, executable.tape, [X, W], 1)
        gc.collect()
        assert graphs(executable) == [0]
        assert backend.device.pool.used_bytes() == used


def test_a_context_that_is_lost_while_launches_are_captured_is_lost(monkeypatch):
    with opened("simulated") as backend:
        executable = backend.compile(tape(PROGRAMS["on the host"][0]), go_on)
        replayed(executable, executable.tape, [X, W], 1)
        monkeypatch.setattr(Stream, "end_capture", failing(700))
        with pytest.raises(GpuLost):
            executable.replay([X, W], go_on)
        assert backend.device.lost


@pytest.mark.thorough
def test_what_is_launched_at_one_place_is_right_at_another(monkeypatch):
    made = tape(PROGRAMS["on the host"][0])
    with opened("simulated") as backend:
        executable = backend.compile(made, go_on)
        replayed(executable, made, [X, W])
        w = W.copy()
        w.flags.writeable = False
        end_capture, broken = Stream.end_capture, [True]

        def failing_once(stream: Any) -> Any:
            found = end_capture(stream)
            if broken.pop() if broken else False:
                raise CudaError(901)
            return found

        monkeypatch.setattr(Stream, "end_capture", failing_once)
        replayed(executable, made, [X, w])
        first, second = graphs(executable)
        assert first == second + 1
        replayed(executable, made, [X, W])


@pytest.mark.thorough
def test_a_deadline_stops_between_graphs_and_the_next_replay_is_right(backend):
    text, expected = PROGRAMS["one after the other"]
    executable = backend.compile(tape(text), go_on)
    replayed(executable, tape(text), [X, W], 1)

    class Over(Exception):
        pass

    for looks in range(1, 40):
        left = iter(range(looks))

        def poll(left: Any = left) -> None:
            if next(left, None) is None:
                raise Over

        with suppress(Over):
            executable.replay([2 * X, W], poll)
    replayed(executable, tape(text), [X, W])
    assert graphs(executable) == [expected]


@pytest.mark.thorough
def test_plans_of_transforms_live_as_long_as_their_graphs():
    with opened("simulated") as backend:
        import cupy

        class Plan:
            pass

        plans = [SimpleNamespace(plan=Plan())]
        alive = weakref.ref(plans[0].plan)
        made = tape("sum(abs(fft.fft(x @ w)))", "evaluate")
        cupy.fft.config.get_plan_cache = lambda: [("key", node) for node in plans]
        executable = backend.compile(made, go_on)
        replayed(executable, made, [X, W])
        plans.clear()
        assert alive() is not None
        del executable
        gc.collect()
        assert alive() is None
