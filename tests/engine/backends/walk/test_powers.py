"""Powers of a column: their values and slopes, by products, are those of the formulas."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.native import native_backend
from gradwire_engine.polling import no_deadline
from numpy.testing import assert_allclose

ENDS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-200, -1e200, 5e-324]


@pytest.fixture(scope="module", params=["walk", "native"])
def engine(request):
    return Engine() if request.param == "walk" else Engine(backend=native_backend())


@pytest.mark.parametrize("exponents", ["arange(8)", "arange(4)", "[3, 0, -2, 1]", "arange(-3, 4)"])
@pytest.mark.parametrize("text", ["(x[:, None] ** {0}) @ w", "sum(x[:, None] ** {0} * w, 1)"])
def test_slopes_are_those_of_each_power(engine, text, exponents):
    n = eval(exponents, {"arange": np.arange})
    rng = np.random.default_rng(0)
    x, w = np.concatenate([rng.normal(size=190), ENDS]), rng.normal(size=len(n))
    program = engine.parse(f"y = {text.format(exponents)}\ny")
    variables = {"x": Leaf(x), "w": Leaf(w)}
    seeds = np.ones(x.size)
    with np.errstate(all="ignore"):
        powers = np.stack([x ** float(k) for k in n], 1)
        slopes = np.stack([k * x ** float(k - 1) if k else np.zeros_like(x) for k in n], 1)
        value, of_x, of_w = powers @ w, slopes @ w, powers.sum(0)
    call = engine.call(program, variables, Query(kind="gradient"), [seeds])
    for _ in range(4):
        answer = call.replay(no_deadline)
        assert_allclose(answer.value, value, rtol=1e-13, atol=1e-13)
        assert_allclose(answer.gradients["x"], of_x, rtol=1e-12, atol=1e-12)
        assert_allclose(answer.gradients["w"], of_w, rtol=1e-12, atol=1e-12)
