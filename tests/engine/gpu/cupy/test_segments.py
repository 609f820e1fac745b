"""Tapes of what can and what cannot be captured, drawn at random, give NumPy's numbers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf
from gradwire_engine.backends.devices import OutOfGpuMemory
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.promotion import BFLOAT16
from gradwire_engine.tape import ArrayType, Instruction, Tape
from gradwire_gpu.cupy import segments
from gradwire_gpu.cupy.executable import CupyExecutable
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from tests.effort import examples
from tests.engine.gpu.cupy.machine import Stream
from tests.engine.gpu.cupy.memory import MEMORY, CudaError
from tests.engine.gpu.cupy.test_executable import opened
from tests.engine.gpu.nvptx.launched import go_on

N = 3
#: What blocks read: two values that others have made, and inputs.
NAMES = "abhpq"
#: The replays whose values fail have a ``p`` below zero, or a ``q`` that is no index.
P, Q = 1.0, np.arange(3.0)
BLOCKS = (
    "tanh(a @ b) + b",
    "tanh(a.T @ (b * 0.5))",
    "sort(a, axis=0) - b",
    "a.T",
    "a[::-1]",
    "exp(-a * a) * sum(b, axis=0)",
    "cumsum(a, axis=1) * 0.3 - b",
    "astype(h, 'float64') * tanh(a)",
    "if p > 0:\n    y = a * b\nelse:\n    y = a - b\ntanh(y)",
    "tanh(a).at[astype(floor(q), 'int64')].set(1)",
    "inv(4 * eye(3) + tanh(a)) * b",
    "s, l = slogdet(4 * eye(3) + tanh(a))\nb * s / 3 + tanh(a * l)",
    "sum(svdvals(4 * eye(3) + tanh(a))) * b / 9",
    "dawsn(a) - tanh(b)",
    "stack([tanh(a[0]), b[1], a[2]])",
    # Loops by launches: with stacks, whose items a gradient reads, and the number of their passes.
    "d = a\nfor k in range(40):\n    d = dawsn(d) * 1.5\n    if sum(d * d) < 0:\n        break\nd",
    "d = a\nfor k in range(30):\n    d = dawsn(d) * 1.5\n    if sum(d * d) < 0:\n        break\n"
    "tanh(grad(sum(d * b), a))",
    "c = 0 * p\nd = a\nwhile c < 3 and sum(d * d) >= 0:\n"
    "    d = dawsn(d) * 1.5\n    c = c + 1\nd * c",
)


@cache
def block(text: str) -> Tape:
    """The optimised tape of a block."""
    made = np.ones((N, N)) / 2 + np.eye(N)
    values = [made, made / 3, made.astype("bfloat16"), np.asarray(P), Q]
    engine = Engine(backend=NUMPY_BACKEND)
    leaves = {name: Leaf(value) for name, value in zip(NAMES, values, strict=True)}
    call = called(engine, text, leaves, "evaluate")
    call.compile(go_on)
    found: Tape = call.entry.paths[0].tiers.executable.tape
    return found


def woven(chosen: Sequence[tuple[str, int, int]], outputs: int, rng: random.Random) -> Tape:
    """Blocks, each of results of those before it, with their instructions in a random order."""
    square, half = ArrayType(np.dtype(float), (N, N)), ArrayType(BFLOAT16, (N, N))
    kinds = [square, square, half, ArrayType(np.dtype(float), ()), ArrayType(np.dtype(float), (N,))]
    made = [Instruction(Input(k), (), kind, 0) for k, kind in enumerate(kinds)]
    #: Of each block its tape, where its instructions are in the whole, and where its operands are.
    pending = list[tuple[Tape, dict[int, int], Sequence[Callable[[], Any]]]]()
    results: list[Callable[[], Any]] = [lambda: 0, lambda: 1]
    for text, a, b in chosen:
        tape, moved = block(text), dict[int, int]()
        pending.append((tape, moved, [results[-1 - each % len(results)] for each in (a, b)]))
        results.append(partial(moved.get, tape.outputs[0]))
    begun = [0] * len(pending)
    while True:
        ready = []
        for number, (tape, _, operands) in enumerate(pending):
            places = [operand() for operand in operands]
            if begun[number] < len(tape.instructions) and None not in places:
                ready.append(number)
        if not ready:
            break
        number = rng.choice(ready)
        tape, moved, operands = pending[number]
        for _ in range(rng.choice([1, 1, 2, 4, 30])):
            slot = begun[number]
            if slot == len(tape.instructions):
                break
            begun[number] += 1
            op, args, kind, _ = tape.instructions[slot]
            if isinstance(op, Input):
                place = tape.inputs.index(slot)
                moved[slot] = operands[place]() if place < 2 else place
                continue
            moved[slot] = len(made)
            made.append(Instruction(op, tuple([moved[arg] for arg in args]), kind, 0))
    arrays = [k for k, i in enumerate(made) if isinstance(i.type, ArrayType)]
    last = [result() for result in results[-2:]]
    returned = [*last, *[rng.choice(arrays) for _ in range(outputs)]]
    return Tape(tuple(made), tuple(range(len(kinds))), tuple(returned))


class Event(NamedTuple):
    """What happens in a replay."""

    #: The number of the places where the first two inputs are.
    places: int
    #: What fails there: a guard, an index, or numbers.
    wrong: str
    #: After how many polls the deadline has passed, and the number of the capture that fails.
    looks: int | None
    failing: int
    #: After how many allocations there is no memory, and how many are refused.
    allocations: int | None
    refused: int


#: Arrays that are new in each replay share graphs; those that stay need their own.
PLACES = st.sampled_from(
    ["new"] * 8 + ["constant", "other constant", "there", "moved", "turned", "result"]
)
#: Where graphs are made, and replayed to the end.
CALM = st.builds(
    Event,
    st.just(0),
    st.sampled_from(["", "", "", "", "guard", "index", "nan"]),
    st.none(),
    st.just(0),
    st.none(),
    st.just(0),
)
EVENTS = st.builds(
    Event,
    st.sampled_from([0, 0, 0, 0, 1]),
    st.sampled_from(["", "", "", "", "guard", "index", "nan"]),
    st.sampled_from([None] * 12 + [1, 3, 6]),
    st.sampled_from([0] * 12 + [1, 2]),
    st.sampled_from([None] * 60 + [*range(0, 60, 5)]),
    st.sampled_from([2, 1000]),
)


class Outcome(NamedTuple):
    """What a replay comes to: its outputs, or why there are none."""

    outputs: Sequence[Any]
    finite: bool
    failed: str


def outcome(executable: Any, inputs: Sequence[Any], poll: Callable[[], None]) -> Outcome:
    try:
        replayed = executable.replay(inputs, poll)
    except (TimeoutError, OutOfGpuMemory):
        raise
    except Exception as error:  # noqa: BLE001 - the same is expected of both
        return Outcome((), True, f"{type(error).__name__}: {error}")
    if replayed.guard is not None:
        return Outcome((), True, "guard")
    return Outcome(replayed.outputs, replayed.finite, "")


def brought(backend: Any, x: Any, dtype: Any = None) -> Any:
    if not isinstance(x, backend.device.cupy.ndarray):
        return np.asarray(x)
    with backend.device.working(go_on):
        return backend.device.copy_from(x, go_on, dtype)


def sent(backend: Any, x: Any) -> Any:
    with backend.device.working(go_on):
        return backend.device.copied(x)


def same(got: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if expected.dtype != float:
        assert got.tobytes() == expected.tobytes()
    else:
        assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


class Inputs:
    """The first two inputs of replays, at places of all kinds, with their values."""

    def __init__(self, backend: Any, rng: random.Random) -> None:
        self._backend = backend
        self._rng = np.random.default_rng(rng.randrange(1 << 32))
        self._constants = {name: self._values() for name in ("constant", "other constant")}
        for x in self._constants.values():
            x.flags.writeable = False
        values = self._values()
        self._there = sent(backend, values), values
        #: Outputs of earlier replays that are such inputs.
        self.results: list[tuple[Any, Any]] = []

    def _values(self) -> Any:
        return self._rng.normal(size=(N, N))

    def at(self, place: str) -> tuple[Any, Any]:
        """An input at a place, and its value on the host."""
        if place in self._constants:
            return (self._constants[place],) * 2
        if place == "there":
            return self._there
        if place == "result" and self.results:
            return self.results[-1]
        values = self._values()
        if place == "moved":
            return sent(self._backend, values), values
        if place == "turned":
            return sent(self._backend, values.T.copy()).T, values
        return values, values


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@given(
    chosen=st.lists(
        st.tuples(st.sampled_from(BLOCKS), st.integers(0, 9), st.integers(0, 9)),
        min_size=2,
        max_size=9,
    ),
    outputs=st.integers(0, 4),
    places=st.lists(st.tuples(PLACES, PLACES), min_size=2, max_size=2),
    events=st.lists(CALM, min_size=6, max_size=8) | st.lists(EVENTS, min_size=6, max_size=12),
    per_graph=st.sampled_from([-1000, 0, 2]),
    stay=st.booleans(),
    rng=st.randoms(use_true_random=False),
)
@examples(80)
def test_whatever_happens_the_numbers_are_right(
    chosen, outputs, places, events, per_graph, stay, rng
):
    """Also where a replay ends early, and no result changes by later ones."""
    made = woven(chosen, outputs, rng)
    host = NUMPY_BACKEND.compile(made, go_on)
    with opened("simulated", stay=stay) as backend, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_LAUNCHES_PER_GRAPH", per_graph)
        patch.setattr(CupyExecutable, "peak_bytes", 1 << 20)  # that graphs may hold
        device, end_capture = backend.device, Stream.end_capture
        executable = backend.compile(made, go_on)
        given_inputs, held = Inputs(backend, rng), list[tuple[Any, Any]]()
        for event in events:
            pairs = [given_inputs.at(place) for place in places[event.places]]
            if event.wrong == "nan":
                values = np.full((N, N), np.nan)
                pairs[0] = values, values
            p, q = P - 2 * (event.wrong == "guard"), Q + 9 * (event.wrong == "index")
            rest = [pairs[1][1].astype("bfloat16"), np.asarray(p), q]
            captures, looks = itertools.count(1), iter(range(event.looks or 0))
            allocations = itertools.count()

            def end(stream: Any, captures: Any = captures, event: Event = event) -> Any:
                found = end_capture(stream)
                if next(captures) == event.failing:
                    raise CudaError(901)
                return found

            def poll(looks: Any = looks, event: Event = event) -> None:
                if event.looks is not None and next(looks, None) is None:
                    raise TimeoutError

            def refuses(allocations: Any = allocations, event: Event = event) -> bool:
                first = event.allocations
                return first is not None and first <= next(allocations) < first + event.refused

            expected = outcome(host, [x for _, x in pairs] + rest, go_on)
            with patch.context() as here:
                here.setattr(Stream, "end_capture", end)
                here.setattr(MEMORY, "refuses", refuses)
                try:
                    got = outcome(executable, [x for x, _ in pairs] + rest, poll)
                except TimeoutError:
                    assert event.looks is not None
                    continue
                except OutOfGpuMemory:
                    assert event.allocations is not None
                    continue
                finally:
                    assert not device._computing.lock.locked()
                    assert not device._arriving.lock.locked()
            assert got[1:] == expected[1:], (got, expected)
            for x, y in zip(got.outputs, expected.outputs, strict=True):
                held.append((x, y))
                if np.shape(y) == (N, N) and y.dtype == float and np.isfinite(y).all():
                    given_inputs.results.append((x, brought(backend, x)))
        for x, y in held:
            same(brought(backend, x, BFLOAT16 if y.dtype == BFLOAT16 else None), y)
