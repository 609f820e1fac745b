"""TensorFlow's formulas: the same values as without them, and their own derivatives."""

import numpy as np
import pytest
from gradwire_engine.ops.rules import RULES
from numpy.testing import assert_allclose, assert_equal

from tests.tables import cases, table

#: What a formula says at points where it and the operation agree, the one text for the other.
PAIRS = table(__file__, "PAIRS")
POINT = np.array([0.3, 1.4, 2.5])
RULED = "second = grad(sum(grad(sum(y), x)), x)"


@pytest.mark.parametrize("exact", [False, True], ids=["optimised", "exact"])
@pytest.mark.parametrize("formula", PAIRS)
def test_a_formula_is_the_operation_at_ordinary_points(ask, formula, exact):
    found, wanted = (
        ask.value(f"y = {text}\n{RULED}\ny, grad(sum(y), x), second", {"x": POINT}, exact=exact)
        for text in (formula, PAIRS[formula])
    )
    for one, other in zip(found, wanted, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@cases("text, expected")
def test_a_formula_holds_at_singular_points(ask, text, expected):
    assert_equal(ask.gradients(text, {"x": 0.0})["x"], expected)


def test_a_second_derivative_may_be_zero_without_a_path(ask):
    assert ask.value("grad(grad(tf.formulas.relu(x), x), x)", {"x": 2.0}) == 0


@pytest.mark.parametrize(
    "text",
    [
        "z = x\nfor i in range(n):\n    z = tf.formulas.pow(tf.formulas.sqrt(z + 1), x)\nsum(z)",
        "sum(vmap(lambda a: tf.formulas.pow(tf.formulas.sqrt(a + 1), a))(x))",
        "sum(tf.formulas.where([[True], [False]], tf.formulas.log(x), tf.formulas.relu(x)))",
    ],
)
def test_formulas_are_differentiated_in_loops_and_stacks(ask, text):
    variables = {"x": POINT, "n": np.int64(3)}
    found = ask.gradients(text, variables, sources="x")
    wanted = ask.gradients(text.replace("tf.formulas.", ""), variables, sources="x")
    assert_allclose(found, wanted, rtol=1e-12)


def test_each_rule_is_asked_by_some_formula():
    written = " ".join(PAIRS)
    renamed = {"select": "where", "power": "pow", "arctan2": "atan2", "gammaln": "lgamma"}
    renamed |= {f"arc{f}": f"a{f}" for f in ("sin", "cos", "cosh", "tanh")}
    renamed |= {"remainder": "floormod", "trigamma": "digamma", "connected": "relu"}
    of_laws = {"abs_power", "signed_power", "gennorm_below"}
    formulas = {name for name, rule in RULES.items() if rule.__module__.endswith(".formulas")}
    for rule in formulas - of_laws:
        name = rule.removesuffix("_slope")
        assert name == "passing" or f"formulas.{renamed.get(name, name)}(" in written
