"""Resident variables: what depends on them alone is computed once, and answers stay the same."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Limits, Query
from gradwire_engine.backends.staged import StagedExecutable
from gradwire_engine.errors import DeadlineExceeded, DomainError
from gradwire_engine.nesting import leaves
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(30)
X, Y, W = RNG.normal(size=(40, 5)), np.sign(RNG.normal(size=40)), RNG.normal(size=5)
POINTS = RNG.normal(size=(20, 3))
K = np.exp(-((POINTS[:, None] - POINTS) ** 2).sum(-1)) + np.eye(20)
LOGISTIC = "z = X @ w\nmean(log1p(exp(-Y * z)))"
RIDGE = "w @ (X.T @ X) @ w - 2 * (X.T @ Y) @ w"
PROCESS = "L = cholesky(K)\na = solve_triangular(L, w, lower=True)\nsum(a * a) + sum(log(diag(L)))"
LOOP = "s = w\nfor i in range(30):\n    s = tanh(s + X[i] * X[0])\nsum(s)"


def go_on() -> None:
    """No deadline."""


class Resident:
    """An engine that is asked with some variables resident, each under the digest of its name."""

    def __init__(self, *names: str, engine: Engine | None = None) -> None:
        self.engine = engine or Engine()
        self.names = names

    def call(self, text: str, values: Mapping[str, Any], **asked: Any) -> Any:
        given = {
            name: Leaf(np.asarray(x), resident=name if name in self.names else None)
            for name, x in values.items()
        }
        query = Query(**{"kind": "gradient", **asked})
        return self.engine.call(self.engine.parse(text), given, query)

    def answer(self, text: str, values: Mapping[str, Any], **asked: Any) -> Any:
        return self.call(text, values, **asked).replay(go_on)

    def again(self, text: str, values: Mapping[str, Any], **asked: Any) -> Any:
        """The call by which residents come a second time, replayed."""
        self.answer(text, values, **asked)
        call = self.call(text, values, **asked)
        call.replay(go_on)
        return call

    def parts(self, text: str, values: Mapping[str, Any], **asked: Any) -> StagedExecutable | None:
        """The executable from the second call on."""
        (found,) = self.again(text, values, **asked).entry.paths[0].tiers.staged.values()
        return found

    def computed(self, text: str, values: Mapping[str, Any], **asked: Any) -> list[str]:
        """The operations of a later call."""
        parts = self.parts(text, values, **asked)
        assert parts is not None
        made = parts.residual.tape.instructions
        return [i.op.name for i in made if i.op.name not in ("input", "constant")]


def kept(call: Any) -> list[Any]:
    """All arrays that are kept for calls of this key."""
    every = call.entry.residents._specialised.values()
    return [array for specialised, _ in every for array in specialised._kept or ()]


def same(one: Answer, other: Answer) -> None:
    for x, y in zip(arrays(one), arrays(other), strict=True):
        assert_allclose(x, y, rtol=1e-11, atol=1e-13)


def arrays(answer: Answer) -> list[Any]:
    """All that is answered."""
    every = leaves([answer.value, answer.derivatives, answer.updates])
    return [x for x in every if x is not None]


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        (LOGISTIC, {"X": X, "Y": Y, "w": W}, ["X", "Y"]),
        (RIDGE, {"X": X, "Y": Y, "w": W}, ["X", "Y"]),
        (PROCESS, {"K": K, "w": K[0]}, ["K"]),
        ("w = w * 2\nX @ w if sum(X) > 0 else -X @ w", {"X": X, "w": W}, ["X"]),
        ("Y.assign_add(Y * w[0])\nsum(Y**2) * w[1]", {"Y": Y, "w": W}, ["Y"]),
        ("sum(random.normal(k, (5,)) * w)", {"k": np.array([0, 7], np.uint32), "w": W}, ["k"]),
        ("sum(random.normal(k, (5,)) * w)", {"k": np.array([0, 7], np.uint32), "w": W}, ["w"]),
        (
            "s = w\nfor i in range(30):\n    s = tanh(s + X[i] * X[0])\nsum(s)",
            {"X": X, "w": W},
            ["X"],
        ),
        (
            "s = w\nfor x in sort(X, axis=0):\n    s = 0.9 * s + x * s\nsum(s)",
            {"X": X, "w": W},
            ["X"],
        ),
        ("one_hot(astype(Y > 0, 'int64'), 2).T @ X @ w", {"X": X, "Y": Y, "w": W}, ["X", "Y"]),
    ],
)
@pytest.mark.parametrize("asked", [{}, {"exact": True}, {"kind": "evaluate"}, {"sources": ["w"]}])
def test_answers_are_those_without_residents(text, values, names, asked):
    plain, resident = Resident(), Resident(*names)
    for turn in range(3):
        now = {name: x if name in names else x * (1 + turn) for name, x in values.items()}
        now = {name: x.astype(values[name].dtype) for name, x in now.items()}
        one, other = (asker.answer(text, now, **asked) for asker in (plain, resident))
        if asked.get("exact"):
            for x, y in zip(arrays(one), arrays(other), strict=True):
                assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
        else:
            same(one, other)


def test_a_product_of_residents_is_made_once_where_that_is_less():
    tall, wide = RNG.normal(size=(40, 5)), RNG.normal(size=(5, 400))
    asker = Resident("X")
    assert asker.computed("X.T @ X @ w", {"X": tall, "w": W}, kind="evaluate") == ["contract"]
    assert asker.parts("X.T @ X @ w", {"X": wide, "w": wide[0]}, kind="evaluate") is None


def test_no_product_of_residents_is_made_that_is_not_written():
    values = {"X": X, "Y": Y, "w": W}
    for text in ("sum((X @ w - Y)**2)", "sum((X @ w)**2)"):
        call = Resident("X", "Y").again(text, values, sources="w")
        (parts,) = call.entry.paths[0].tiers.staged.values()
        tapes = [parts.static.tape, parts.residual.tape] if parts else []
        assert (5, 5) not in [i.type.shape for tape in tapes for i in tape.instructions]


def test_only_what_depends_on_more_is_computed_again():
    values = {"X": X, "Y": Y, "w": W}
    ridge = Resident("X", "Y").computed(RIDGE, values, sources="w")
    assert set(ridge) <= {"contract", "add", "subtract"}
    process = Resident("K").computed(PROCESS, {"K": K, "w": K[0]}, sources="w")
    assert {"cholesky", "log"}.isdisjoint(process)


def test_a_guard_of_residents_is_looked_at_once():
    text = "w * 2 if sum(X) > 1e9 else w * 3"
    parts = Resident("X").parts(text, {"X": X, "w": W})
    assert parts is not None
    ops = [[i.op.name for i in x.tape.instructions] for x in (parts.static, parts.residual)]
    assert ["guard" in names for names in ops] == [True, False]
    assert parts.kept_bytes == 0


def test_where_replays_alone_stop_being_finite_is_told():
    """The recording exceeds the limits: then the place is that of the replay."""
    asker = Resident("x", engine=Engine(Limits(total_bytes=200_000)))
    values = {"x": np.linspace(0, 1, 100), "a": 2.0}
    for _ in range(2):
        answer = asker.answer("sum(a * x * log(x))", values, kind="hessian", sources="x")
        assert answer.nonfinite["forward"].node.line == 1


def test_without_guards_nothing_is_kept_apart():
    values = {"X": X, "w": W}
    call = Resident("X").call("exp(X) @ w if w[0] < 9 else X @ w", values, kind="evaluate")
    expected = call.replay(go_on).value
    unguarded = call.entry.paths[0].tiers.unguarded(go_on)
    (found,) = unguarded.replay(call.arguments.inputs, go_on).outputs
    assert_allclose(found, expected)


def test_the_gradient_in_a_resident_itself():
    values = {"X": X, "Y": Y, "w": W}
    for text in (LOGISTIC, RIDGE, "sum(X**3)"):
        given = {name: values[name] for name in values if name in text}
        plain = Resident().answer(text, given)
        same(Resident(*given).answer(text, given), plain)
        same(Resident("X").answer(text, given), plain)


def test_what_is_kept_cannot_be_written_to():
    asker = Resident("X")
    answer = [asker.answer("exp(X)", {"X": X}, kind="evaluate") for _ in range(2)][1]
    with pytest.raises(ValueError, match="read-only"):
        answer.value[0] = 1
    assert X.flags.writeable


@pytest.mark.thorough
def test_a_view_of_a_resident_does_not_hold_it():
    asker = Resident("X")
    held = RNG.normal(size=(50, 50))
    gone = weakref.ref(held)
    call = asker.again("(X.T @ w, cumsum(X.T)[0])", {"X": held, "w": np.ones(50)}, kind="evaluate")
    assert kept(call)
    del call, held
    gc.collect()
    assert gone() is None


def test_no_more_is_kept_than_is_allowed():
    text = "A = exp(X)\nB = exp(sum(A, axis=0))\nsum(A @ w) + sum(B * w)"
    values = {"X": X, "w": W}
    expected = Resident().answer(text, values)
    for most, is_parted in ((0, False), (W.nbytes, True), (1 << 20, True)):
        asker = Resident("X", engine=Engine(Limits(kept_bytes=most)))
        call = asker.again(text, values, sources="w")
        (parts,) = call.entry.paths[0].tiers.staged.values()
        assert (parts is not None) is is_parted
        assert sum(x.nbytes for x in kept(call)) <= most
        for _ in range(2):
            same(asker.answer(text, values), expected)


def test_parts_that_need_more_than_is_allowed_are_not_replayed():
    """To be kept, the product is made; else it is not needed, and less arithmetic is."""
    text, values = "X.T @ X @ w", {"X": X, "w": W}
    call = Resident().again(text, values, kind="evaluate")
    enough = Limits(flops=call.entry.paths[0].executable.flops)
    for limits, is_parted in ((enough, False), (Limits(), True)):
        asker = Resident("X", engine=Engine(limits))
        parts = asker.parts(text, values, kind="evaluate")
        assert (parts is not None) is is_parted
        assert_allclose(asker.answer(text, values, kind="evaluate").value, call.replay(go_on).value)


def test_of_what_only_grows_the_small_operand_is_kept():
    values, counts = {"x": RNG.normal(size=600), "a": 0.5}, []
    for text in ("r = exp(x)\nexp(a * (r[:, None] - r))", "exp(a * exp(x[:, None] - x))"):
        call = Resident("x").again(text, values, kind="evaluate")
        counts.append([x.size for x in kept(call)])
    assert counts == [[600], [600 * 600]]


def test_threads_that_come_at_once_compute_it_once():
    asker = Resident("X")
    values = {"X": RNG.normal(size=(300, 300))}
    asker.answer("inv(X)", values, kind="evaluate")
    calls = [asker.call("inv(X)", values, kind="evaluate") for _ in range(8)]
    calls[0].compile(go_on)
    start = threading.Barrier(8)

    def asked(k: int) -> Any:
        start.wait()
        return calls[k].replay(go_on).value

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(asked, range(8))
    assert all(np.shares_memory(first, other) for other in others)


def test_what_is_to_be_computed_once_is_predicted_until_it_is():
    asker = Resident("K")
    large = np.eye(300) + 0.001
    asker.answer(PROCESS, {"K": large, "w": large[0]}, sources="w")
    call = asker.call(PROCESS, {"K": large, "w": large[0]}, sources="w")
    assert not call.compiled
    call.compile(go_on)
    assert call.compiled
    before = call.seconds
    call.replay(go_on)
    later = asker.call(PROCESS, {"K": large, "w": large[0]}, sources="w")
    assert later.compiled
    assert later.seconds < before / 10


def test_an_interrupted_stage_is_computed_anew():
    asker, values = Resident("K"), {"K": np.eye(300) + 0.001, "w": np.ones(300)}
    asker.answer(PROCESS, values, sources="w")
    late = asker.call(PROCESS, values, sources="w")
    late.compile(go_on)

    def stop() -> None:
        raise DeadlineExceeded("the time is up")

    for _ in range(2):
        with pytest.raises(DeadlineExceeded):
            late.replay(stop)
    same(late.replay(go_on), Resident().answer(PROCESS, values, sources="w"))


SINGULAR = "r = w * 2\ns = inv(X.T @ X)\nsum(s @ r)"


@pytest.mark.parametrize("exact", [False, True])
def test_an_error_in_what_is_computed_once_has_its_place(exact):
    asker, values = Resident("X"), {"X": np.zeros((4, 5)), "w": W}
    for _ in range(3):
        with pytest.raises(DomainError) as caught:
            asker.answer(SINGULAR, values, exact=exact)
        assert caught.value.at is not None
        assert caught.value.at.line == 2


def test_what_fails_behind_a_decision_fails_only_there():
    text = "r = w * 2\nif a > 0:\n    s = inv(X)\n    r = s @ r\nsum(r)"
    asker = Resident("X")
    values = {"X": np.zeros((5, 5)), "w": W}
    for a in (1.0, -1.0, 1.0, -1.0, 1.0, -1.0):
        if a > 0:
            with pytest.raises(DomainError):
                asker.answer(text, values | {"a": a}, sources="w")
        else:
            answer = asker.answer(text, values | {"a": a}, sources="w")
            assert_array_equal(answer.gradients, 2 * np.ones(5))


def test_what_is_not_finite_has_its_place():
    text = "r = w * 2\ns = log(X)\nsum(s @ r)"
    for exact in (False, True):
        expected = Resident().answer(text, {"X": -abs(X), "w": W}, exact=exact).nonfinite
        asker = Resident("X")
        for _ in range(3):
            found = asker.answer(text, {"X": -abs(X), "w": W}, exact=exact).nonfinite
            assert found == expected
            assert found["forward"].node.line == 2


def test_residents_in_a_batch_are_computed_once():
    asker = Resident("X")
    values = {"X": X, "w": RNG.normal(size=(7, 5))}
    found = asker.computed("X.T @ X @ w", values, kind="evaluate", batch={"w": 0})
    assert found.count("contract") == 1
    same(
        asker.answer("X.T @ X @ w", values, batch={"w": 0}),
        Resident().answer("X.T @ X @ w", values, batch={"w": 0}),
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_examples_may_be_resident(axis):
    text = "y = exp(x) * (x if sum(x) > 0 else -2 * x)\nsum(y) * sum(w)"
    values = {"x": X if axis == 0 else X.T, "w": W}
    asker, plain = Resident("x"), Resident()
    for turn in range(3):
        now = values | {"w": W + turn}
        same(asker.answer(text, now, batch={"x": axis}), plain.answer(text, now, batch={"x": axis}))
    assert "exp" not in asker.computed(text, values, batch={"x": axis}, sources="w")


def test_examples_that_are_answered_alone_are_not_taken_for_all():
    """If one example fails, all are answered one by one."""
    text = "sum(inv(x) @ w) if w[0] > 0 else sum(x @ w)"
    stacks = RNG.normal(size=(4, 3, 3))
    stacks[1] = 0
    w = np.array([[1.0, 2, 3], [-1, 2, 3], [2, 2, 3], [-1, 2, 4]])
    values, batch = {"x": stacks, "w": w}, {"x": 0, "w": 0}
    expected = Resident().answer(text, values, batch=batch)
    asker = Resident("x")
    for _ in range(3):
        same(asker.answer(text, values, batch=batch), expected)


def test_recordings_take_resident_variables():
    engine = Engine()
    variables = {"X": Leaf(X, resident="X"), "w": Leaf(W)}
    recording = engine.recording(engine.parse("sum(exp(X) @ w)"), variables)
    recording.run(go_on)
    found = recording.call(Query("gradient", sources=["w", "X"])).replay(go_on)
    expected = Resident().answer("sum(exp(X) @ w)", {"X": X, "w": W}, sources=["w", "X"])
    same(found, expected)
