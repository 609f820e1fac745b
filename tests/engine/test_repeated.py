"""A request that is repeated has the same answer: within rounding, or bit for bit where exact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.nesting import leaves
from gradwire_engine.queries import JointCall
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine import test_random_programs
from tests.engine.conftest import called
from tests.engine.test_replays import (
    ASKED,
    MOST_ROUNDINGS,
    SEEDS,
    SHAPES,
    compiled,
    distance,
    go_on,
    inputs_of,
    programs,
    uncertain,
    values_of,
    walked,
)

#: What nobody says of a query here.
PLAIN: dict[str, Any] = {"unconnected": "zero"}


def repeated(text: str, variables: dict[str, Any], query: Query) -> Iterator[list[Any]]:
    """The arrays of all answers that one request may have: first and later, alone and together.

    The last are those of an engine that knows the tensors, and computes beforehand with them.
    """
    given = {name: Leaf(np.asarray(x)) for name, x in variables.items()}
    resident = {name: Leaf(np.asarray(x), resident=name) for name, x in variables.items()}
    for engine, values in (Engine(), given), (Engine(), resident):
        calls = [engine.call(engine.parse(text), values, query) for _ in range(4)]
        for call in calls:
            yield arrays(call.replay(go_on))
        if JointCall.takes(calls[0]):
            for answer in JointCall(calls[:3]).answers(go_on):
                if answer is not None:
                    yield arrays(answer)


def arrays(answer: Any) -> list[Any]:
    found = leaves([answer.value, answer.outputs, answer.derivatives])
    return [np.asarray(x) for x in found if x is not None]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [kind for kind in ASKED if kind != "batch"])
@examples(25)
@given(text=programs(), seed=SEEDS)
def test_two_answers_differ_by_no_more_than_is_promised(kind, text, seed):
    query, asked = ASKED[kind]
    values = values_of(seed)
    made, tape = compiled(text, query, values, **asked)
    inputs = inputs_of(values)
    expected = walked(tape, inputs)
    unsure = uncertain(tape, inputs, expected, seed)
    exact, d = (arrays(made.answer(outputs)) for outputs in (expected, unsure))
    variables = dict(zip(SHAPES, values, strict=True))
    found = [*repeated(text, variables, Query(query, **PLAIN, **asked)), exact]
    for number, one in enumerate(found):
        for other in found[:number]:
            for x, y, z, off in zip(one, other, exact, d, strict=True):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                most = 1e-12 * np.max(np.abs(z), initial=0) + MOST_ROUNDINGS * np.max(off)
                assert distance(x, y) <= most


#: Sums of products, with what adds up as many numbers that have the same size: the bound of each
#: element is its last places, once for each of them.
SUMS = {
    "sum(x)": ("sum(abs(x))", lambda rows, columns: rows * columns),
    "mean(x)": ("mean(abs(x))", lambda rows, columns: rows * columns + 1),
    "sum(x, axis=0)": ("sum(abs(x), axis=0)", lambda rows, _: rows),
    "sum(x, axis=1)": ("sum(abs(x), axis=1)", lambda _, columns: columns),
    "x @ y": ("abs(x) @ abs(y)", lambda _, columns: columns),
    "x.T @ x": ("abs(x).T @ abs(x)", lambda rows, _: rows),
    "sum(x * x)": ("sum(x * x)", lambda rows, columns: rows * columns + 1),
    "sum(x * y, axis=1)": ("abs(x) @ abs(y)", lambda _, columns: columns),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("text", SUMS)
@examples(30)
@given(rows=st.integers(1, 40), columns=st.integers(1, 700), seed=SEEDS)
def test_sums_differ_by_their_terms_last_places(text, dtype, rows, columns, seed):
    """``n ε Σ|x|``.  Source: Higham, Accuracy and Stability of Numerical Algorithms, 4.2, 3.1."""
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-6, 6, (rows, columns))).astype(
        dtype
    )
    variables = {"x": x, "y": rng.normal(size=columns).astype(dtype)}
    size, count = SUMS[text]
    wide = {name: Leaf(value.astype(np.float64)) for name, value in variables.items()}
    engine = Engine()
    total = called(engine, size, wide, "evaluate").replay(go_on).value
    most = count(rows, columns) * np.finfo(dtype).eps * np.asarray(total)
    found = [one[0].astype(np.float64) for one in repeated(text, variables, Query("evaluate"))]
    assert all(np.all(np.abs(one - other) <= most) for one in found for other in found)


@pytest.mark.thorough
@examples(60)
@given(test_random_programs.scripts(), SEEDS)
def test_an_exact_answer_does_not_hang_on_what_was_asked_before(text, seed):
    """Other values take other paths, which are recorded first."""
    rng = np.random.default_rng(seed)
    points = [test_random_programs.VALUES]
    points += [test_random_programs.values_of(rng) for _ in range(4)]
    used = Engine()
    for point in [*points, *points]:
        fresh, later = (
            test_random_programs.gradients(text, point, engine=engine, exact=True)
            for engine in (Engine(), used)
        )
        assert fresh.tobytes() == later.tobytes()
