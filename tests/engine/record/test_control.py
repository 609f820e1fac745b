"""Control flow is recorded as executed, and no tape replayed where its decisions do not hold."""

import numpy as np
import pytest
from gradwire_engine.errors import DeadlineExceeded, EngineError
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.conftest import called

PROGRAMS = {
    "if": "if x > y:\n  z = x*y\nelif x < 0:\n  z = x - y\nelse:\n  z = sin(x)\nz",
    "choose": "x*x if x > y else y if y > 0 else x",
    "connectives": "z = x\nif x > 0 and y > 0 or x < -1:\n  z = x*y\nz",
    "chained": "z = x*y if -1 < x < 1 else x\nz",
    "while": ("z = x\nn = 0\nwhile abs(z) < 5 and n < 20:\n  z = 2*z + y\n  n += 1\nz"),
    "for": (
        "z = 0.0\nfor i in range(8):\n  if z > 3*y:\n    break\n"
        "  if i == 2:\n    continue\n  z = z + x*x\nz"
    ),
    "return": (
        "def f(a):\n  for i in range(5):\n    if a > i:\n      return a*i\n  return -a\nf(x)*y"
    ),
    "maximum": "max(x, y)*x",
    "count": "m = int(abs(y))\nz = x\nfor i in range(m):\n  z = z*x\nz",
    "functions": "cond(x > y, lambda: x*x, lambda: y*x)",
    "loop function": "while_loop(lambda c: c < 10, lambda c: c*c + 1, x)",
}
VALUES = st.floats(-3, 3).map(lambda v: round(v, 2))


@pytest.mark.parametrize("name", PROGRAMS)
@given(points=st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=6))
def test_replay_with_other_values_is_a_fresh_recording(name, points):
    from gradwire_engine import Engine, Leaf

    def answer(engine, x, y):
        variables = {"x": Leaf(np.array(x)), "y": Leaf(np.array(y))}
        call = called(engine, PROGRAMS[name], variables, "gradient")
        found = call.replay(lambda: None)
        return found.value, found.gradients

    engine = Engine()
    for x, y in points:
        assert answer(engine, x, y) == answer(Engine(), x, y)


def test_several_paths_are_kept(ask):
    text = "if x > 0:\n  y = x*x\nelse:\n  y = -x\ny"
    recorded = ask.engine._context.cache.add
    added = []

    def counted(*args):
        added.append(args)
        recorded(*args)

    ask.engine._context.cache.add = counted
    for x in (1, -1, 2, -2, 3, 0):
        assert ask.value(text, {"x": x}) == (x * x if x > 0 else -x)
    assert len(added) == 2


@pytest.mark.thorough
def test_more_paths_than_are_kept_are_answered_right(ask):
    for n in [*range(40), *range(40)]:
        assert (
            ask.value("s = 0*x\nfor i in range(int(x)):\n  s = s + i\ns", {"x": n})
            == n * (n - 1) // 2
        )


def test_a_branch_not_taken_has_no_gradient(ask):
    answer = ask.answer("if p > 0:\n  y = a*2\nelse:\n  y = b*3\ny", {"p": 1, "a": 2, "b": 3})
    assert answer.gradients == {"p": None, "a": 2, "b": None}
    assert answer.unconnected["p"].reason == "no_path"


def test_a_branch_not_taken_is_not_even_recorded(ask):
    assert ask.value("if x > 0:\n  y = x\nelse:\n  y = nonsense(x)\ny", {"x": 1}) == 1
    with pytest.raises(EngineError, match="nonsense"):
        ask.value("if x > 0:\n  y = x\nelse:\n  y = nonsense(x)\ny", {"x": -1})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool"])
def test_decisions_on_integers(ask, dtype):
    text = "y = x\nif n:\n  y = 2*x\nif n == 1:\n  y = y + 1\ny"
    for n in (0, 1, 1, 0):
        assert ask.value(text, {"x": 3, "n": np.array(n, dtype)}) == (7 if n else 3)


def test_decisions_on_nothing_but_literals_need_no_guard(ask):
    call = called(
        ask.engine, "s = 0.0\nfor i in range(9):\n  s = s + i if i % 2 else s\ns", {}, "evaluate"
    )
    assert call.replay(ask.poll).value == 16
    names = {i.op.name for i in call.entry.paths[0].executable.tape.instructions}
    assert "guard" not in names


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0])
def test_decisions_on_numbers_that_are_not_finite(ask, value):
    text = "y = 1.0\nif x > 0:\n  y = 2.0\nif x:\n  y = y + 10\nif x != x:\n  y = y + 100\ny"
    expected = 1 + (value > 0) + 10 * bool(value) + 100 * (value != value)
    for _ in range(2):
        assert ask.value(text, {"x": value}) == expected


def test_decisions_at_the_last_digit_hold_where_the_optimiser_rounds_differently(ask):
    text = "y = x**2/3*3\nz = 1.0\nif y >= t:\n  z = 2.0\nif exp(log(t)) >= t:\n  z = z + 10\nz"
    for x in np.linspace(0.1, 3, 50):
        assert ask.value(text, {"x": x, "t": x * x}) in (1, 2, 11, 12)


def test_a_mask_is_recorded_for_the_number_of_its_elements(ask):
    for values in ([1, 2, 3], [-1, 2, 3], [-1, -2, -3], [3, 2, -1], [1, 1, 1]):
        x = np.array(values, float)
        answer = ask.answer("sum(x[x > 0]**2)", {"x": x})
        assert answer.value == np.sum(x[x > 0] ** 2)
        assert np.array_equal(answer.gradients["x"], np.where(x > 0, 2 * x, 0))


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n  pass",
        "while x > 0:\n  y = x",
        "for i in range(10**10):\n  x = x + i",
        "def f(n):\n  return f(n-1) + f(n-1) if n > 0 else 1\nf(60)",
        "s = 0\nwhile True:\n  s = s + 1 if s < 9 else 0",
        "x = fori_loop(0, 10**10, lambda i, c: c + i, x)",
        "while_loop(lambda c: True, lambda c: c, x)",
    ],
)
def test_what_never_ends_is_stopped_by_the_poll(ask, text):
    asked = 0

    def poll():
        nonlocal asked
        asked += 1
        if asked > 1000:
            raise DeadlineExceeded("the time is up")

    with pytest.raises(DeadlineExceeded):
        ask.answer(text + "\nx", {"x": 1}, kind="evaluate", poll=poll)


def test_a_stopped_recording_leaves_nothing_behind(ask):
    def stop():
        raise DeadlineExceeded("the time is up")

    text = "s = x\nfor i in range(3):\n  s = s*x\ns"
    with pytest.raises(DeadlineExceeded):
        ask.answer(text, {"x": 2}, kind="evaluate", poll=stop)
    assert ask.value(text, {"x": 2}) == 16
