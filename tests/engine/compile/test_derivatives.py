"""Jacobians, Hessians and products with them: S31, S33 to S35, S81 to S83, against differences."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.errors import InputError, OverBudget, Place
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(12)
X, W = RNG.normal(size=3), RNG.normal(size=(3, 2))
#: Programs of x (a vector) and w (a matrix) that give a vector.
PROGRAMS = ["tanh(x @ w)", "cumprod(x)[1:]", "sum(w, axis=0) * x[0]", "sort(x * w[:, 1])", "x"]
STEP = 1e-6


def differences(ask, text, variables, name):
    """The Jacobian in one variable, of the target's shape and the variable's."""
    at = variables[name]
    columns = []
    for place in np.ndindex(at.shape):
        unit = np.zeros(at.shape)
        unit[place] = STEP
        ahead, behind = (ask.value(text, variables | {name: at + s * unit}) for s in (1, -1))
        columns.append((ahead - behind) / (2 * STEP))
    target = np.shape(ask.value(text, variables))
    return turned(np.reshape(columns, (*at.shape, *target)), at.ndim)


def turned(array, ndim):
    """The first ``ndim`` axes behind the others."""
    return np.moveaxis(array, range(ndim), range(-ndim, 0))


@pytest.mark.rule("S33")
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_jacobian(ask, text, mode):
    variables = {"x": X, "w": W}
    answer = ask.answer(text, variables, kind="jacobian", mode=mode, unconnected="zero")
    for name, found in answer.derivatives["jacobian"].items():
        assert_allclose(found, differences(ask, text, variables, name), atol=1e-7)
    assert_array_equal(answer.value, ask.value(text, variables))


@pytest.mark.rule("S34")
def test_structure_of_the_sources(ask):
    variables = {"a": {"x": X, "n": Leaf(np.arange(2))}, "u": 1.0}
    sources = {"m": ["a.x", None, "u"], "n": "a.n"}
    answer = ask.answer("a.x**2", variables, kind="jacobian", sources=sources)
    jacobian = answer.derivatives["jacobian"]
    assert jacobian["m"][1:] == [None, None]
    assert jacobian["n"] is None
    assert_allclose(jacobian["m"][0], np.diag(2 * X))
    reasons = {path: why.reason for path, why in answer.unconnected.items()}
    assert reasons == {"u": "no_path", "a.n": "integer_dtype"}
    zeros = ask.answer("a.x**2", variables, kind="jacobian", sources="u", unconnected="zero")
    assert_array_equal(zeros.derivatives["jacobian"], np.zeros(3))


@pytest.mark.rule("S34")
def test_zero_size_target_gives_zero_rows(ask):
    answer = ask.answer("x[:0]", {"x": X}, kind="jacobian", sources="x")
    assert answer.derivatives["jacobian"].shape == (0, 3)


@pytest.mark.rule("S35")
@pytest.mark.parametrize("target", [["a", "b"], {"a": "a"}])
def test_target_is_one_array(ask, target):
    with pytest.raises(InputError, match="one array") as caught:
        ask.answer("a = x\nb = 2*x", {"x": X}, kind="jacobian", target=target)
    assert caught.value.at == Place(pointer="/target")


def test_a_jacobian_too_large_is_refused_with_its_size(ask_within):
    with pytest.raises(OverBudget, match="1000 by 1000: 8,000,000 bytes, more than the 1,000,000"):
        ask_within(array_bytes=10**6).answer("x**2", {"x": np.ones(1000)}, kind="jacobian")


@pytest.mark.rule("S31")
def test_hessian(ask):
    variables: dict[str, Any] = {"x": X, "w": W, "c": np.float64(2.0)}
    text = "sum(tanh(x @ w)**2) + c*c*x[0] + sum(w)"
    answer = ask.answer(text, variables, kind="hessian")
    hessian, gradients = answer.derivatives["hessian"], answer.gradients
    for one, row in hessian.items():
        assert_allclose(gradients[one], ask.gradients(text, variables)[one])
        for other, block in row.items():
            assert block.shape == np.shape(variables[one]) + np.shape(variables[other])
            of_gradient = f"y = {text}\ngrad(y, {one})"
            found = differences(ask, of_gradient, variables, other)
            assert_allclose(block, found, atol=1e-6)
            other_way = turned(hessian[other][one], np.ndim(variables[other]))
            assert_allclose(block, other_way, atol=1e-12)


def test_a_hessian_has_zeros_where_a_gradient_is_constant_and_null_where_there_is_none(ask):
    answer = ask.answer("x*y", {"x": 2.0, "y": 3.0, "z": 1.0}, kind="hessian")
    assert answer.derivatives["hessian"] == {
        "x": {"x": 0, "y": 1, "z": None},
        "y": {"x": 1, "y": 0, "z": None},
        "z": {"x": None, "y": None, "z": None},
    }
    assert list(answer.unconnected) == ["z"]


@pytest.mark.rule("S81")
@pytest.mark.parametrize("text", PROGRAMS)
def test_jvp_is_the_jacobian_times_the_tangents(ask, text):
    variables = {"x": X, "w": W}
    dots = {"x": RNG.normal(size=3), "w": RNG.normal(size=(3, 2))}
    names = {"x": "x", "w": "w"}
    answer = ask.answer(text, variables, dots, kind="jvp", sources=names, unconnected="zero")
    expected = sum(
        np.tensordot(differences(ask, text, variables, name), dots[name], dots[name].ndim)
        for name in dots
    )
    assert_allclose(answer.derivatives["jvp"], expected, atol=1e-7)


@pytest.mark.rule("S81")
def test_jvp_has_the_targets_structure(ask):
    text, given = "a = x**2\nb = 3*y\nc = a*b", {"x": 2.0, "y": 5.0}
    asked = {"kind": "jvp", "sources": {"x": "x"}, "target": {"p": ["a", "c"], "q": "b"}}
    answer = ask.answer(text, given, {"x": np.float64(1)}, **asked)
    assert answer.derivatives["jvp"] == {"p": [4, 60], "q": None}
    zero = ask.answer(text, given, {"x": np.float64(1)}, unconnected="zero", **asked)
    assert zero.derivatives["jvp"]["q"] == 0


@pytest.mark.rule("S82")
def test_a_tangent_without_path_is_explained(ask):
    given = {"x": 2.0, "n": Leaf(np.array([1, 2]))}
    dots = {"x": np.float64(1), "n": np.ones(2)}
    answer = ask.answer("x*x", given, dots, kind="jvp", sources={"x": "x", "n": "n"})
    assert answer.derivatives["jvp"] == 4
    assert {path: why.reason for path, why in answer.unconnected.items()} == {"n": "integer_dtype"}


@pytest.mark.rule("S82")
@pytest.mark.parametrize(("kind", "field"), [("jvp", "tangents"), ("hvp", "vectors")])
def test_wrong_tangents_are_refused_with_what_is_needed(ask, kind, field):
    with pytest.raises(InputError, match=rf"{field} needs float64\[3\] here") as caught:
        ask.answer("sum(x**2)", {"x": X}, {"x": np.ones(2)}, kind=kind, sources={"x": "x"})
    assert caught.value.at == Place(pointer=f"/{field}")


@pytest.mark.rule("S83")
def test_hvp_is_the_hessian_times_the_vectors(ask):
    variables = {"x": X, "w": W}
    text = "sum(tanh(x @ w)**2) + prod(x)"
    vectors = {"w": RNG.normal(size=(3, 2)), "x": RNG.normal(size=3)}
    answer = ask.answer(text, variables, vectors, kind="hvp", sources={"w": "w", "x": "x"})
    hessian = ask.answer(text, variables, kind="hessian").derivatives["hessian"]
    for one, found in answer.derivatives["hvp"].items():
        expected = sum(
            np.tensordot(hessian[one][other], vectors[other], vectors[other].ndim)
            for other in vectors
        )
        assert_allclose(found, expected, atol=1e-12)
    assert list(answer.gradients) == ["w", "x"]


def test_hvp_of_a_linear_function_is_zero(ask):
    answer = ask.answer("sum(3*x)", {"x": X}, {"x": X}, kind="hvp", sources={"x": "x"})
    assert_array_equal(answer.derivatives["hvp"]["x"], np.zeros(3))


def test_state_counts_in_every_version(ask):
    text = "y = x*x\nx.assign(3*x)\ny + x*x"
    forward = ask.answer(text, {"x": 2.0}, {"x": np.float64(1)}, kind="jvp", sources={"x": "x"})
    assert forward.derivatives["jvp"] == ask.gradients(text, {"x": 2.0})["x"]
