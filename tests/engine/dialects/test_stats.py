"""Functions of laws have SciPy's values, in the support, at its ends and outside."""

import inspect

import numpy as np
import pytest
import scipy.stats
from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.errors import ShapeMismatch

X = np.array([-3.0, -0.5, 0.2, 0.7, 1.0, 2.5, 6.0])
Q = np.array([0.0001, 0.2, 0.5, 0.9, 0.9999])
K = np.array([-1.0, 0.0, 1.0, 2.0, 3.5, 5.0, 9.0])
GIVEN = {"a": 1.7, "b": 2.6, "df": 3.5, "beta": 1.6, "kappa": 0.8, "c": 0.4}
GIVEN |= {"s": 0.7, "n": 5.0, "p": 0.3, "mu": 2.2}
TRUNCATED = {"a": -0.8, "b": 2.1}


def parameters(name):
    """Those of a function, in order."""
    return [*inspect.signature(SCIPY.functions[name].record).parameters][1:]


NAMES = [
    name.removeprefix("scipy.stats.")
    for name in SCIPY.functions
    if name.startswith("scipy.stats.") and ("loc" in parameters(name))
]
S = np.array([[2.0, 0.5], [0.5, 1.0]])
V = np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 1.0]])
SHARES = np.array([0.2, 0.5, 0.3])


def arguments(name):
    """Points, and what the law needs beside them, as a list."""
    first, *rest = parameters(f"scipy.stats.{name}")
    given = GIVEN | TRUNCATED if name.startswith("truncnorm") else GIVEN
    points = {"q": Q, "k": K}.get(first, X)
    moved = [0.5, 2.0] if "scale" in rest else [1.0]
    return points, [given[shape] for shape in rest if shape in given], moved


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_scipy(ask, name):
    law, function = name.split(".")
    points, shapes, moved = arguments(name)
    theirs = getattr(getattr(scipy.stats, law), function)
    for given in (shapes, shapes + moved):
        listed = "".join(f", {value}" for value in given)
        found = ask.value(f"scipy.stats.{name}(x{listed})", {"x": points})
        np.testing.assert_allclose(found, theirs(points, *given), 1e-10, 1e-13)


#: Points where gradients are compared, inside the support.
INSIDE = {"pareto": [1.37, 1.81], "bernoulli": [0.0]}


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_differences(ask, name):
    points, shapes, _ = arguments(name)
    counts = points is K
    inside = [1.0, 3.0] if counts else [0.37, 0.81]
    inside = inside if points is Q else INSIDE.get(name.split(".")[0], inside)
    given = [inside, *shapes, *([] if counts else [0.1, 1.2])]
    variables = {f"v{i}": np.asarray(value) for i, value in enumerate(given)}
    text = f"sum(scipy.stats.{name}({', '.join(variables)}))"
    fixed = ["v0", "v1"] if name.startswith(("binom", "betabinom")) else ["v0"]
    sources = [source for source in variables if not (counts and source in fixed)]
    for source, gradient in zip(
        sources, ask.gradients(text, variables, sources=sources), strict=True
    ):
        at = variables[source]
        slopes = []
        for place in np.ndindex(at.shape):
            step = np.zeros_like(at)
            step[place] = 1e-5
            ends = [ask.value(text, variables | {source: at + by}) for by in (step, -step)]
            slopes.append((ends[0] - ends[1]) / 2e-5)
        np.testing.assert_allclose(np.ravel(gradient), slopes, 2e-6, 2e-7)


def test_ends_of_quantiles(ask):
    text = "[scipy.stats.norm.ppf(q), scipy.stats.expon.ppf(q), scipy.stats.beta.ppf(q, 2, 3)]"
    found = np.asarray(ask.value(text, {"q": np.array([0.0, 1.0])}))
    np.testing.assert_array_equal(found, [[-np.inf, np.inf], [0, np.inf], [0, 1]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("multivariate_normal.logpdf(v, v[0], s)", (V, V[0], S)),
        ("multivariate_normal.pdf(v, v[0], s)", (V, V[0], S)),
        ("multivariate_normal.logpdf(v[1], v[0], s)", (V[1], V[0], S)),
        ("multivariate_normal.logpdf(v[1], v[0], 2.0)", (V[1], V[0], 2.0)),
        ("multivariate_normal.logpdf(0.5)", (0.5,)),
        ("dirichlet.logpdf(w, w + 1)", (SHARES, SHARES + 1)),
        ("dirichlet.pdf(w, w + 1)", (SHARES, SHARES + 1)),
        ("multinomial.logpmf([1, 2, 0], 3, w)", ([1, 2, 0], 3, SHARES)),
        ("multinomial.pmf([1, 2, 0], 3, w)", ([1, 2, 0], 3, SHARES)),
    ],
)
def test_laws_of_vectors(ask, text, expected):
    law, function = text.partition("(")[0].split(".")
    theirs = getattr(getattr(scipy.stats, law), function)(*expected)
    found = ask.value(f"jax.scipy.stats.{text}", {"v": V, "s": S, "w": SHARES})
    np.testing.assert_allclose(found, theirs, 1e-12)


@pytest.mark.parametrize(
    "text",
    ["multivariate_normal.logpdf(v, v[0], s[:1])", "dirichlet.logpdf(v, s)", "dirichlet.pdf(v, w)"],
)
def test_shapes_that_do_not_fit_are_refused(ask, text):
    with pytest.raises(ShapeMismatch):
        ask.value(f"scipy.stats.{text}", {"v": V, "s": S, "w": SHARES[:2]})
