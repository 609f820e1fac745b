"""At infinities and where a formula divides 0 by 0, values and slopes are their limits."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import EngineError
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import table

mpmath = pytest.importorskip("mpmath")

PAGE = Path(__file__).parents[3] / "docs/reference/operations.md"
NAMES = re.findall(r"^- \*\*`([\w.]+)\(", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
LIBRARIES = ("torch.nn.functional.", "jax.nn.", "tf.nn.", "tf.keras.activations.")
#: Activations by all their names, and curves that go to straight lines.
ACTIVATIONS = [name for name in NAMES if name.startswith(LIBRARIES)]
ACTIVATIONS = [name for name in ACTIVATIONS if not re.search("norm|exp$", name)]
ACTIVATIONS += "relu relu6 leaky_relu elu selu celu softplus sigmoid tanh log_sigmoid silu".split()
ACTIVATIONS += "mish gelu softsign hardtanh hardsigmoid hardswish arctan erf".split()
CURVES = [f"{name}(x)" for name in ACTIVATIONS]
CURVES += ["gelu(x, 'tanh')", "hypot(x, 1.0)", "hypot(2.0, x)", "pseudo_huber(2.0, x)"]
CURVES += ["tf.keras.losses.logcosh(x, 0.0)", "tf.keras.losses.logcosh(1.0, x)"]
CURVES += ["gammainc(2.0, x)", "gammaincc(2.0, x)", "huber(2.0, x)", "log_ndtr(x)", "ndtr(x)"]


@pytest.mark.parametrize("text", CURVES)
def test_straight_lines_go_on_to_infinity(ask, text):
    for sign in (-1, 1):
        try:
            near, far, end = [ask.answer(text, {"x": sign * x}) for x in (1e4, 1e9, np.inf)]
        except EngineError:  # it takes more, or numbers of other kinds
            return
        slopes = [answer.gradients["x"] for answer in (near, far, end)]
        if np.isnan(far.value) or not np.isclose(slopes[0], slopes[1], atol=1e-3):
            continue
        grows = abs(far.value) > 1e6
        limit = np.sign(far.value) * np.inf if grows else far.value
        assert_allclose(end.value, limit, atol=1e-6)
        assert_allclose(end.gradients["x"], slopes[1], atol=1e-8)


@pytest.mark.parametrize(
    ("text", "function", "x"),
    [
        ("poch(x, 2.0)", lambda x: mpmath.rf(x, 2), 0),
        ("poch(x, 3.0)", lambda x: mpmath.rf(x, 3), -1),
        ("poch(x, 2.5)", lambda x: mpmath.rf(x, 2.5), -1),
        ("binom(x, 2.0)", lambda x: mpmath.binomial(x, 2), 0),
        ("binom(x, 3.0)", lambda x: mpmath.binomial(x, 3), 1),
        ("binom(x, 3.0)", lambda x: mpmath.binomial(x, 3), 2),
        ("binom(4.0, x)", lambda x: mpmath.binomial(4, x), 6),
        ("struve(0.0, x)", lambda x: mpmath.struveh(0, x), 0),
        ("struve(1.0, x)", lambda x: mpmath.struveh(1, x), 0),
        ("modstruve(0.0, x)", lambda x: mpmath.struvel(0, x), 0),
        ("modstruve(1.0, x)", lambda x: mpmath.struvel(1, x), 0),
        ("gammainc(2.0, x)", lambda x: mpmath.gammainc(2, 0, x, regularized=True), 0),
        ("gammaincc(3.0, x)", lambda x: mpmath.gammainc(3, x, regularized=True), 0),
        ("betainc(2.0, 3.0, x)", lambda x: mpmath.betainc(2, 3, 0, x, regularized=True), 0),
        ("betainc(2.0, 3.0, x)", lambda x: mpmath.betainc(2, 3, 0, x, regularized=True), 1),
    ],
)
def test_derivatives_where_a_factor_vanishes(ask, text, function, x):
    found = ask.answer(text, {"x": float(x)}, kind="hessian").derivatives
    with mpmath.workdps(50):
        tiny = mpmath.mpf(10) ** -12
        near = mpmath.mpf(x) - tiny if x == 1 and "beta" in text else mpmath.mpf(x) + tiny
        slope, curvature = (mpmath.diff(function, near, n, h=tiny / 100) for n in (1, 2))
    assert_allclose(found["gradients"]["x"], float(slope), 1e-9, 1e-9)
    assert_allclose(found["hessian"]["x"]["x"], float(curvature), 1e-9, 1e-9)


#: Probabilities by integrals of densities; outside the domain of ``x`` they have none.
PROBABILITIES = "betainc(A, 3.0, x) betaincc(2.0, A, x) tf.math.betainc(A, A, x) gammainc(A, x)"
PROBABILITIES += " gammaincc(A, x) chdtr(A, x) chdtrc(A, x) fdtr(A, 3.0, x) fdtrc(2.0, A, x)"
PROBABILITIES += " gdtr(1.0, A, x) pdtr(A, x) bdtr(A, 3, x) nbdtr(1, A, x)"


@pytest.mark.parametrize("text", re.findall(r"[\w.]+\(.*?\)", PROBABILITIES))
def test_slopes_outside_a_domain_are_none(ask, text):
    for a in ("1.0", "2.0", "-0.5"):
        one = text.replace("A", a)
        x = np.array([-np.inf, -1.0, 0.5, 2.0, np.inf])
        value, slope = ask.value(one, {"x": x}), ask.gradients(f"sum({one})", {"x": x})["x"]
        assert np.isnan(slope[np.isnan(value)]).all(), (one, value, slope)


def test_an_infinite_side_alone_decides_on_the_hypotenuse(ask):
    given = {"x": np.array([np.inf, -np.inf, 3.0, 0.0]), "y": np.array([1.0, 2.0, np.inf, 0.0])}
    in_x, in_y = ask.gradients("sum(hypot(x, y))", given, sources=["x", "y"])
    assert_array_equal([in_x, in_y], [[1, -1, 0, 0], [0, 0, 1, 0]])


@pytest.mark.parametrize("p", [0.25, 0.5, 1, 1.5, 3])
def test_distances_where_coordinates_agree(ask, p):
    given = {"x": np.array([[1.0, 2.0]]), "y": np.array([[1.0, 4.0]])}
    found = ask.gradients(f"sum(torch.cdist(x, y, p={p}))", given, sources=["x"])[0]
    assert_allclose(found, [[0, -1]])


def test_eigenvalues_of_what_is_not_a_number_are_none(ask):
    a = np.array([[[np.nan, 0.0], [0.5, 1.0]], [[2.0, np.nan], [0.0, 1.0]]])
    for text in ("eigvalsh(a)", "eigh(a)[0]"):  # which read the lower triangle alone
        assert_allclose(ask.value(text, {"a": a}), np.array([[np.nan, np.nan], [1, 2]]))


#: Logarithms of sums of exponentials, by the weights of the exponentials.
TOTALS = table(__file__, "TOTALS")
ENDS = [[1, np.inf, 2], [1, 2, -np.inf], [np.inf, 1, -np.inf], [-np.inf, 2, np.inf]]
ENDS += [[np.inf, np.inf, 2], [np.inf, -np.inf, np.inf], [-np.inf, -np.inf, -np.inf]]


def shares(x: Any, weights: Any) -> Any:
    """Each exponential's share in the sum, with large numbers for infinities; none of nothing."""
    exponents = np.clip(np.where(weights, x, -np.inf), -1e4, 1e4)
    powers = weights * np.exp(exponents - exponents.max())
    return powers / powers.sum() if exponents.max() > -1e4 else np.zeros(3)


