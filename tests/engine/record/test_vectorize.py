"""Expressions of one structure as one: they give what each gives by itself."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.errors import EngineError
from gradwire_engine.tape import ArrayType, Type

from tests import effort
from tests.engine.rolled import VALUES, agree, answer, same, tapes

WRITTEN = {
    "a list": "sum(stack([sin(x[i]) * a - x[i + 1]**2 for i in range(30)]))",
    "terms": " + ".join(f"sin(x[{i}]) * a - x[{i + 1}]**2" for i in range(30)),
    "differences": "a" + "".join(f" - exp(-x[{i}])" for i in range(30)),
    "a loop": "s = 0\nfor i in range(30):\n  s = s + 2*a*(x[i + 1] - x[i]**2)**2\ns",
    "constants": "sum(stack([tanh(x[3] * c) for c in [0.1, 0.2, 0.5, 0.3, 0.7, 0.9, 1.5, 2.5]]))",
    "any order": "sum(stack([x[i] * x[n[i]] for i in [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]]))",
    "backwards": "sum(stack([x[9 - i] ** 3 for i in range(10)]))",
    "from the end": "sum(stack([x[-1 - i] ** 3 for i in range(10)]))",
    "rows": "sum(stack([m[i] * x[i] for i in range(12)])**2)",
    "columns": "sum(stack([m[:, j] * m[1, j] for j in [0, 1, 2, 3, 4, 0, 2, 4]], 1)**2)",
    "a table": "sum(array([[m[i, j] * x[i + j] for j in range(5)] for i in range(12)])**2)",
    "elements of rows": "sum(stack([m[i][i % 5] * exp(m[i, 2]) for i in range(12)]))",
    "products": "sum(stack([m[i] @ m[i + 1] for i in range(11)]))",
    "joined": "sum(concatenate([m[i, 1:3] * a for i in range(12)]) * x[:24])",
    "joined columns": "sum(concatenate([m[i:i+1].T * a for i in range(12)], 1)[2] * x[:12])",
    "integers": "sum(stack([x[n[i]] * n[i + 1] for i in range(20)]))",
    "shared": "sum(stack([exp(a) for i in range(10)])) * x[0]",
    "a shared term": "x[0] + a*a + a*a + a*a + a*a + a*a + a*a + a*a + a*a",
    "two kinds": "sum(stack([exp(x[i]) if i < 10 else sin(x[i]) for i in range(25)]))",
    "one apart": "sum(stack([exp(x[i]) if i != 10 else sin(x[i]) for i in range(25)]))",
    "a few first": "sum(stack([a, x[2]] + [x[i]**2 for i in range(9)] + [a*a]) * x[:12])",
    "sums of sums": "sum(stack([sum([m[i, j] * a for j in range(5)]) ** 2 for i in range(12)]))",
    "sums in terms": " + ".join(
        "(" + " + ".join(f"m[{i}, {j % 5}]*x[{j}]" for j in range(9)) + ")**2" for i in range(9)
    ),
    "recursive": "y = [x[0]]\nfor i in range(12):\n  y = y + [tanh(y[-1]) * x[i]]\nsum(stack(y))",
    "arrays in terms": " + ".join(f"sum(m * x[{i}])" for i in range(9)),
    "arrays added": "sum((" + " + ".join(f"m * x[{i}]" for i in range(9)) + ")**2)",
    "scalars to arrays": "sum((m + " + " + ".join(f"x[{i}]" for i in range(9)) + ")**2)",
    "stopped": "sum(stack([stop_gradient(x[i]) * x[i + 1] for i in range(9)]))",
    "branches": "sum(stack([where(x[i] > 1, x[i]**2, a*x[i]) for i in range(20)]))",
    "decisions": "s = a\nfor i in range(12):\n  s = s + (x[i]**2 if x[i] > 1 else a*x[i])\ns",
    "slices": "sum(stack([m[i, 1:4] @ x[i + 2:i + 5] for i in range(10)]))",
    "slices of slices": "sum(stack([sum(m[i:i + 3][1, i % 3:i % 3 + 2]) for i in range(9)]))",
    "patches": "sum(stack([sum(m[i:i + 3, i % 3:i % 3 + 3] * a) for i in range(9)]))",
    "steps": "sum(stack([sum(x[i:i + 9:3] ** 2) for i in range(9)]))",
    "within a gradient": "y = stack([x[i]**3 for i in range(9)])\nsum(grad(sum(y**2), x)**2)",
    "maxima": "sum(stack([max(m[i]) + sort(m[i])[1] for i in range(12)]))",
    "solved": "sum(stack([solve(m[i:i + 2, :2] + eye(2), x[i:i + 2]) for i in range(9)]))",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_each_expression_gives_what_it_gives_by_itself(text: str):
    agree(text)


@pytest.mark.parametrize("name", ["a list", "terms", "a loop", "a table", "sums in terms"])
def test_the_tape_does_not_grow_with_the_number_of_expressions(name: str):
    seen = tapes(WRITTEN[name])
    assert len(seen["recorded"].instructions) > 150
    assert len(seen["compacted"].instructions) < 45


def test_values_are_those_of_python():
    terms = [f"sin(x[{i}]) * {i + 0.5} - x[{(7 * i) % 30}]**2 / x[{i + 1}]" for i in range(25)]
    found = answer(f"sum(stack([{', '.join(terms)}]))")
    expected = math.fsum(eval(term, {"sin": math.sin, "x": VALUES["x"]}) for term in terms)
    assert found.value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("dtype", ["int8", "int32", "bool", "float16", "bfloat16", "float32"])
def test_sums_keep_their_dtype(dtype: str):
    x = (np.arange(20) % 3).astype(dtype)
    text = " + ".join(f"x[{i}]" for i in range(20))
    found = answer(text, {"x": x}, kind="evaluate", sources=None).value
    expected = answer(text, {"x": x}, kind="evaluate", sources=None, exact=True).value
    assert found.dtype == expected.dtype
    assert found == expected


def is_scalar(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and not kind.shape


def test_powers_keep_their_constant_exponents():
    """Each is a few products; with exponents in an array all would be powers of floats."""
    made = tapes("sum(stack([sum(m[0] * x[0] ** k) for k in range(9)]))")["compacted"]
    exponents = [i.args[1] for i in made.instructions if i.op.name == "power"]
    assert all(is_scalar(made.instructions[slot].type) for slot in exponents)


def test_intermediate_values_may_be_sources():
    text = "y = x * 2\nz = stack([y[i]**2 for i in range(9)])\nw = sum(z) + z[3]\nw * w"
    for sources in (["y"], ["z"], ["w"], {"all": ["x", "y", "z", "w"]}):
        found = answer(text, sources=sources)
        expected = answer(text, sources=sources, exact=True)
        same(found.gradients, expected.gradients)


def test_a_source_within_one_of_the_expressions_keeps_its_gradient():
    text = "\n".join(f"y{i} = x[{i}]**2" for i in range(9))
    text += "\nsum(stack([" + ", ".join(f"sin(y{i})" for i in range(9)) + "]))"
    found = answer(text, sources={"y3": "y3", "x": "x"})
    squares = VALUES["x"] ** 2
    np.testing.assert_allclose(found.gradients["y3"], np.cos(squares[3]), rtol=1e-13)
    expected = np.where(np.arange(40) < 9, np.cos(squares) * 2 * VALUES["x"], 0)
    np.testing.assert_allclose(found.gradients["x"], expected, rtol=1e-13, atol=1e-15)


def test_other_outputs_are_of_the_same_call():
    text = "y = [x[i]**2 for i in range(9)]\nz = sum(stack(y))\nz * z"
    found, expected = (answer(text, outputs={"y": "y", "z": "z"}, exact=e) for e in (False, True))
    same(found.outputs, expected.outputs)
    same(found.gradients, expected.gradients)


@pytest.mark.parametrize("special", [math.nan, math.inf, 0.0, -0.0])
def test_one_special_value_touches_its_own_expression_only(special: float):
    values = VALUES | {"x": np.where(np.arange(40) == 4, special, VALUES["x"])}
    text = "sum(stack([1 / x[i] + a * 0.0 * x[i + 1] for i in range(20)]))"
    found, expected = answer(text, values), answer(text, values, exact=True)
    np.testing.assert_allclose(found.value, expected.value)
    np.testing.assert_allclose(found.gradients["x"], expected.gradients["x"], rtol=1e-12)


def test_the_first_expression_that_is_not_finite_is_the_one_that_is_named():
    lines = [f"y{i} = log(x[{i}])" for i in range(9)]
    text = "\n".join([*lines, "sum(stack([" + ", ".join(f"y{i}" for i in range(9)) + "]))"])
    values = VALUES | {"x": np.where(np.arange(40) == 5, -1.0, VALUES["x"])}
    nonfinite = answer(text, values).nonfinite["forward"]
    assert (nonfinite.node.line, nonfinite.node.id) == (6, "y5")


def test_the_expression_that_fails_is_the_one_that_is_named():
    lines = [f"y{i} = inv(m[{i}:{i + 2}, :2])[0, 0]" for i in range(10)]
    text = "\n".join([*lines, "sum(stack([" + ", ".join(f"y{i}" for i in range(10)) + "]))"])
    values = VALUES | {"m": np.where(np.arange(12)[:, None] // 2 == 3, 1.0, VALUES["m"])}
    with pytest.raises(EngineError) as caught:
        answer(text, values)
    assert caught.value.at is not None
    assert caught.value.at.line == 7


def test_signs_of_zero_are_kept():
    text = "stack([x[0] * c for c in [0.0, -0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0]])"
    found = answer(text, kind="evaluate", sources=None)
    assert np.signbit(found.value).tolist() == [False, True, False, False, True, *[False] * 3]


def test_large_arrays_are_not_put_side_by_side():
    text = "sum(" + " + ".join(f"exp(x * {i})" for i in range(12)) + ")"
    values = {"x": np.linspace(0, 1, 200_000)}
    made = tapes(text, values)["compacted"].instructions
    assert max(i.type.nbytes for i in made) <= values["x"].nbytes


def test_what_is_too_large_at_once_is_computed_one_by_one():
    text = "sum(stack([sum(exp(x * i * 0.01)) for i in range(30)]))"
    x = np.linspace(0, 1, 200)
    engine = Engine(Limits(array_bytes=10_000))
    call = engine.call(engine.parse(text), {"x": Leaf(x)}, Query("gradient"))
    expected = sum(np.exp(x * i * 0.01).sum() for i in range(30))
    assert call.replay(lambda: None).value == pytest.approx(expected, rel=1e-13)


FORMS = ["{x} * {c}", "sin({x})", "{x} ** 2 - {y}", "exp({y} / 4) * a", "tanh({x} - {y} * {c})"]


@pytest.mark.parametrize("seed", range(30))
def test_random_lists_of_expressions(seed: int):
    """Alike, nearly alike and unlike, in lists, tables and sums."""
    draw = random.Random(f"{effort.seed} {seed}")

    def expression(form: str) -> str:
        i, j = draw.randrange(12), draw.randrange(5)
        x = f"x[{i}]" if draw.random() < 0.9 else draw.choice([f"m[{i}, {j}]", f"m[{i}][{j}]"])
        return "(" + form.format(x=x, y=f"m[{i}, {j}]", c=draw.choice([0.5, 1.5, 2.0])) + ")"

    def inner() -> str:
        first, second = draw.choice(FORMS), draw.choice(FORMS)
        return f"{expression(first)} {draw.choice('+-*')} {expression(second)}"

    count = draw.choice([8, 9, 17])
    form = draw.choice(FORMS) + " * " + draw.choice(FORMS)
    each = [expression(form) if draw.random() < 0.95 else inner() for _ in range(count)]
    joined = draw.choice(
        [
            f"sum(stack([{', '.join(each)}]) ** 2)",
            "".join(f" {draw.choice('+-')} {one}" for one in each),
            f"max(array([{', '.join(each)}]))",
            f"prod(stack([{', '.join(each)}]))",
        ]
    )
    agree(f"y = {joined}\ny * y")
