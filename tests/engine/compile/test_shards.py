"""Queries of shards: which are answered, what they are compiled for, and what they name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query, Shard, Sparse
from gradwire_engine.errors import EngineError, InputError, OverBudget, ShardingError
from numpy.testing import assert_allclose

X = np.arange(6.0).reshape(3, 2)
PROGRAM = "mean(tanh(X @ w)) + sum(w**2)"


def variables(**others: Any) -> dict[str, Any]:
    return {"X": Leaf(X), "w": Leaf(np.array([0.5, -0.25])), **others}


def ask(query: Query, values: Any = None, vectors: Any = None, engine: Engine | None = None) -> Any:
    engine = engine or Engine()
    program = engine.parse(PROGRAM)
    return engine.call(program, values or variables(), query, vectors).replay(lambda: None)


REFUSED: dict[str, dict[str, Any]] = {
    "a check": {"kind": "check", "sources": "w"},
    "coordinates": {"kind": "hessian", "sources": "w", "format": "coo"},
    "slices": {"kind": "gradient", "sources": "w", "slices": "summed"},
    "a batch": {"kind": "gradient", "sources": "w", "batch": {"X": 0}},
}


@pytest.mark.parametrize("name", REFUSED)
def test_answers_that_do_not_add_up(name):
    with pytest.raises(InputError, match="do not add up over shards") as caught:
        ask(Query(**REFUSED[name], shard=Shard(("X",), 9)))
    assert caught.value.at is not None
    assert caught.value.at.pointer == "/shard"


def test_a_recording_has_no_shards():
    engine = Engine()
    recording = engine.recording(engine.parse(PROGRAM), variables())
    recording.compile(lambda: None)
    recording.run(lambda: None)
    with pytest.raises(InputError, match="recorded without shards"):
        recording.call(Query("gradient", sources="w", shard=Shard(("X",), 9)))


SHARDS: dict[str, tuple[Shard, str]] = {
    "unknown": (Shard(("Y",), 9), "no variable of this name"),
    "nothing": (Shard((), 9), "no variable is named"),
    "a number": (Shard(("b",), 9), "no array with an axis of rows"),
    "a string": (Shard(("name",), 9), "no array with an axis of rows"),
    "a sparse tensor": (Shard(("S",), 9), "no array with an axis of rows"),
    "other lengths": (Shard(("X", "y"), 9), "the numbers of rows differ: X 3, y 2"),
    "too many": (Shard(("X",), 2), "a shard has 3 of 2 rows"),
    "no rows": (Shard(("empty",), 0), "a shard has 0 of 0 rows"),
}


@pytest.mark.parametrize("name", SHARDS)
def test_what_is_divided(name):
    shard, message = SHARDS[name]
    parts = {"indices": Leaf(np.array([[0, 0]])), "values": Leaf(np.array([1.0]))}
    others = {
        "b": Leaf(np.array(1.0)),
        "name": Leaf("x"),
        "y": Leaf(np.ones(2)),
        "empty": Leaf(np.ones(0)),
        "S": Sparse(parts, (3, 3)),
    }
    with pytest.raises(InputError, match=message) as caught:
        ask(Query("evaluate", shard=shard), variables(**others))
    assert str(caught.value.at and caught.value.at.pointer).startswith("/shard")


def test_all_variables_are_sources_but_for_those_that_are_divided():
    query = Query("gradient", shard=Shard(("X",), 9))
    with pytest.raises(ShardingError, match="derivatives in X are of one shard each"):
        ask(query)
    found = ask(query, {**variables(), "X": Leaf(X, trainable=False)})
    assert found.gradients["X"] is None
    assert found.gradients["w"].shape == (2,)


@pytest.mark.parametrize("own", [1, 0])
def test_a_single_row_is_not_divided(own):
    shard = Shard(("X",), 1, first=own == 0)
    values = variables(X=Leaf(X[:own]))
    found = ask(Query("gradient", sources="w", unconnected="zero", shard=shard), values)
    slope = 1 - np.tanh(X[0] @ [0.5, -0.25]) ** 2
    assert_allclose(found.gradients, own * (slope * X[0] + [1, -0.5]))
    with pytest.raises(ShardingError, match="derivatives in X"):
        ask(Query("gradient", sources=["X", "w"], shard=shard), values)


def test_shards_are_compiled_apart():
    engine, of = Engine(), ("X",)
    shards = [None, Shard(of, 3), Shard(of, 3, first=True), Shard(of, 9), Shard(of, 9, first=True)]
    values = [float(ask(Query("evaluate", shard=s), engine=engine).value) for s in shards]
    means, squares = np.tanh(X @ [0.5, -0.25]).sum(), 0.5**2 + 0.25**2
    expected = [means / 3 + squares, means / 3, means / 3 + squares, means / 9, means / 9 + squares]
    assert_allclose(values, expected)


def test_promotion_and_exactness_are_kept():
    shard = Shard(("X",), 9, first=True)
    found = [ask(Query("evaluate", shard=shard, exact=exact)).value for exact in (False, True)]
    assert_allclose(found[0], found[1], rtol=1e-14)
    single = variables() | {"X": Leaf(X.astype(np.float32))}
    with pytest.raises(EngineError, match="float32"):
        ask(Query("evaluate", shard=shard, promotion="strict"), single)


RESIDUALS = "r = tanh(X @ w)\nc = sum(r)\nk = 2*w\nr"


def residuals(**query: Any) -> Any:
    engine = Engine()
    shard = Shard(("X",), 9, query.pop("first", True), residuals=True)
    vectors = query.pop("vectors", None)
    asked = Query(**query, shard=shard)
    call = engine.call(engine.parse(RESIDUALS), variables(), asked, vectors)
    return call.replay(lambda: None)


def test_residuals_are_the_rows_of_a_shard():
    found = residuals(kind="evaluate", outputs=["r", "k"])
    assert_allclose(found.value[0], np.tanh(X @ [0.5, -0.25]))
    assert_allclose(found.value[1], [1, -0.5])
    found = residuals(kind="evaluate", outputs=["r", "k"], first=False)
    assert_allclose(found.value[1], [0, 0])


@pytest.mark.parametrize("kind", ["gradient", "jacobian", "hessian", "hvp"])
def test_derivatives_of_residuals_are_products(kind):
    with pytest.raises(InputError, match="derivatives of residuals are products") as caught:
        residuals(kind=kind, target="r", sources="w")
    assert "jvp" in str(caught.value.hint)


def test_residuals_are_no_sums():
    with pytest.raises(ShardingError, match="along the first axis") as caught:
        residuals(kind="evaluate", outputs="c")
    assert caught.value.at is not None
    assert (caught.value.at.line, caught.value.at.column) == (2, 5)


def test_rows_that_recur_are_residents():
    engine, shard = Engine(), Shard(("X",), 9)
    program = engine.parse("mean(exp(X) @ w)")
    for k in range(6):
        w = np.array([0.5, k])
        values = {"X": Leaf(X, resident="sha256:rows"), "w": Leaf(w)}
        call = engine.call(program, values, Query("gradient", sources="w", shard=shard))
        found = call.replay(lambda: None)
        assert_allclose(found.value, (np.exp(X) @ w).sum() / 9)
        assert_allclose(found.gradients, np.exp(X).sum(0) / 9)


def test_many_replays_go_through_all_tiers():
    engine, shard = Engine(), Shard(("X",), 9, first=True)
    for k in range(60):
        w = np.array([0.5, k / 10])
        found = ask(Query("gradient", sources="w", shard=shard), variables(w=Leaf(w)), None, engine)
        slope = 1 - np.tanh(X @ w) ** 2
        assert_allclose(found.gradients, X.T @ slope / 9 + 2 * w, rtol=1e-12)


def test_a_value_that_is_not_finite_has_its_place():
    values = variables(w=Leaf(np.array([np.inf, 1.0])))
    found = ask(Query("evaluate", shard=Shard(("X",), 9, first=True)), values)
    assert not np.isfinite(found.value)
    assert found.nonfinite["forward"].node.line is None  # the variable w itself
    values = variables(w=Leaf(np.array([1e200, 1.0])))
    found = ask(Query("evaluate", shard=Shard(("X",), 9, first=True)), values)
    assert found.nonfinite["forward"].instruction == "power"


def test_a_shard_may_have_as_many_instructions_as_the_whole():
    lines = "\n".join(["h = X @ w", *["h = sin(h)"] * 300, "mean(h)"])
    engine = Engine(Limits(instructions=1000))
    program = engine.parse(lines)
    for shard in (None, Shard(("X",), 9)):
        query = Query("gradient", sources="w", shard=shard, exact=True)
        engine.call(program, variables(), query).replay(lambda: None)


def test_limits_are_of_the_shard():
    engine = Engine(Limits(array_bytes=1000, total_bytes=10_000))
    found = ask(Query("evaluate", shard=Shard(("X",), 10**9)), engine=engine)
    assert_allclose(found.value, np.tanh(X @ [0.5, -0.25]).sum() / 10**9)
    large = variables(X=Leaf(np.ones((200, 2))))
    with pytest.raises(OverBudget):
        ask(Query("evaluate", shard=Shard(("X",), 10**9)), large, engine=engine)
