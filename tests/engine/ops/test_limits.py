"""At infinities and where a formula divides 0 by 0, values and slopes are their limits."""

import re
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine.errors import EngineError

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
        np.testing.assert_allclose(end.value, limit, atol=1e-6)
        np.testing.assert_allclose(end.gradients["x"], slopes[1], atol=1e-8)


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
    np.testing.assert_allclose(found["gradients"]["x"], float(slope), 1e-9, 1e-9)
    np.testing.assert_allclose(found["hessian"]["x"]["x"], float(curvature), 1e-9, 1e-9)


def test_an_infinite_side_alone_decides_on_the_hypotenuse(ask):
    given = {"x": np.array([np.inf, -np.inf, 3.0, 0.0]), "y": np.array([1.0, 2.0, np.inf, 0.0])}
    in_x, in_y = ask.gradients("sum(hypot(x, y))", given, sources=["x", "y"])
    np.testing.assert_array_equal([in_x, in_y], [[1, -1, 0, 0], [0, 0, 1, 0]])


@pytest.mark.parametrize("p", [0.25, 0.5, 1, 1.5, 3])
def test_distances_where_coordinates_agree(ask, p):
    given = {"x": np.array([[1.0, 2.0]]), "y": np.array([[1.0, 4.0]])}
    found = ask.gradients(f"sum(torch.cdist(x, y, p={p}))", given, sources=["x"])[0]
    np.testing.assert_allclose(found, [[0, -1]])


def test_eigenvalues_of_what_is_not_a_number_are_none(ask):
    a = np.array([[[np.nan, 0.0], [0.5, 1.0]], [[2.0, np.nan], [0.0, 1.0]]])
    for text in ("eigvalsh(a)", "eigh(a)[0]"):  # which read the lower triangle alone
        np.testing.assert_allclose(ask.value(text, {"a": a}), np.array([[np.nan, np.nan], [1, 2]]))
