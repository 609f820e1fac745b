"""Functions of laws have SciPy's values, in the support, at its ends and outside."""

import inspect
from functools import partial

import numpy as np
import pytest
import scipy.special
import scipy.stats
from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.errors import ShapeMismatch
from numpy.testing import assert_allclose, assert_array_equal

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
        assert_allclose(found, theirs(points, *given), 1e-10, 1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_values_of_float32_are_those_of_scipy(ask, name):
    law, function = name.split(".")
    points, shapes, _ = arguments(name)
    points = points.astype(np.float32)
    found = ask.value(f"scipy.stats.{name}({', '.join(map(str, ['x', *shapes]))})", {"x": points})
    expected = getattr(getattr(scipy.stats, law), function)(points.astype(float), *shapes)
    assert found.dtype == np.float32
    assert_allclose(found, expected, 1e-4, 1e-5)


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
        assert_allclose(np.ravel(gradient), slopes, 2e-6, 2e-7)


#: Functions of values, not of probabilities, and of those the ones of continuous laws.
OF_VALUES = [name for name in NAMES if not name.endswith(("ppf", "isf"))]
CONTINUOUS = [name for name in OF_VALUES if "scale" in parameters(f"scipy.stats.{name}")]


def asked(ask, name, points, nan=()):
    """A function's values and slopes in all that it takes, each an array as long as ``points``.

    ``nan`` are the number of a point and that of the argument that is NaN there.
    """
    _, shapes, moved = arguments(name)
    every = np.tile(np.array([0.0, *shapes, *moved]), (len(points), 1))
    every[:, 0] = points
    for place in nan:
        every[place] = np.nan
    variables = {f"v{i}": one for i, one in enumerate(every.T)}
    words = parameters(f"scipy.stats.{name}")
    fixed = set() if "scale" in words else {"k", "n", "loc"}
    sources = [source for source, word in zip(variables, words, strict=True) if word not in fixed]
    text = f"y = scipy.stats.{name}({', '.join(variables)})\nsum(y)"
    answer = ask.answer(text, variables, sources=sources, outputs="y")
    return answer.outputs, dict(zip(sources, answer.gradients, strict=True))


#: The slope is a number by their formula: straight lines, and the logarithm of an exponential.
STRAIGHT = (
    "laplace.logcdf",
    "laplace.logsf",
    "uniform.logpdf",
    "expon.logpdf",
    "expon.logsf",
    "pareto.logsf",
    "weibull_min.logsf",
)


@pytest.mark.parametrize("name", OF_VALUES)
def test_nan_and_infinities(ask, name):
    count = len(parameters(f"scipy.stats.{name}"))
    inside, outside = [1.0 if "bernoulli" in name else 3.0] * count, [-7.0] * count
    nan = [(row, row % count) for row in range(2 * count)]
    found, slopes = asked(ask, name, [*inside, *outside, -np.inf, np.inf], nan)
    law, function = name.split(".")
    _, shapes, moved = arguments(name)
    with np.errstate(all="ignore"):
        theirs = getattr(getattr(scipy.stats, law), function)([-np.inf, np.inf], *shapes, *moved)
    far = np.where(np.isnan(theirs), found[-2:], theirs)
    assert_array_equal(found, [*[np.nan] * (2 * count), *far])
    constant = np.isfinite(far) & (function not in ("logpdf", "logpmf"))
    for source, slope in slopes.items():
        assert_array_equal(slope[-2:][constant], 0)
        assert name in STRAIGHT or np.isnan(slope[int(source[1:]) : -2 : count]).all()


@pytest.mark.parametrize("law", sorted({name.split(".")[0] for name in NAMES}))
def test_quantiles_of_no_probability_are_nan(ask, law):
    for name in {f"{law}.ppf", f"{law}.isf"} & set(NAMES):
        values, slopes = asked(ask, name, [-1e-9, 1 + 1e-9, np.nan])
        assert np.isnan(values).all()
        assert np.isnan(slopes["v0"]).all() or law == "uniform"


#: What is no parameter of a law, beside the others; of all that are not named 0 and less.
INVALID = {"p": [-0.1, 1.1], "c": [0.0, -1.0], "kappa": [-0.5], "mu": [-2.0], "n": [-3.0]}
INVALID |= {"truncnorm.a": [3.0], "truncnorm.b": [-0.8], "loc": []}


@pytest.mark.parametrize("name", NAMES)
def test_there_is_no_law_of_invalid_parameters(ask, name):
    points, shapes, moved = arguments(name)
    given, law = [*shapes, *moved], name.split(".")[0]
    for place, word in enumerate(parameters(f"scipy.stats.{name}")[1:]):
        for value in INVALID.get(f"{law}.{word}", INVALID.get(word, [0.0, -1.5])):
            changed = [*given[:place], value, *given[place + 1 :]]
            listed = "".join(f", {each}" for each in changed)
            found = ask.value(f"scipy.stats.{name}(x{listed})", {"x": points})
            assert np.isnan(found).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith((".logcdf", ".logsf"))])
