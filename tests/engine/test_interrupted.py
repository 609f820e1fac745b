"""Work that its poll stops anywhere: asked again, everything answers as if it had not been."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import DeadlineExceeded
from gradwire_engine.gc_pause import GcPause
from numpy.testing import assert_allclose, assert_equal

from tests.effort import some

X = {"x": np.array(0.5)}
LARGE = {"x": np.linspace(0.1, 1, 20_000)}
LONG = "\n".join(
    ["y0 = x", *[f"y{i + 1} = sin(y{i}) * cos(y{i // 2}) + {i % 7}*x" for i in range(350)]]
)
NESTED = "y = x\nfor i in range(40):\n    y = sin(y) + x*i if i % 3 else y*cos(x)\ny = sum(y)"
SWEPT = "z = x\n" + "\n".join("z = tanh(z)*x + cos(z)" for _ in range(8)) + "\ny = sum(z)"
CASES: dict[str, tuple[str, dict[str, Any], Query]] = {
    "long": (LONG, X, Query("gradient")),
    "exact": (LONG, X, Query("gradient", exact=True)),
    "loop": (NESTED, X, Query("gradient")),
    "swept": (SWEPT, LARGE, Query("gradient")),
    "resident": ("y = sum((w @ w) * x)", {"w": np.ones((30, 30)), **X}, Query("gradient")),
    "hessian": ("y = sum(x[1:] * x[:-1])", {"x": np.ones(12)}, Query("hessian")),
    "not finite": ("y = log(x - x) * 0 + x", X, Query("gradient")),
    "decided": ("y = sin(x) if x > 0 else cos(x)", X, Query("gradient")),
}


class Countdown:
    """A poll that stops the work when it has been called so often."""

    def __init__(self, left: float = float("inf")) -> None:
        self.left = left
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        self.left -= 1
        if self.left < 0:
            raise DeadlineExceeded("stopped")


def replays(engine: Engine, case: str, poll: Callable[[], None]) -> list[Any]:
    """The answers of the first time, the second and the third: walked, lowered, and known."""
    text, values, query = CASES[case]
    program = engine.parse(text)
    leaves = {
        name: Leaf(value, resident="w" if name == "w" else None) for name, value in values.items()
    }
    answers = []
    for _ in range(3):
        answer = engine.call(program, leaves, query).replay(poll)
        answers.append((answer.value, *answer.derivatives.values(), sorted(answer.nonfinite)))
    return answers


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_what_was_stopped_anywhere_answers_all_the_same(case):
    counting = Countdown()
    expected = replays(Engine(), case, counting)
    assert counting.calls
    for left in {0, *some(range(counting.calls), 40), counting.calls - 1}:
        engine, was_enabled = Engine(), gc.isenabled()
        with pytest.raises(DeadlineExceeded):
            replays(engine, case, Countdown(left))
        assert gc.isenabled() is was_enabled
        # Walked or lowered, either may come next: both give what the other gives but for rounding.
        for found, right in zip(replays(engine, case, Countdown()), expected, strict=True):
            assert_equal(found[-1], right[-1])
            for x, y in zip(_arrays(found[:-1]), _arrays(right[:-1]), strict=True):
                assert_allclose(x, y, rtol=1e-13)


def test_a_replay_is_stopped_before_its_first_instruction():
    text, values, query = CASES["long"]
    engine = Engine()
    call = engine.call(engine.parse(text), _leaves(values), query)
    call.compile(Countdown())
    with pytest.raises(DeadlineExceeded) as stopped:
        call.replay(Countdown(0))
    assert stopped.value.at is None


@pytest.mark.parametrize("case", CASES)
def test_what_is_stopped_over_and_over_gets_there(case):
    """Each try is allowed more than the last, as a client's would be."""
    engine, expected = Engine(), replays(Engine(), case, Countdown())
    for allowed in range(100):
        try:
            found = replays(engine, case, Countdown(2**allowed))
        except DeadlineExceeded:
            continue
        break
    for x, y in zip(_arrays(found[0][:-1]), _arrays(expected[0][:-1]), strict=True):
        assert_allclose(x, y, rtol=1e-13)


@pytest.mark.thorough
def test_questions_about_a_recording_can_be_stopped():
    text, values, query = CASES["long"]

    def recorded():
        engine = Engine()
        recording = engine.recording(engine.parse(text), _leaves(values))
        recording.run(Countdown())
        return recording

    counting = Countdown()
    expected = recorded().call(query).replay(counting)
    for left in {*range(0, counting.calls, max(counting.calls // 6, 1)), counting.calls - 1}:
        recording = recorded()
        with pytest.raises(DeadlineExceeded):
            recording.call(query).replay(Countdown(left))
        found = recording.call(query).replay(Countdown())
        assert_allclose(found.value, expected.value, rtol=1e-13)
        assert_allclose(found.gradients["x"], expected.gradients["x"], rtol=1e-9)


def _leaves(values: dict[str, Any]) -> dict[str, Leaf]:
    return {name: Leaf(value) for name, value in values.items()}


@pytest.mark.thorough
def test_cycles_do_not_pile_up_though_recordings_overlap_for_ever():
    """Values put aside are looked at when there are too many."""
    before, most = sys.getallocatedblocks(), 0
    held = GcPause(room=200_000)
    with held:
        for _ in range(80):
            with held:
                for _ in range(60_000):
                    circle: list[object] = []
                    circle.append(circle)
            most = max(most, sys.getallocatedblocks())
    made = 80 * 60_000 * 2
    assert most - before < before + made / 2
    gc.unfreeze()
    gc.collect()


def _arrays(nested: Any) -> list[Any]:
    if isinstance(nested, dict):
        nested = list(nested.values())
    if isinstance(nested, list | tuple):
        return [array for item in nested for array in _arrays(item)]
    return [nested]
