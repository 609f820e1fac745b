"""Forward mode agrees with reverse mode and with differences."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument

X = np.array([0.3, 0.7, 1.1])
PROGRAMS = [
    "y = sin(x)*x",
    "y = sum(x**2)*x",
    "y = x @ w",
    "y = exp(x)[1:]/x[0]",
    "y = cumsum(x)*w[0, 1]",
    "y = where(x > 0.5, x**3, x)",
    "y = stack([x, 2*x*x])",
    "y = x[:, None]*x",
    "y = w*1.0",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_jvp_is_the_slope_along_the_tangent(ask, text):
    w, v, h = np.arange(6.0).reshape(3, 2), np.array([1.0, -2.0, 0.5]), 1e-5
    got = ask.value(f"{text}\njvp(y, x, v)", {"x": X, "w": w, "v": v})
    right = ask.value(text, {"x": X + h * v, "w": w})
    left = ask.value(text, {"x": X - h * v, "w": w})
    assert np.allclose(got, (right - left) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("text", PROGRAMS[:-1])
def test_both_modes_give_one_bilinear_form(ask, text):
    w, v = np.arange(6.0).reshape(3, 2), np.array([1.0, -2.0, 0.5])
    variables = {"x": X, "w": w, "v": v}
    shape = np.shape(ask.value(text, variables))
    variables["u"] = np.random.default_rng(0).normal(size=shape)
    text += "\nu_forward = sum(u*jvp(y, x, v))\nu_reverse = sum(v*grad(sum(u*y), x))"
    forward, reverse = ask.value(text, variables, outputs=["u_forward", "u_reverse"])
    assert forward == pytest.approx(reverse)


def test_several_sources_and_outputs(ask):
    text = "a = x*y\nb = x + 2*y\njvp([a, {'b': b}], (x, y), (v, 3))"
    assert ask.value(text, {"x": 2, "y": 5, "v": 10}) == [56, {"b": 16}]


def test_forward_over_reverse_is_the_hessian_vector_product(ask):
    text = "l = sum(x**3)*x[0]\njvp(grad(l, x), x, v)"
    x, v = X, np.array([1.0, 2.0, -1.0])
    hessian = np.diag(6 * x * x[0])
    hessian[0] += 3 * x**2
    hessian[:, 0] += 3 * x**2
    assert np.allclose(ask.value(text, {"x": x, "v": v}), hessian @ v)


def test_jvp_is_differentiable(ask):
    answer = ask.answer("jvp(x**3, x, v)", {"x": 2, "v": 5})
    assert (answer.value, answer.gradients) == (60, {"x": 60, "v": 12})


def test_no_path_is_zeros_and_a_warning(ask):
    answer = ask.answer("jvp(y*y, x, 1.0)", {"x": 2, "y": [1.0, 2.0]}, kind="evaluate")
    assert answer.value.tolist() == [0, 0]
    assert [notice.code for notice in answer.warnings] == ["no_path"]


@pytest.mark.parametrize("arguments", ["x, [1, 2]", "[x, x], 1", "x[0], 1", "2, 1", "x"])
def test_what_jvp_cannot_take(ask, arguments):
    with pytest.raises(BadArgument):
        ask.value(f"jvp(x*x, {arguments})", {"x": X})
