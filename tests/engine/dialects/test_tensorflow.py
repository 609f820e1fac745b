"""TensorFlow's names compute what TensorFlow says they do."""

import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.errors import ArgumentError
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
Y = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])
S = np.array([[2.0, 0.5], [0.5, 1.0]])
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
K = np.array([2, 0])
VARIABLES = {"x": X, "y": Y, "v": V, "s": S, "p": P, "k": K}


@cases("text, expected")
def test_value(ask, text, expected):
    found = ask.value(text, VARIABLES)
    assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-14)


def test_names_know_their_gradients(ask):
    text = "tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=x))"
    found = ask.gradients(text, {"x": X, "p": P}, sources="x")
    assert_allclose(found, 1 / (1 + np.exp(-X)) - P)
    found = ask.gradients("tf.math.divide_no_nan(x, y)", {"x": 1.0, "y": 0.0})
    assert found == {"x": 0, "y": 0}
    assert ask.gradients("x*tf.stop_gradient(x)", {"x": 3.0}) == {"x": 3}


@cases("text, message")
def test_what_does_not_fit_is_refused(ask, text, message):
    with pytest.raises(ArgumentError) as caught:
        ask.value(text, VARIABLES)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tf.reduce_sum(tf.boolean_mask(x, x > limit))", {"limit": 0.4}),
        ("tf.reduce_sum(tf.math.segment_max(x[0], k))", {"k": Leaf(np.array([0, 0, 2]))}),
        ("tf.cast(tf.shape(tf.where(x > limit))[0], tf.float64) * x[0]", {"limit": 0.4}),
    ],
)
def test_values_decide_on_shapes_anew(ask, ask_within, text, values):
    first = {"x": X, "limit": -5.0, "k": Leaf(np.array([0, 1, 1]))}
    ask.gradients(f"sum({text})", {name: first[name] for name in ("x", *values)}, sources="x")
    again = ask.gradients(f"sum({text})", {"x": X, **values}, sources="x")
    fresh = ask_within().gradients(f"sum({text})", {"x": X, **values}, sources="x")
    assert_array_equal(again, fresh)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_the_places_of_ones_may_be_of_any_integers_even_where_promotion_is_strict(ask, dtype):
    places = Leaf(K.astype(dtype))
    found = ask.value("tf.one_hot(k, 3, dtype='float32')", {"k": places}, promotion="strict")
    assert_array_equal(found, np.eye(3, dtype="float32")[K])
