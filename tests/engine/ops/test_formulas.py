"""TensorFlow's formulas: the same values as without them, and their own derivatives."""

import numpy as np
import pytest
from gradwire_engine.ops.rules import RULES

#: What a formula says at points where it and the operation agree, the one text for the other.
PAIRS = {
    "tf.formulas.where(x > 1, x ** 2, 3 * x)": "where(x > 1, x ** 2, 3 * x)",
    "tf.formulas.sqrt(x)": "sqrt(x)",
    "tf.formulas.rsqrt(x)": "rsqrt(x)",
    "tf.formulas.reciprocal(x)": "1 / x",
    "tf.formulas.log(x)": "log(x)",
    "tf.formulas.log1p(x)": "log1p(x)",
    "tf.formulas.pow(x, x + 1)": "x ** (x + 1)",
    "tf.formulas.floormod(x, 0.3)": "x % 0.3",
    "tf.formulas.atan2(x, 1 - x)": "arctan2(x, 1 - x)",
    "tf.formulas.asin(x / 4)": "arcsin(x / 4)",
    "tf.formulas.acos(x / 4)": "arccos(x / 4)",
    "tf.formulas.acosh(x + 1)": "arccosh(x + 1)",
    "tf.formulas.atanh(x / 4)": "arctanh(x / 4)",
    "tf.formulas.digamma(x)": "digamma(x)",
    "tf.formulas.lgamma(x)": "gammaln(x)",
    "tf.formulas.multiply_no_nan(x, x ** 2)": "x ** 3",
    "tf.formulas.xdivy(x, x ** 3)": "1 / x ** 2",
    "tf.formulas.xlogy(x, x)": "x * log(x)",
    "tf.formulas.xlog1py(x, x)": "x * log1p(x)",
    "tf.formulas.relu(x - 1) ** 2": "relu(x - 1) ** 2",
    "tf.formulas.relu6(4 * x) ** 2": "relu6(4 * x) ** 2",
    "tf.formulas.leaky_relu(x - 1) ** 2": "leaky_relu(x - 1, 0.2) ** 2",
    "tf.formulas.elu(x - 1)": "elu(x - 1)",
    "tf.formulas.softsign(x)": "softsign(x)",
    "tf.formulas.reduce_std(x)": "std(x)",
    "tf.formulas.norm(x)": "norm(x)",
    "tf.formulas.norm(x, 3)": "norm(x, 3)",
    "tf.formulas.norm(x, 1)": "norm(x, 1)",
    "tf.formulas.normalize(x)[0] * x": "x / norm(x) * x",
    "tf.formulas.global_norm([x, 2 * x])": "sqrt(5.0) * norm(x)",
    "tf.formulas.l2_normalize(x) * x": "x / norm(x) * x",
    "tf.formulas.reduce_logsumexp(x)": "logsumexp(x)",
    "tf.formulas.clip_by_value(x, 0.4, 1.0) ** 2": "clip(x, 0.4, 1.0) ** 2",
    "tf.formulas.weighted_cross_entropy_with_logits(0.3, x, 2.0)": (
        "tf.nn.weighted_cross_entropy_with_logits(0.3, x, 2.0)"
    ),
    "tf.formulas.softmax_cross_entropy_with_logits([0.2, 0.3, 0.5], x)": (
        "softmax_cross_entropy_with_logits([0.2, 0.3, 0.5], x)"
    ),
}
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
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tf.formulas.where(x > 0, log(x), 0)", np.nan),
        ("tf.formulas.where(x > 0, tf.formulas.sqrt(x), 0)", 0),
        ("tf.formulas.pow(x, 0)", np.nan),
        ("tf.formulas.atan2(x, x)", np.nan),
        ("tf.formulas.norm([x, x])", np.nan),
        ("tf.formulas.xlogy(x, 2.0)", 0),
        ("tf.formulas.relu(x + nan)", 0),
    ],
)
def test_a_formula_holds_at_singular_points(ask, text, expected):
    np.testing.assert_equal(ask.gradients(text, {"x": 0.0})["x"], expected)


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
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


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
