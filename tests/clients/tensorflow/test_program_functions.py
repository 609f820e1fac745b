"""Functions that are recorded once compute what they do when they are called."""

import gradwire.tf as tf
import numpy as np
import pytest
from gradwire.tf.program_functions import ProgramFunction

X = np.array([[0.5, 2.0, 3.0], [1.0, 0.25, 4.0]], np.float32)


def both(x, y):
    return [x * y + 2.0, tf.sqrt(x) - 0.123456789 * y]


@pytest.fixture(scope="module")
def recorded():
    return ProgramFunction(both, [tf.constant(X), tf.constant(X)])


@pytest.mark.parametrize("value", [X, X[0], X[:, None, :], np.float32(0.5)])
def test_a_recorded_function_takes_operands_of_any_shape(recorded, value):
    x, y = tf.constant(value), tf.constant(2.0 * value)
    found = recorded([x, y], [x._node.spec, x._node.spec])
    expected = [value * (2.0 * value) + 2.0, np.sqrt(value) - np.float32(0.123456789) * 2.0 * value]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-6)


def test_no_tape_records_its_calls(recorded):
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found, _ = recorded([x, x], [x._node.spec, x._node.spec])
    assert tape.gradient(found, x) is None


def test_an_optimizers_setting_that_is_changed_counts_from_the_next_step_on():
    weight, expected = tf.Variable([1.0, -2.0]), np.array([1.0, -2.0], np.float32)
    velocity = np.zeros(2, np.float32)
    optimizer = tf.keras.optimizers.SGD(0.5, momentum=0.5)
    for momentum in (0.5, 0.5, 0.25, 0.5):
        optimizer.momentum = momentum
        optimizer.apply_gradients([(tf.constant([1.0, 3.0]), weight)])
        velocity = momentum * velocity - 0.5 * np.array([1.0, 3.0], np.float32)
        expected = expected + velocity
        np.testing.assert_allclose(weight.numpy(), expected, rtol=1e-6)


def test_variables_of_one_dtype_share_the_recorded_step_whatever_their_shapes():
    optimizer = tf.keras.optimizers.Adam(0.1)
    weights = [tf.Variable(np.ones(shape, np.float32)) for shape in [(), (3,), (2, 2)]]
    wide = tf.Variable(np.ones(2))
    for _ in range(2):
        variables = [*weights, wide]
        optimizer.apply_gradients([(tf.ones_like(each), each) for each in variables])
    # A constant gradient is its own mean, so that each step of Adam has the length of the rate.
    for each in variables:
        np.testing.assert_allclose(each.numpy(), 0.8, rtol=1e-5)