@pytest.mark.parametrize("text", TOTALS)
def test_infinite_exponents_have_all_of_a_sum(ask, text):
    weights = np.array(TOTALS[text])
    for x in map(np.array, ENDS):
        if "logaddexp(" in text and (x == np.inf).sum() > 1:
            continue  # each sum is shared by itself
        found = ask.answer(text, {"x": x}, kind="hessian").derivatives
        p = shares(x, weights)
        with np.errstate(divide="ignore"):
            total = np.log(weights[weights > 0] @ np.exp(x[weights > 0]))
        assert_allclose(ask.value(text, {"x": x}), total, err_msg=f"{x}")
        assert_allclose(found["gradients"]["x"], p, atol=1e-15, err_msg=f"{x}")
        curved = np.diag(p) - np.outer(p, p)
        assert_allclose(found["hessian"]["x"]["x"], curved, atol=1e-15, err_msg=f"{x}")


@pytest.mark.parametrize("size", [3, 3000])
def test_classes_at_infinity_are_certain(ask, size):
    x = np.resize([1.0, np.inf, 2.0], size)
    certain = (x == np.inf) / (x == np.inf).sum()
    for name in ("softmax", "jax.nn.softmax"):
        assert_allclose(ask.value(f"{name}(x)", {"x": x}), certain)
    with np.errstate(divide="ignore"):
        logs = np.log(certain)
    assert_allclose(ask.value("log_softmax(x)", {"x": x}), logs)
    slope = ask.gradients("log_softmax(x)[0]", {"x": x})["x"]
    assert_allclose(slope, np.eye(1, size)[0] - certain, atol=1e-15)
    assert np.isnan(ask.value("softmax(x)", {"x": np.full(size, -np.inf)})).all()


@pytest.mark.parametrize("mask", ["m", "where(m, 0.0, -inf)"])
def test_queries_that_see_nothing_do_not_move_others(ask, mask):
    draws = np.random.default_rng(3).normal(size=(4, 2, 2))
    given = dict(zip("qkvw", draws, strict=True)) | {"m": np.array([[True, True], [False, False]])}
    text = f"sum(w * scaled_dot_product_attention(q, k, v, {mask}))"
    rows = "sum(w[0] * scaled_dot_product_attention(q[:1], k, v))"
    for kind, key in (("gradient", "gradients"), ("hessian", "hessian")):
        found, expected = (
            ask.answer(t, given, kind=kind, sources=["q", "k", "v"]) for t in (text, rows)
        )
        if kind == "gradient":
            for x, y in zip(found.gradients, expected.gradients, strict=True):
                assert_allclose(x, y, atol=1e-14)
        else:
            for a, b in zip(found.derivatives[key], expected.derivatives[key], strict=True):
                for x, y in zip(a, b, strict=True):
                    assert_allclose(x, y, atol=1e-14)