def test_logarithms_keep_the_digits_of_what_is_left_to_1(ask, name):
    points, shapes, moved = arguments(name)
    law, function = name.split(".")
    rest = getattr(getattr(scipy.stats, law), {"logcdf": "sf", "logsf": "cdf"}[function])
    far = np.sort(np.concatenate([points, *(s * np.logspace(-30, 3, 100) for s in (1, -1))]))
    with np.errstate(all="ignore"):
        left = rest(far, *shapes, *moved)
    few = (left < 0.1) & (left > 1e-300)
    listed = "".join(f", {each}" for each in [*shapes, *moved])
    found = ask.value(f"scipy.stats.{name}(x{listed})", {"x": far})
    assert_allclose(found[few], np.log1p(-left[few]), 1e-9)


#: With these densities and probabilities are smooth from one side of an end of the support.
SMOOTH = GIVEN | {"a": 3.0, "b": 4.0, "df": 6.0, "beta": 2.0, "c": 3.0}
#: Weights of one-sided differences of first and second order.
WEIGHTS = np.array(
    [[-137 / 60, 5, -5, 10 / 3, -5 / 4, 1 / 5], [15 / 4, -77 / 6, 107 / 6, -13, 61 / 12, -5 / 6]]
)


def smooth_at(ask, text, function, end, side):
    """Value and two derivatives of ``text`` are those of ``function`` on one side of an end."""
    answer = ask.answer(text, {"x": end}, kind="hessian")
    found = answer.derivatives
    step = side * 1e-3
    with np.errstate(all="ignore"):
        values = np.array([function(end + step * i) for i in range(6)])
    assert_allclose(answer.value, values[0], 1e-12)
    slope, curvature = WEIGHTS @ values / [step, step * step]
    assert_allclose(found["gradients"]["x"], slope, 1e-6, 1e-7)
    assert_allclose(found["hessian"]["x"]["x"], curvature, 2e-3, 2e-4)


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if "logpdf" not in name])
def test_derivatives_at_the_ends_of_the_support(ask, name):
    law, function = name.split(".")
    given = SMOOTH | TRUNCATED if law == "truncnorm" else SMOOTH
    shapes = [given[shape] for shape in parameters(f"scipy.stats.{name}") if shape in given]
    theirs = getattr(scipy.stats, law)(*shapes)
    low, high = theirs.support()
    centre = [(0.0, 1), (0.0, -1)] if law == "gennorm" else []
    text = f"scipy.stats.{name}({', '.join(['x', *map(str, shapes)])})"
    for end, side in [(low, 1), (high, -1), *centre]:
        if np.isfinite(end) and np.isfinite(getattr(theirs, function)(end)):
            smooth_at(ask, text, getattr(theirs, function), float(end), side)


COUNTED = {"bernoulli": "{k}, x", "binom": "{k}, 3, x", "nbinom": "{k}, 3, x", "geom": "{k}, x"}


@pytest.mark.parametrize("law", [*COUNTED, "poisson"])
@pytest.mark.parametrize("function", ["pmf", "cdf", "sf"])
def test_derivatives_where_successes_are_certain_or_impossible(ask, law, function):
    if f"{law}.{function}" not in NAMES:
        return
    for k in range(5):
        given = COUNTED.get(law, "{k}, x").format(k=k)
        before = [float(word) for word in given.split(", ")[:-1]]
        theirs = partial(getattr(getattr(scipy.stats, law), function), *before)
        for end, side in ((0.0, 1), (1.0, -1)):
            if np.isfinite(theirs(end)):
                smooth_at(ask, f"scipy.stats.{law}.{function}({given})", theirs, end, side)


