"""Calls answered by one replay: each has the answer that it would have had alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Query, Ragged, Sparse
from gradwire_engine.errors import DeadlineExceeded, DomainError
from gradwire_engine.nesting import leaves
from gradwire_engine.queries import Call, JointCall
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine import test_random_programs, test_replays
from tests.engine.conftest import leaf

RNG = np.random.default_rng(32)
X, Y, W = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)


def go_on() -> None:
    """No deadline."""


class Asker:
    """An engine that is asked at several points, alone or together."""

    def __init__(self) -> None:
        self.engine = Engine()

    def call(self, text: str, values: Mapping[str, Any], vectors: Any = None, **asked: Any) -> Call:
        query = Query(**{"kind": "gradient", **asked})
        given = {name: leaf(value) for name, value in values.items()}
        return self.engine.call(self.engine.parse(text), given, query, vectors)

    def calls(
        self, text: str, points: Sequence[Mapping[str, Any]], vectors: Any = None, **asked: Any
    ) -> list[Call]:
        along = vectors or [None] * len(points)
        made = [self.call(text, x, v, **asked) for x, v in zip(points, along, strict=True)]
        made[0].replay(go_on)
        return made

    def both(self, *what: Any, **asked: Any) -> tuple[list[Answer | None], list[Answer]]:
        """The answers together, asked for again until no path is new, and those alone."""
        made = self.calls(*what, **asked)
        assert all(JointCall.takes(call) for call in made)
        for _ in range(4):
            together = JointCall(made).answers(go_on)
        return together, [call.replay(go_on) for call in made]


def points(**values: Any) -> list[dict[str, Any]]:
    """A point of each row."""
    rows = zip(*values.values(), strict=True)
    return [dict(zip(values, row, strict=True)) for row in rows]


def alike(one: Answer | None, other: Answer, rtol: float = 1e-11) -> None:
    """The same answer: its structure and types exactly, its numbers nearly."""
    assert one is not None
    assert outline(one) == outline(other)
    for x, y in zip(arrays(one), arrays(other), strict=True):
        assert_allclose(x, y, rtol=rtol, atol=rtol * (1 + np.max(np.abs(y), initial=0)))


def outline(answer: Answer) -> Any:
    """All that an answer says but its numbers."""

    def typed(x: Any) -> Any:
        if isinstance(x, dict):
            return {key: typed(item) for key, item in x.items()}
        if isinstance(x, list):
            return [typed(item) for item in x]
        return x if x is None else (np.asarray(x).dtype, np.shape(x))

    parts = answer.value, answer.outputs, answer.derivatives, answer.updates
    notes = answer.unconnected, [*answer.warnings], answer.nonfinite, answer.checks
    return [*map(typed, parts), *notes]


def arrays(answer: Answer) -> list[Any]:
    every = leaves([answer.value, answer.outputs, answer.derivatives, answer.updates])
    return [x for x in every if x is not None]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [kind for kind in test_replays.ASKED if kind != "batch"])
@examples(25)
@given(text=test_replays.programs(), seed=test_replays.SEEDS, count=st.integers(2, 5))
def test_answers_together_keep_the_promise_of_replays(kind, text, seed, count):
    query, asked = test_replays.ASKED[kind]
    drawn = [test_replays.values_of(seed + i) for i in range(count)]
    given = [dict(zip(test_replays.SHAPES, values, strict=True)) for values in drawn]
    calls = Asker().calls(text, given, kind=query, unconnected="zero", **asked)
    compiled, tape = test_replays.compiled(text, query, drawn[0], **asked)
    wanted = []
    for inputs in drawn:
        expected = test_replays.walked(tape, inputs)
        unsure = test_replays.uncertain(tape, inputs, expected, seed)
        wanted.append((compiled.answer(expected), compiled.answer(unsure)))
    for _ in range(3):
        for found, (right, off) in zip(JointCall(calls).answers(go_on), wanted, strict=True):
            assert found is not None
            assert outline(found) == outline(right)
            for one, other, d in zip(arrays(found), arrays(right), arrays(off), strict=True):
                most = 1e-12 * np.max(np.abs(other), initial=0) + test_replays.MOST_ROUNDINGS * d
                assert test_replays.distance(one, other) <= most


@examples(40)
@given(test_random_programs.scripts(), st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_programs_with_control_flow_answer_together_as_alone(text, seed, count):
    rng = np.random.default_rng(seed)
    given = [test_random_programs.values_of(rng) for _ in range(count)]
    together, alone = Asker().both(text, given)
    for one, other in zip(together, alone, strict=True):
        if one is not None:
            alike(one, other, rtol=1e-7)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("tanh(x @ w) * y", {}),
        ("x.assign_add(w)\ny.assign(2*y)\nsum(x) * y", {"kind": "evaluate"}),
        ("a = x * y\nb = sum(a)", {"kind": "evaluate", "outputs": {"a": ["a"], "b": "b"}}),
        ("a = x * y\nb = sum(a)", {"target": ["b", "a"], "sources": {"y": "y", "x": [None, "x"]}}),
        ("a = x * y\nb = sum(a)", {"outputs": ["a", "w"], "sources": "y"}),
        ("sum(x) * stop_gradient(y)", {}),
        ("sum(x) * 2.0", {"sources": ["x", "w"]}),
        ("3.0", {"kind": "evaluate"}),
        ("x * y", {"kind": "jacobian"}),
        ("x * y", {"kind": "jacobian", "mode": "forward"}),
        ("sum(exp(x) * w)", {"kind": "hessian"}),
        ("sum(astype(x, 'float32') * y)", {}),
        ("(x > y, astype(x, 'int64'), x + 1j*y)", {"kind": "evaluate"}),
    ],
)
def test_each_answer_is_its_own(text, asked):
    for one, other in zip(*Asker().both(text, points(x=X, y=Y, w=5 * [W]), **asked), strict=True):
        alike(one, other)


@pytest.mark.parametrize("kind", ["jvp", "hvp"])
def test_vectors_are_each_call_s_own(kind):
    along = [{"x": RNG.normal(size=3), "y": np.array(k)} for k in range(5)]
    asked = {"kind": kind, "sources": {"x": "x", "y": "y"}}
    both = Asker().both("sum(sin(x * y))", points(x=X, y=Y), along, **asked)
    for one, other in zip(*both, strict=True):
        alike(one, other)


def test_cotangents_are_each_call_s_own_and_none_are_ones():
    along = [{"a": [x], "b": None} for x in X]
    asked = {"target": {"a": ["x"], "b": "y"}}
    both = Asker().both("r = sum(x) * y", points(x=X, y=Y), along, **asked)
    for one, other in zip(*both, strict=True):
        alike(one, other)


def test_names_may_be_any():
    given = [
        {"p": {"x": x, "s": [y]}, "p.z": y, "output_gradients": y}
        for x, y in zip(X, Y, strict=True)
    ]
    text = "sum(p.x * p.s[0]) + p.z * output_gradients"
    for one, other in zip(*Asker().both(text, given, list(Y)), strict=True):
        alike(one, other)


@pytest.mark.parametrize(
    "text", ["random.normal(k, (4,)) * y", "random.gamma(7, y + 5, (4,))", "random.split(k)"]
)
def test_draws_are_those_of_each_key_alone(text):
    keys = RNG.integers(0, 1 << 30, (5, 2))
    both = Asker().both(text, points(k=keys, y=Y), kind="evaluate")
    for one, other in zip(*both, strict=True):
        alike(one, other, rtol=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "y*y if y > 0 else -y",
        "y*w[0] if y > 0 else y",
        "x[:2] if y > 0 else x",
        "inv(m) if y < 9 else m",
    ],
)
def test_each_is_on_its_own_path(text):
    m = np.stack([(k + 1) * np.eye(2) for k in range(5)])
    both = Asker().both(text, points(x=X, y=Y, m=m, w=5 * [W]))
    for one, other in zip(*both, strict=True):
        alike(one, other)


def test_few_paths_are_recorded():
    text = "s = 2*y if n > 3 else y\nt = s + 1 if n % 4 > 1 else s\nsin(t) if n % 2 > 0 else t"
    asker, given = Asker(), points(y=np.ones(8), n=np.arange(8))
    calls = asker.calls(text, given)
    for _ in range(8):
        joint = JointCall(calls)
        answers = joint.answers(go_on)
    assert len(joint.call.entry.paths) == 4
    assert sum(answer is not None for answer in answers) == 4
    for answer, call in zip(answers, calls, strict=True):
        if answer is not None:
            alike(answer, call.replay(go_on))


def test_what_is_not_finite_is_left_to_its_own_call():
    y = np.array([1.0, 0.0, 2.0, np.inf, -1.0])
    together, alone = Asker().both("sum(x / y)", points(x=X, y=y))
    for one, other in zip(together, alone, strict=True):
        assert (one is None) == bool(other.nonfinite)
        if one is not None:
            alike(one, other)


def test_one_that_fails_fails_for_all():
    m = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    calls = Asker().calls("sum(inv(m))", points(m=m))
    with pytest.raises(DomainError):
        JointCall(calls).answers(go_on)


def test_the_deadline_is_polled():
    def over() -> None:
        raise DeadlineExceeded("the time is up")

    calls = Asker().calls("s = x\nfor i in range(50):\n    s = tanh(s + x)\nsum(s)", points(x=X))
    with pytest.raises(DeadlineExceeded):
        JointCall(calls).answers(over)
    for one, call in zip(JointCall(calls).answers(go_on), calls, strict=True):
        alike(one, call.replay(go_on))


def test_lengths_are_powers_of_two():
    calls = Asker().calls("sum(sin(x))", points(x=RNG.normal(size=(9, 3))))
    entries = [JointCall(calls[:count]).call.entry for count in range(2, 10)]
    assert len({*map(id, entries)}) == 4
    assert len(JointCall(calls[:5]).answers(go_on)) == 5
    assert JointCall(calls[:8]).call.compiled
    assert not JointCall(calls).call.compiled


def test_residents_that_differ_are_stacked():
    residents = [Leaf(x, resident=f"{i}") for i, x in enumerate(RNG.normal(size=(5, 5, 3)))]
    given = points(x=residents, y=Y, w=5 * [Leaf(X[0], resident="w")])
    asker = Asker()
    for _ in range(3):
        for one, other in zip(*asker.both("sum(x @ w) * y", given, sources="x"), strict=True):
            alike(one, other)
    joint = JointCall(asker.calls("sum(x @ w) * y", given))
    assert [np.shape(x) for x in joint.call.arguments.inputs] == [(5, 3), (), (3,), (8, 5, 3), (8,)]


def test_calls_that_are_the_same_are_examples_all_the_same():
    calls = Asker().calls("sum(x)", 3 * [{"x": Leaf(X, resident="x")}])
    for answer, call in zip(JointCall(calls).answers(go_on), calls, strict=True):
        alike(answer, call.replay(go_on))


def test_residents_of_all_are_shared():
    given = points(x=5 * [Leaf(X, resident="x")], y=Y, w=RNG.normal(size=(5, 3)))
    asker = Asker()
    for one, other in zip(*asker.both("sum((x.T @ x) @ w) * y", given, sources="w"), strict=True):
        alike(one, other)
    joint = JointCall(asker.calls("sum((x.T @ x) @ w) * y", given))
    assert [np.shape(x) for x in joint.call.arguments.inputs] == [(5, 3), (), (3,), (8,), (8, 3)]


@pytest.mark.parametrize(
    ("text", "values", "asked"),
    [
        ("sum(x)", {"x": X[0]}, {"exact": True}),
        ("sum(x)", {"x": X[0]}, {"kind": "check"}),
        ("x * x", {"x": X[0]}, {"kind": "jacobian", "format": "coo"}),
        ("sum(x[1])", {"x": X}, {"slices": "listed"}),
        ("sum(x)", {"x": X}, {"batch": {"x": 0}}),
        ("sum(x)", {"x": X, "name": "a"}, {}),
        ("sum(x)", {"x": Leaf(X, resident="x")}, {}),
        ("1.0", {}, {"kind": "evaluate"}),
        ("sum(exp(outer(x, x)))", {"x": np.ones(600)}, {}),
    ],
)
def test_what_is_more_than_arrays_is_not_taken(text, values, asked):
    (call,) = Asker().calls(text, [values], **asked)
    assert not JointCall.takes(call)


def test_tensors_in_parts_are_not_taken():
    values = Leaf(np.ones(2))
    sparse = Sparse(
        {"indices": Leaf(np.array([[0], [2]]), trainable=False), "values": values}, (3,)
    )
    ragged = Ragged({"values": values, "row_splits": Leaf(np.array([0, 1, 2]), trainable=False)})
    for part in sparse, ragged:
        for nested in part, [part], {"p": part}:
            (call,) = Asker().calls("sum(x)", [{"x": X[0], "s": nested}], kind="evaluate")
            assert not JointCall.takes(call)
