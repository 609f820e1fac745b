"""TensorFlow's control flow decides anew for other values, and refuses what does not fit."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument
from numpy.testing import assert_array_equal

from tests.tables import cases

X = np.array([[0.5, -1.5], [1.0, 0.25]])


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("tf.cond(a > 1, lambda: 2 * a, lambda: a * a)", 1.0, 2.0),
        ("tf.case([(a > 1, lambda: 2 * a)], default=lambda: a * a)", 1.0, 2.0),
        ("tf.switch_case(tf.cast(a, tf.int32), [lambda: a * a, lambda: 3 * a])", 1.0, 3.0),
        ("tf.while_loop(lambda t: t < 4 * a, lambda t: t * 2, [a])[0]", 4.0, 4.0),
        ("tf.while_loop(lambda t: t < 3, lambda t: t * 2, [a])[0]", 8.0, 2.0),
    ],
)
def test_decisions_are_taken_anew(ask, text, low, high):
    assert ask.gradients(text, {"a": 0.5}) == {"a": low}
    assert ask.gradients(text, {"a": 2.0}) == {"a": high}
    assert ask.gradients(text, {"a": 0.5}) == {"a": low}


@cases("text, message")
def test_refused(ask, text, message):
    with pytest.raises(BadArgument, match=message):
        ask.value(text, {"x": X})


def test_an_initializer_stands_for_no_rows(ask):
    found = ask.value("tf.foldl(lambda a, b: a * b, x[:0], initializer=x[1])", {"x": X})
    assert_array_equal(found, X[1])


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("tf.map_fn(lambda row: x @ row, x[:0])", (0, 2)),
        ("tf.map_fn(lambda row: row[0] if row[0] > 0 else row[1], x[:0])", (0,)),
        ("tf.scan(lambda t, row: t * row[0], x[:0], x)", (0, 2, 2)),
    ],
)
def test_without_rows_results_have_their_shape(ask, text, shape):
    found = ask.answer(text, {"x": X})
    assert found.value.shape == shape
    assert np.all(found.gradients["x"] == 0)