def test_derivatives_in_the_middle_of_the_generalised_normal_law(ask):
    # A Laplace law has a cusp there, one of more than second order none.
    for beta, slope in ((1.0, 0.5), (2.0, np.pi**-0.5), (3.0, 1.5 / scipy.special.gamma(1 / 3))):
        given = {"x": np.array(0.0), "b": np.array(beta)}
        in_x, in_beta = ask.gradients("scipy.stats.gennorm.cdf(x, b)", given, sources=["x", "b"])
        assert_allclose([in_x, in_beta], [slope, 0], 1e-14)


@pytest.mark.parametrize(
    ("text", "x", "expected", "slope"),
    [
        ("cauchy.ppf(x)", 1e-12, -1e12 / np.pi, 1e24 / np.pi),
        ("cauchy.isf(x)", 1e-12, 1e12 / np.pi, -1e24 / np.pi),
        ("t.logpdf(x, 3.0)", 1e200, -1840.871738667524, -4e-200),
        ("cauchy.logpdf(x)", -1e200, -np.log(np.pi) - 400 * np.log(10), 2e-200),
        ("lognorm.pdf(x, 0.7)", 0.0, 0, 0),
        ("lognorm.logpdf(x, 0.7)", 0.0, -np.inf, np.inf),
        ("lognorm.logcdf(x, 0.7)", 1e-300, -486916.82357539935, None),
    ],
)
def test_far_out(ask, text, x, expected, slope):
    answer = ask.answer(f"scipy.stats.{text}", {"x": x})
    assert_allclose(answer.value, expected, 1e-12)
    if slope is not None:
        assert_allclose(answer.gradients["x"], slope, 1e-12)


@pytest.mark.parametrize(
    ("text", "value", "slopes", "curvature"),
    [
        ("nbinom.logpmf(0, x, 0.4)", np.log(0.4) * 1e-8, np.log(0.4), 0),
        ("nbinom.pmf(0, x, 0.4)", 0.4**1e-8, np.log(0.4), np.log(0.4) ** 2),
        ("nbinom.logpmf(3, x, 0.4)", np.log(0.6**3 / 3) + np.log(1e-8), 1e8, -1e16),
        ("betabinom.logpmf(0, 5, x, 1e8)", -4.9999999e-16, -4.9999999e-8, 4.9999998e-16),
    ],
)
def test_small_parameters(ask, text, value, slopes, curvature):
    answer = ask.answer(f"scipy.stats.{text}", {"x": 1e-8}, kind="hessian")
    assert answer.value == pytest.approx(value, rel=1e-6)
    assert answer.derivatives["gradients"]["x"] == pytest.approx(slopes, rel=1e-6)
    assert answer.derivatives["hessian"]["x"]["x"] == pytest.approx(curvature, rel=1e-6, abs=1e-12)


def test_beta_binomial_law_of_large_parameters_is_nearly_binomial(ask):
    found = ask.value("scipy.stats.betabinom.logpmf(k, 20, 1e12, 2e12)", {"k": np.arange(21.0)})
    expected = scipy.stats.binom.logpmf(np.arange(21), 20, 1 / 3)
    assert_allclose(found, expected, rtol=1e-9)


def test_ends_of_quantiles(ask):
    text = "[scipy.stats.norm.ppf(q), scipy.stats.expon.ppf(q), scipy.stats.beta.ppf(q, 2, 3)]"
    found = np.asarray(ask.value(text, {"q": np.array([0.0, 1.0])}))
    assert_array_equal(found, [[-np.inf, np.inf], [0, np.inf], [0, 1]])


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
    assert_allclose(found, theirs, 1e-12)


@pytest.mark.parametrize(
    "text",
    ["multivariate_normal.logpdf(v, v[0], s[:1])", "dirichlet.logpdf(v, s)", "dirichlet.pdf(v, w)"],
)
def test_shapes_that_do_not_fit_are_refused(ask, text):
    with pytest.raises(ShapeMismatch):
        ask.value(f"scipy.stats.{text}", {"v": V, "s": S, "w": SHARES[:2]})
