"""Draws: their stream is pinned, keys are values, distributions are the right ones."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats as stats
from gradwire_engine.answer import Limits
from gradwire_engine.batching.batch import batch
from gradwire_engine.check import Call, check, evaluate, interpret
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results

KEY = np.array(12345)
MANY = (20_000,)
#: What key 7 gives.
UNIFORM = [0.8720734548204873, 0.29536538151378366, 0.4200976785072422]
SPLIT = [[-3089175807159896333, 6523984625352291713], [1580810879357656745, 9113309944511401544]]
FOLDED = [-3665550074820814567, -5554392387237387718]
X = np.arange(12.0).reshape(4, 3)


def draw(name, *args, **kwargs):
    (z,) = results(f"random.{name}", *args, **kwargs)
    return np.asarray(z)


def test_the_stream_is_philoxs_and_stays():
    assert draw("uniform", np.array(7), (3,)).tolist() == UNIFORM
    assert draw("split", np.array(7)).tolist() == SPLIT
    assert draw("fold_in", np.array(7), 3).tolist() == FOLDED
    words = np.random.Philox(key=[7, 0]).random_raw(3) >> 12
    assert draw("uniform", np.array(7), (3,)).tolist() == ((words + 0.5) / 2**52).tolist()


def test_an_integer_is_the_pair_with_zero():
    pair = draw("uniform", np.array([7, 0]), (5,))
    assert (draw("uniform", 7, (5,)) == pair).all()
    assert (draw("uniform", draw("key", 7), (5,)) == pair).all()
    for other in np.array(7, "uint8"), np.array(7.0), np.array([7.0, 0.0], "float32"):
        assert (draw("uniform", other, (5,)) == pair).all()
    for wrong in 7.5, np.nan, 2.0**63, [7.0, 0.5]:
        with pytest.raises(BadArgument, match="whole numbers"), np.errstate(invalid="ignore"):
            draw("uniform", np.array(wrong), (5,))


@pytest.mark.thorough
def test_keys_made_of_a_key_are_independent_of_its_draws():
    keys = [draw("fold_in", KEY, i) for i in range(3)] + [*draw("split", KEY, 3)]
    drawn = [draw("uniform", k, (4,)) for k in (KEY, *keys)]
    assert len({float(u) for numbers in drawn for u in numbers}) == 28
    assert (draw("split", KEY, 5)[:3] == draw("split", KEY, 3)).all()
    first = [draw("normal", k, (1,))[0] for k in draw("split", KEY, 1000)]
    assert stats.kstest(first, stats.norm().cdf).pvalue > 0.01


def test_many_keys_draw_for_each_example_and_one_for_all_alike():
    b = Builder(Limits())
    key, loc, keys, locs = (
        b.input(ArrayType(np.dtype(dtype), shape))
        for dtype, shape in (("int64", ()), ("float64", ()), ("int64", (3,)), ("float64", (3,)))
    )
    z = FUNCTIONS["random.normal"].record(b, key, (4,), loc=loc)
    outputs = [*batch(b, [z], {key: keys, loc: locs}), *batch(b, [z], {loc: locs})]
    given = [np.array(5), np.array(0.0), np.array([5, 6, 5]), np.array([0.0, 1.0, 2.0])]
    results = interpret(b.tape(outputs), given)
    each, alike = (results[out.slot] for out in outputs)
    alone = [draw("normal", k, (4,)) for k in (5, 6)]
    assert_allclose(each, [alone[0], alone[1] + 1, alone[0] + 2])
    assert_allclose(alike, alone[0] + given[3][:, None])


def test_coarser_dtypes_get_the_same_numbers_and_never_an_end():
    exact = draw("uniform", KEY, MANY)
    for dtype, bits in (("float16", 10), ("bfloat16", 7), ("float32", 23)):
        u = draw("uniform", KEY, MANY, dtype)
        assert u.dtype == dtype
        assert 0 < u.min() <= u.max() < 1
        assert_allclose(u.astype(float), exact, rtol=0, atol=0.5**bits)


DISTRIBUTIONS = [
    ("uniform", (), {"minval": -1.0, "maxval": 3.0}, stats.uniform(-1, 4)),
    ("normal", (), {"loc": 2.0, "scale": 0.5}, stats.norm(2, 0.5)),
    ("laplace", (), {}, stats.laplace()),
    ("logistic", (), {}, stats.logistic()),
    ("gumbel", (), {}, stats.gumbel_r()),
    ("cauchy", (), {}, stats.cauchy()),
    ("exponential", (), {"scale": 2.0}, stats.expon(scale=2)),
    ("rayleigh", (1.5,), {}, stats.rayleigh(scale=1.5)),
    ("weibull_min", (2.0, 1.7), {}, stats.weibull_min(1.7, scale=2)),
    ("pareto", (3.0,), {}, stats.pareto(3)),
    ("lognormal", (0.5,), {"mean": 1.0}, stats.lognorm(0.5, scale=math.e)),
    ("truncated_normal", (-1.0, 2.5), {}, stats.truncnorm(-1, 2.5)),
    ("truncated_normal", (30.0, 31.0), {}, stats.truncnorm(30, 31)),
    ("truncated_normal", (-31.0, -30.0), {}, stats.truncnorm(-31, -30)),
    ("gamma", (0.3,), {}, stats.gamma(0.3)),
    ("gamma", (30.0,), {}, stats.gamma(30)),
    ("loggamma", (0.001,), {}, stats.loggamma(0.001)),
    ("chisquare", (3.0,), {}, stats.chi2(3)),
    ("t", (2.5,), {}, stats.t(2.5)),
    ("f", (3.0, 5.0), {}, stats.f(3, 5)),
    ("maxwell", (), {}, stats.maxwell()),
    ("triangular", (-1.0, 2.0, 2.5), {}, stats.triang(3 / 3.5, -1, 3.5)),
    ("beta", (0.2, 0.7), {}, stats.beta(0.2, 0.7)),
]


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "distribution"),
    DISTRIBUTIONS,
    ids=[f"{n}-{d[0]}" for n, d in enumerate(DISTRIBUTIONS)],
)
def test_distribution(name, args, kwargs, distribution):
    z = draw(name, KEY, *args, shape=MANY, **kwargs)
    assert stats.kstest(z, distribution.cdf).pvalue > 0.01


WEIGHTS = np.array([1.0, 2.0, 7.0])
#: Draws with the numbers expected and their probabilities, those of further numbers left out.
COUNTS = [
    ("randint", (MANY, -2, 5), range(-2, 5), [1 / 7] * 7),
    ("rademacher", (MANY,), (-1, 1), [0.5, 0.5]),
    ("poisson", (2.0, MANY), range(8), stats.poisson(2).pmf(range(8))),
    ("binomial", (10.0, 0.3, MANY), range(8), stats.binom(10, 0.3).pmf(range(8))),
    ("geometric", (0.4, MANY), range(1, 10), stats.geom(0.4).pmf(range(1, 10))),
    ("bernoulli", (0.3, MANY), range(2), [0.7, 0.3]),
    ("categorical", (np.log(WEIGHTS), -1, MANY), range(3), WEIGHTS / 10),
    ("choice", (3, MANY, True, WEIGHTS), range(3), WEIGHTS / 10),
]


@pytest.mark.parametrize(("name", "args", "numbers", "chances"), COUNTS, ids=[c[0] for c in COUNTS])
def test_counts(name, args, numbers, chances):
    z = draw(name, KEY, *args)
    found = np.array([np.sum(z == number) for number in numbers])
    rest = MANY[0] * (1 - np.sum(chances))
    assert abs(MANY[0] - found.sum() - rest) <= 4 * np.sqrt(rest) + 1e-9
    expected = np.array(chances) * found.sum() / np.sum(chances)
    assert stats.chisquare(found, expected).pvalue > 0.01


def test_certain_counts():
    none = draw("binomial", KEY, np.array([0.0, 20.0, 20.0]), np.array([0.3, 0.0, 1.0]))
    assert none.tolist() == [0, 0, 20]
    assert draw("poisson", KEY, np.array([0.0, -1.0, math.nan])).tolist() == [0, -1, -1]
    assert draw("geometric", KEY, 1.0).tolist() == 1
    assert draw("randint", KEY, (2,), 5, 5).tolist() == [5, 5]


def test_normal_vectors_have_their_covariance():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    z = draw("multivariate_normal", KEY, mean, cov, MANY)
    assert_allclose(z.mean(0), mean, atol=0.03)
    assert_allclose(np.cov(z.T), cov, atol=0.05)


def test_shares_of_small_concentrations_do_not_vanish_together():
    z = draw("dirichlet", KEY, np.array([1e-3, 2e-3]), (1000,))
    assert_allclose(z.sum(1), 1)
    assert_allclose(z.mean(0), [1 / 3, 2 / 3], atol=0.05)


def test_the_mean_of_gradients_is_the_gradient_of_the_mean(gradients):
    """Of gamma and beta numbers: ``d E[z] / da`` from the reparametrised gradients."""
    a = np.full(4000, 1.7)
    (bars,) = gradients(lambda f, a: getattr(f, "random.gamma")(KEY.item(), a), a)
    assert np.mean(bars) == pytest.approx(1, abs=0.05)
    (bars,) = gradients(lambda f, a: getattr(f, "random.beta")(KEY.item(), a, 2.0), a)
    assert np.mean(bars) == pytest.approx(2 / 3.7**2, rel=0.05)


def test_an_order_has_every_element_once():
    assert sorted(draw("permutation", KEY, 50)) == [*range(50)]
    rows = draw("permutation", KEY, X)
    assert sorted(rows.tolist()) == X.tolist()
    each = draw("permutation", KEY, np.tile(np.arange(20.0), (5, 1)), 1, True)
    assert (np.sort(each, 1) == np.arange(20)).all()
    assert len({tuple(row) for row in each}) == 5


@pytest.mark.parametrize("p", [None, np.arange(1.0, 11.0)])
def test_without_replacement_nothing_comes_twice(p):
    assert len(set(draw("choice", KEY, 10, (10,), False, p).tolist())) == 10


@pytest.mark.thorough
def test_weighted_choices_without_replacement_start_as_weighted():
    firsts = [
        int(draw("choice", k, 3, (1,), False, np.array([1.0, 2.0, 7.0]))[0]) for k in range(500)
    ]
    assert_allclose(np.bincount(firsts) / 500, [0.1, 0.2, 0.7], atol=0.05)


def test_dropout_keeps_the_expectation():
    z = draw("dropout", KEY, np.ones(MANY), 0.3)
    assert set(np.unique(z)) == {0.0, 1 / 0.7}
    assert z.mean() == pytest.approx(1, abs=0.02)
    assert draw("dropout", KEY, X, 1.0).tolist() == np.zeros_like(X).tolist()
    assert draw("dropout", KEY, X, 0).tolist() == X.tolist()


def test_a_hard_choice_has_the_gradient_of_the_relaxed_one(gradients):
    logits, weights = np.array([0.3, -1.2, 2.0]), np.array([1.0, 2.0, 3.0])
    hard, soft = (
        gradients(
            lambda f, x, w, h=h: f.multiply(getattr(f, "random.gumbel_softmax")(5, x, hard=h), w),
            logits,
            weights,
        )
        for h in (True, False)
    )
    assert_allclose(hard[0], soft[0])
    assert sorted(hard[1]) == [0, 0, 1]


def test_the_normal_quantile_of_a_logarithm_is_exact_where_probabilities_underflow():
    x = np.array([-800.0, -3.0, -0.1])
    recording = Call.of("ndtri_exp", x).record
    (z,) = evaluate(recording, [x])
    assert_allclose(scipy.special.log_ndtr(z), x)
    assert check(recording, [x]) == []
