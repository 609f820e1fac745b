"""PyTorch's names compute what PyTorch says they do."""

import itertools

import numpy as np
import pytest
from gradwire_engine import Leaf
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
Y = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])
S = np.array([[2.0, 0.5], [0.5, 1.0]])
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
K = np.array([2, 0])
VARIABLES = {"x": X, "y": Y, "v": V, "s": S, "p": P, "k": K}


def log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


@cases("text, expected")
def test_value(ask, text, expected):
    found = ask.value(text, VARIABLES)
    assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-14)


def test_names_know_their_gradients(ask):
    found = ask.gradients("F.cross_entropy(x, k)", {"x": X, "k": K}, sources="x")
    assert_allclose(found, (np.exp(log_softmax(X)) - np.eye(3)[K]) / 2)
    tied = np.array([2.0, 2.0])
    assert ask.gradients("torch.amax(x, 0)", {"x": tied})["x"].tolist() == [0.5, 0.5]
    assert ask.gradients("torch.max(x, 0)[0]", {"x": tied})["x"].tolist() == [1, 0]


#: Real functions ``f`` of vectors, and their second derivatives in ``r`` and ``t``, block by block.
R, T, W = np.array([1.5, 2.0]), np.array([0.3, -0.4]), np.array([0.7, -1.2])


@cases("text, blocks")
def test_second_derivatives(ask, text, blocks):
    given = {"r": R, "t": T, "w": W, "k": np.array([0, 0])}
    answer = ask.answer(f"sum(w * {text})", given, kind="hessian", sources=["r", "t"])
    found = answer.derivatives["hessian"]
    for (i, first), (j, second) in itertools.product(enumerate("rt"), repeat=2):
        block = blocks.get(f"{first} {second}")
        expected = np.transpose(blocks[f"{second} {first}"]) if block is None else block
        assert_allclose(found[i][j], expected, atol=1e-14)


def test_second_derivatives_of_products_are_right_where_factors_are_0(ask):
    given = {"r": R, "t": np.array([0.0, 0.0]), "k": np.array([0, 0])}
    text = "sum(torch.index_reduce(r, 0, k, t, 'prod'))"
    answer = ask.answer(text, given, kind="hessian", sources=["t"])
    assert_allclose(answer.derivatives["hessian"][0][0], R[0] * (1 - np.eye(2)))


@pytest.mark.parametrize(
    "text", ["torch.sum(x, axis=n - 1)", "torch.sum(x, n - 1)", "sum(torch.ones(3, n), n - 2)"]
)
def test_integer_variables_are_static_wherever_they_stand(ask, text):
    found = ask.value(text, {"x": X, "n": Leaf(np.asarray(2))})
    assert_array_equal(found, X.sum(1) if "x" in text else [3, 3])
