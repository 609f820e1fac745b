"""Each node has the value and the adjoint that a query of it alone gives, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.answer import Answer
from gradwire_engine.errors import DeadlineExceeded, DerivativeError, EngineError, OverBudget
from gradwire_engine.explain import Node, Nodes, explain, summaries
from programs import random_case
from replays import Programs

from tests.effort import share

MOST = 100_000
LOOP = "a = x\nb = 0*x\nfor i in range(5000):\n  a = sin(a)\n  b = b + a\n"


def leaves(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, Leaf) else Leaf(np.asarray(v)) for k, v in values.items()}


def nodes_of(text: str, values: dict[str, Any], vectors: Any = None, **asked: Any) -> Nodes:
    """The nodes of a program."""
    query = Query(**{"kind": "gradient", **asked})
    found = explain(Engine().parse(text), leaves(values), query, vectors).nodes(MOST)
    assert found is not None
    return found


def answer(text: str, values: dict[str, Any], vectors: Any = None, **asked: Any) -> Answer:
    """The answer to an exact query."""
    engine, query = Engine(), Query(**{"kind": "gradient", "exact": True, **asked})
    return engine.call(engine.parse(text), leaves(values), query, vectors).replay(lambda: None)


def refusal(ask: Callable[..., Any], *given: Any, **asked: Any) -> Any:
    """The error of what is asked, if there is one: its class, its message and its place."""
    try:
        ask(*given, **asked)
    except EngineError as error:
        return type(error), error.message, error.at
    return None


def named(found: Nodes) -> dict[str, Node]:
    """The nodes with names; of several with one name, as the program has bound it, the last."""
    return {node.name: node for node in found if node.name is not None}


def drawn() -> list[Any]:
    """Random programs, with loops, decisions, slices and special values among them."""
    plain = [random_case(30)(seed) for seed in range(share(40))]
    wild = [Programs(seed) for seed in range(share(60))]
    return [
        *[pytest.param(*case, id=f"plain {seed}") for seed, case in enumerate(plain)],
        *[pytest.param(d.text(), d.values(), id=f"wild {seed}") for seed, d in enumerate(wild)],
    ]


@pytest.fixture
def whole(monkeypatch):
    """Values are not summarised."""
    monkeypatch.setattr(summaries, "MOST_ELEMENTS", 10**9)


@pytest.mark.parametrize(("text", "values"), drawn())
def test_values_and_adjoints_are_those_of_queries_of_one_node(text, values, whole):
    error = refusal(answer, text, values)
    if error is not None:
        assert refusal(nodes_of, text, values, exact=True) == error
        return
    compared = 0
    nodes = named(nodes_of(text, values))
    every = answer(text, values, kind="evaluate", outputs=[*nodes]).value
    for (name, node), known in zip(nodes.items(), every, strict=True):
        alone = answer(text, values, sources=[name])
        shown: Any = node.value
        if any(notice.code == "rebound" for notice in alone.warnings) and node.op.name == "input":
            continue  # a variable whose name means something else at the end
        if name in alone.updates or not np.array_equal(known, shown, equal_nan=True):
            assert f"{name}[" in text, name  # its elements were assigned
            continue
        (expected,) = alone.gradients
        if node.adjoint is None and expected is not None:
            assert "while" in text or "for" in text, name  # a loop's last pass is between
            continue
        assert (node.adjoint is None) == (expected is None)
        if expected is not None:
            np.testing.assert_array_equal(node.adjoint, expected, strict=True)
            compared += 1
    assert compared


def test_every_node_follows_its_operands():
    for seed in range(share(20)):
        known: set[int] = set()
        for node in nodes_of(*random_case(40)(seed)):
            assert known.issuperset(node.operands)
            known.add(node.slot)


def test_sources_and_targets_are_marked():
    text, values = "h = x * w\ny = sum(h)", {"x": [1.0, 2.0], "w": 3.0}
    found = nodes_of(text, values, sources={"a": "x", "b": "h"}, target="y")
    assert {node.name for node in found if node.is_source} == {"x", "h"}
    assert {node.name for node in found if node.is_target} == {"y"}
    assert not any(node.is_source for node in nodes_of(text, values, kind="evaluate"))


def test_adjoints_are_weighted_by_output_gradients():
    text, values, weights = "h = sin(x)\nh * w", {"x": [0.5, 1.5], "w": 2.0}, np.array([1.0, -3.0])
    found = named(nodes_of(text, values, weights))
    for name in ("x", "h", "w"):
        expected = answer(text, values, weights, sources=name).gradients
        np.testing.assert_array_equal(found[name].adjoint, expected, strict=True)


@pytest.mark.parametrize(
    ("kind", "text"), [("jacobian", "h = x**3\nh[0] + h"), ("hessian", "h = x**3\nsum(h[0] + h)")]
)
def test_adjoints_of_matrices_are_those_of_the_targets_sum(kind, text):
    values = {"x": [0.5, 1.5]}
    found = named(nodes_of(text, values, kind=kind))
    expected = answer(text, values).gradients["x"]
    np.testing.assert_array_equal(found["x"].adjoint, expected, strict=True)


def test_an_evaluation_has_values_alone():
    found = nodes_of("n = k // 2\n[n, x * n]", {"x": 0.5, "k": np.int64(7)}, kind="evaluate")
    assert named(found)["n"].value == 3
    assert sum(node.is_target for node in found) == 2
    assert all(node.adjoint is None for node in found)


def test_a_loop_is_one_node_whose_results_follow_it():
    found = nodes_of(LOOP + "sum(b)", {"x": [1.0, 2.0]})
    (loop,) = [node for node in found if node.op.name == "loop"]
    assert loop.value is loop.adjoint is None
    result = named(found)["b"]
    assert result.operands == (loop.slot,)
    np.testing.assert_array_equal(result.adjoint, [1.0, 1.0])
    values = {"x": [1.0, 2.0]}
    expected = answer(LOOP + "sum(b)", values).gradients["x"]
    np.testing.assert_array_equal(named(found)["x"].adjoint, expected, strict=True)


def test_a_node_that_reaches_the_target_through_a_last_pass_has_no_adjoint():
    found = named(nodes_of(LOOP + "sum(b + a)", {"x": [1.0, 2.0]}))
    assert found["a"].adjoint is None
    assert found["b"].adjoint is not None
    assert found["x"].adjoint is not None


def test_where_a_derivative_is_known_in_the_sources_only_others_have_none():
    text, values = "w = jv(v, z) * v\nreal(w)", {"v": 0.5, "z": np.array(1 + 2j)}
    found = named(nodes_of(text, values, sources="z"))
    assert found["v"].adjoint is None
    np.testing.assert_array_equal(found["z"].adjoint, answer(text, values, sources="z").gradients)
    with pytest.raises(DerivativeError, match="operand that depends on the source"):
        nodes_of(text, values)


def test_many_elements_are_summarised():
    x = np.linspace(-1.0, 1.0, 1000)
    x[7] = np.nan
    found = named(nodes_of("h = 2*x\nsum(h)", {"x": x}))
    assert found["h"].value == summaries.Summary(-2.0, 2.0, 2 * float(np.nanmean(x)), 1)
    assert found["h"].adjoint == summaries.Summary(1.0, 1.0, 1.0, 0)


def test_a_program_of_too_many_nodes_has_no_graph():
    text = "\n".join(["y = x", *["y = y * w + sin(y)"] * 100, "y"])
    values = {"x": 0.5, "w": 1.1}
    explained = explain(Engine().parse(text), leaves(values), Query("gradient", exact=True))
    needed = explained.lengths["recorded"]
    whole = explained.nodes(MOST)
    assert whole is not None
    assert len(whole) == needed
    operands = sum(len(node.operands) for node in whole)
    assert explained.nodes(needed + operands) is not None
    assert explained.nodes(needed + operands - 1) is None


def test_values_that_take_too_much_memory_are_refused_with_the_place():
    text, size = "m = exp(outer(x, x))\nsum(m)", 400
    values = {"x": np.ones(size)}
    tight = Limits(total_bytes=100 * size)
    program = Engine().parse(text)
    explained = explain(program, leaves(values), Query("gradient"))
    loose = explained.nodes(MOST)
    assert loose is not None
    with pytest.raises(OverBudget, match="bytes at once"):
        explain(program, leaves(values), Query("gradient", exact=True), limits=tight).nodes(MOST)


def test_the_deadline_ends_the_drawing():
    class Poll:
        over = False

        def __call__(self) -> None:
            if self.over:
                raise DeadlineExceeded("the time is up")

    poll = Poll()
    program = Engine().parse("sum(sin(x))")
    explained = explain(program, leaves({"x": [1.0]}), Query("gradient"), poll=poll)
    poll.over = True
    with pytest.raises(DeadlineExceeded):
        explained.nodes(MOST)
