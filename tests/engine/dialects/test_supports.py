"""Laws have SciPy's values outside of their supports, at the ends of quantiles, and of no law."""

import itertools

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from tests.engine.dialects.test_stats import GIVEN, NAMES, TRUNCATED, parameters

VALUES = np.array(
    [-np.inf, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5, 5.0, 6.0, 9.0, np.inf, np.nan]
)
QUANTILES = np.array([0.0, -0.0, 1.0, -0.1, 1.1, np.inf, -np.inf, np.nan, 0.3])
PARAMETERS = (-1.0, 0.0, 1.0, 1.5, 2.5, 6.0, np.nan)
SIMPLEX = np.array([0.2, 0.3, 0.5])


def sets(name, shapes):
    """The usual parameters, and those with another in one place."""
    given = GIVEN | TRUNCATED if name.startswith("truncnorm") else GIVEN
    usual = [given[shape] for shape in shapes]
    yield usual
    for place, value in itertools.product(range(len(shapes)), PARAMETERS):
        yield [*usual[:place], value, *usual[place + 1 :]]


@pytest.mark.parametrize("name", NAMES)
def test_values_everywhere_and_of_any_parameters(ask, name):
    law, function = name.split(".")
    first, *rest = parameters(f"scipy.stats.{name}")
    points = QUANTILES if first == "q" else VALUES
    theirs = getattr(scipy.stats, law)
    for shapes in sets(name, [word for word in rest if word not in ("loc", "scale")]):
        if law in ("nbinom", "geom") and shapes[-1] == 0:
            continue  # limits, with slopes: SciPy has no such law
        for moved in ([0.0], [1.0, 2.0], [0.0, -1.0], [0.0, 0.0]):
            given = [*shapes, *(moved if "scale" in rest else moved[:1])]
            with np.errstate(all="ignore"):
                expected = getattr(theirs, function)(points, *given)
            found = ask.value(
                f"scipy.stats.{name}({', '.join(f'v{i}' for i in range(len(given) + 1))})",
                {f"v{i}": np.asarray(value) for i, value in enumerate([points, *given])},
            )
            # At infinity SciPy has no limits; some of its functions have numbers of no law.
            if not np.all(theirs._argcheck(*shapes)) or ("scale" in rest and [*moved, 1][1] <= 0):
                expected = np.full(points.shape, np.nan)
            elif first != "q":
                unknown = np.isnan(expected) & np.isinf(points)
                # Ours are the logarithms of probabilities that underflow.
                unknown |= (expected == -np.inf) & (np.asarray(found) < -700)
                expected = np.where(unknown, found, expected)
            assert_allclose(found, expected, 1e-9, 1e-13, err_msg=f"{name} {given}")


COUNTS = [[1, 2, 3], [6, 0, 0], [0, 0, 0], [2, 2, 3], [-1, 4, 3], [1.5, 1.5, 3], [0, 2, 4]]
CHANCES = [
    *([0.3, 0.3, 0.4], [0.3, 0.3, 0.3], [0.6, 0.6, 0.4], [-0.1, 0.6, 0.5], [0.0, 0.3, 0.7]),
    *([0.3, 0.7, 0.0], [0.3, 0.7, 1.0], [1.0, 0.0, 0.0], [1.1, 0.0, -0.1]),
]


@pytest.mark.filterwarnings("ignore:Some rows of:FutureWarning")
@pytest.mark.parametrize("function", ["pmf", "logpmf"])
@pytest.mark.parametrize("total", [6, 7, 0, -1])
def test_multinomial_laws(ask, function, total):
    x, p = np.array(COUNTS, float)[:, None], np.array(CHANCES)
    with np.errstate(all="ignore"):
        expected = getattr(scipy.stats.multinomial, function)(x, total, p)
    given = {"x": x, "n": float(total), "p": p}
    text = f"scipy.stats.multinomial.{function}(x, n, p)"
    assert_allclose(ask.value(text, given), expected, 1e-12)


@pytest.mark.parametrize("function", ["pdf", "logpdf"])
@pytest.mark.parametrize(
    "alpha", [[1.0, 2.0, 3.0], [1.0] * 3, [0.5, 1.5, 0.7], [0.0, 1, 1], [1, -2.0, 1]]
)
def test_dirichlet_laws(ask, function, alpha):
    shares = [SIMPLEX, SIMPLEX[::-1], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0], SIMPLEX + 1e-11]
    shares += [SIMPLEX + 1e-8, [0.2, 0.3, 0.4], [-0.1, 0.6, 0.5], [1.1, -0.1, 0.0], SIMPLEX[:2]]
    shares += [np.transpose([SIMPLEX, SIMPLEX[::-1]]), np.transpose([SIMPLEX, SIMPLEX[::-1]])[:2]]
    for x in map(np.asarray, shares):
        given = {"x": x, "a": np.array(alpha)}
        found = ask.value(f"scipy.stats.dirichlet.{function}(x, a)", given)
        try:
            expected = getattr(scipy.stats.dirichlet, function)(x, alpha)
        except ValueError as error:
            # A density that is infinite at the border, or none.
            expected = np.inf if "alpha is less than one" in str(error) else np.nan
        assert_allclose(found, expected, 1e-9)
    apart = {"x": np.transpose([SIMPLEX, [0.2, 0.3, 0.4]]), "a": np.array([1.0, 2.0, 3.0])}
    found = ask.value(f"scipy.stats.dirichlet.{function}(x, a)", apart)
    assert np.isnan(found).tolist() == [False, True]


@pytest.mark.parametrize(
    "covariance",
    [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], -1.0],
)
def test_normal_vectors_of_no_covariance(ask, covariance):
    given = {"x": np.array([1.0, 2.0]), "c": np.asarray(covariance)}
    assert np.isnan(ask.value("scipy.stats.multivariate_normal.logpdf(x, [0.0, 0.0], c)", given))


def test_student_quantiles_next_to_0(ask):
    # SciPy's are infinite with the wrong sign.
    q, df = np.array([1e-300, 5e-324]), 3.5
    found = ask.value("scipy.stats.t.ppf(q, v)", {"q": q, "v": df})
    again = ask.value("scipy.stats.t.logcdf(x, v)", {"x": found, "v": df})
    assert_allclose(again, np.log(q), 1e-9)


def test_slopes_of_multinomial_laws_are_0_outside_of_the_support(ask):
    x, p = np.array(COUNTS, float), np.array(CHANCES[0])
    text = "sum(where(isinf(y), 0, y))\n"
    text = "y = scipy.stats.multinomial.logpmf(x, 6, p)\n" + text
    (found,) = ask.gradients(text, {"x": x, "p": p}, sources=["p"])
    assert_allclose(found, (x[[0, 1, 6]]).sum(0) / p, 1e-12)
    (found,) = ask.gradients(
        "scipy.stats.multinomial.pmf(x, 7, p)", {"x": x[0], "p": p}, sources=["p"]
    )
    assert not np.any(found)
