"""Random loops of problems are computed in the interpreter, which refuses races."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

pytest.importorskip("llvmlite")

from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.loops.loop import Loop
from gradwire_engine.tape import ArrayType, Tape
from gradwire_gpu.nvptx import launches, schedules

from tests.effort import examples
from tests.engine.gpu.cupy.test_executable import opened
from tests.engine.gpu.nvptx.launched import go_on, replayed
from tests.engine.gpu.nvptx.loops import Drawn, loops

#: By the coarsest dtype on the way.
TOLERANCES = {"float64": 1e-9, "float32": 1e-3, "float16": 0.05, "bfloat16": 0.3}


@contextmanager
def scheduled(threads: int, small: int, large: int, busy: int) -> Iterator[None]:
    """Have work shared as if it were more or less than it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launches, "THREADS_OF_PROBLEMS", threads)
        patch.setattr(launches, "_SMALL", small)
        patch.setattr(launches, "_LARGE_PASS", large)
        patch.setattr(schedules, "_BUSY_BLOCKS", busy)
        yield


SCHEDULES = st.tuples(
    *(st.sampled_from(each) for each in ([32, 64], [8, 1 << 14], [100, 1 << 17], [1, 8, 1024]))
)


def dtypes(tape: Tape) -> set[str]:
    found: set[str] = set()
    for op, _, kind, _ in tape.instructions:
        if isinstance(kind, ArrayType):
            found.add(kind.dtype.name)
        if isinstance(op, Loop):
            found |= dtypes(op.body.tape)
    return found


def recorded(backend: Any, drawn: Drawn) -> tuple[Tape, list[Any]]:
    """The tape for a GPU, and its inputs."""
    leaves = {name: Leaf(value) for name, value in drawn.values.items()}
    engine = Engine(backend=backend)
    call = engine.call(engine.parse(drawn.text), leaves, drawn.query)
    call.compile(go_on)
    executable, given = call.entry.paths[0].tiers.executable, list[Any]()
    replay = executable.replay

    def watched(inputs: list[Any], poll: Any) -> Any:
        given.append(inputs)
        return replay(inputs, poll)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executable, "replay", watched)
        call.replay(go_on)
    return executable.tape, given[-1]


@pytest.fixture(scope="module")
def backend():
    with opened("simulated") as backend:
        yield backend


@pytest.mark.thorough
@examples(20)
@given(drawn=loops(), schedule=SCHEDULES)
def test_random_loops(backend, drawn, schedule):
    with scheduled(*schedule):
        tape, inputs = recorded(backend, drawn)
        expected = REFERENCE.compile(tape, go_on).replay(inputs, go_on)
        got, _ = replayed(tape, inputs)
    coarsest = [name for name in TOLERANCES if name in dtypes(tape)][-1]
    for x, y in zip(got, expected.outputs, strict=True):
        assert (np.asarray(x).dtype, np.shape(x)) == (np.asarray(y).dtype, np.shape(y))
        one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
        scale = np.max(np.abs(other[np.isfinite(other)]), initial=1e-3)
        assert_allclose(one, other, rtol=0, atol=TOLERANCES[coarsest] * scale)
