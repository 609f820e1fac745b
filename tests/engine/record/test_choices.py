from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Query
from gradwire_engine.errors import BadArgument
from numpy.testing import assert_allclose

from tests.engine.conftest import called

XS = np.array([0.5, -2.0, 3.0, -0.1])


def ask(text: str, kind: Any = "gradient", **variables: Any) -> Any:
    engine = Engine()
    leaves = {name: Leaf(np.asarray(value)) for name, value in variables.items()}
    answer = called(engine, text, leaves, kind).replay(lambda: None)
    return answer.value, answer.gradients


CHOICES = {
    "cond": "cond(x > 0, lambda x: x**3, lambda x: exp(x) * w, x)",
    "numbers": "cond(x, lambda: x * w, lambda: 2.0)",
    "nested": "cond(x > 0, lambda: cond(x > 1, lambda: x * x, lambda: w), lambda: -x)",
    "lists": "sum(stack(cond(x > 0, lambda: [x, w * x], lambda: [w, 1.0])))",
    "lax": "lax.cond(x > 0, lambda x: log(x) * w, lambda x: x, x)",
    "switch": "lax.switch(int8(sign(x)) + 1, [lambda: x**2, lambda: w, lambda: w * sin(x)])",
    "beyond": "lax.switch(int64(x * 3), [lambda: x**2, lambda: w * x])",
}


@pytest.mark.parametrize("name", CHOICES)
def test_each_example_takes_its_own_to_second_order(name):
    f = f"def f(x):\n    return {CHOICES[name]}\n"
    for mapped, looped in (
        ("sum(vmap(f)(xs)**2)", "sum(stack([f(x) for x in xs])**2)"),
        ("sum(vmap(grad(f))(xs)**2)", "sum(stack([grad(f)(x) for x in xs])**2)"),
    ):
        value, gradients = ask(f + mapped, xs=XS, w=1.5)
        expected, slopes = ask(f + looped, xs=XS, w=1.5)
        assert value == pytest.approx(expected)
        for source in ("xs", "w"):
            one, other = (found[source] for found in (gradients, slopes))
            assert np.allclose(0.0 if one is None else one, 0.0 if other is None else other)


def test_what_is_not_taken_has_no_derivative_even_where_it_has_no_value():
    value, gradients = ask("vmap(lambda x: cond(x > 0, sqrt, lambda x: -x, x))(xs)", xs=XS)
    assert_allclose(value, np.where(XS > 0, np.sqrt(np.abs(XS)), -XS))
    assert_allclose(gradients["xs"], np.where(XS > 0, 0.5 / np.sqrt(np.abs(XS)), -1))


def test_a_recording_of_both_serves_all_examples():
    engine = Engine()
    program = engine.parse("vmap(lambda x: cond(x > 0, lambda: x * x, lambda: -x))(xs)")
    for xs in (XS, -XS, np.abs(XS)):
        call = engine.call(program, {"xs": Leaf(xs)}, Query("evaluate"))
        assert_allclose(call.replay(lambda: None).value, np.where(xs > 0, xs * xs, -xs))


@pytest.mark.parametrize(
    ("other", "words"), [("lambda: [x]", "nested differently"), ("lambda: ones(2)", "same shape")]
)
def test_what_cannot_stand_for_one_another_is_refused(other, words):
    with pytest.raises(BadArgument) as refused:
        ask(f"vmap(lambda x: cond(x > 0, lambda: x, {other}))(xs)", xs=XS)
    assert words in f"{refused.value} {refused.value.hint}"
