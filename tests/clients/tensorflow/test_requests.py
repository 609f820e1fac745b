"""The number of requests, and the programs they send."""

import gc
import weakref

import gradwire.tf as tf
import numpy as np
import pytest
from gradwire.tf import calls
from gradwire.tf.fetching import COMES_ALONG_ELEMENTS
from gradwire.tf.nodes import LONGEST_CHAIN, Spec

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def squared_error(w, b):
    residual = tf.constant(X) @ w + b - 1.0
    return tf.constant([[1.0, 1.0, 1.0]]) @ residual**2


def test_a_value_and_its_gradients_are_one_request(sent):
    w, b = tf.Variable([[0.1], [0.2]]), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        loss = squared_error(w, b)
    assert not sent
    gradients = tape.gradient(loss, [w, b])
    residual = X @ w.numpy() + 0.5 - 1.0
    assert np.allclose(gradients[0], 2 * X.T @ residual, rtol=1e-5)
    assert np.allclose(loss, np.sum(residual**2), rtol=1e-5)
    assert len(sent) == 1


def test_fetched_values_are_not_requested_again(sent):
    x = tf.constant(3.0)
    y = x * x
    z = y + 1.0
    assert (float(z), float(y), float(z)) == (10.0, 9.0, 10.0)
    assert len(sent) == 1


def test_steps_of_training_are_one_request_each_of_one_program(sent):
    w, b = tf.Variable([[0.1], [0.2]]), tf.Variable(0.5)
    momentum = tf.constant([[0.0], [0.0]])
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = squared_error(w, b)
        of_w, of_b = tape.gradient(loss, [w, b])
        momentum = 0.9 * momentum + of_w
        w.assign_sub(0.01 * momentum)
        b.assign_sub(0.01 * of_b)
    assert len(sent) == 6
    texts = [call.document["program"] for call in sent]
    assert len(set(map(str, texts[1:]))) == 1


def test_large_variables_and_tensors_do_not_make_the_programs_grow(sent):
    count = COMES_ALONG_ELEMENTS + 1
    w, mean = tf.Variable(tf.zeros(count)), tf.zeros(count)
    for _ in range(8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - 1.0) ** 2)
        change = tape.gradient(loss, w)
        mean = 0.5 * mean + change
        w.assign_sub(0.25 * mean)
    assert len(sent) == 8
    texts = [call.document["program"] for call in sent]
    assert set(texts[4:]) <= set(texts[:4])
    # w'' = 1.5 w' - 0.5 w - 0.5 (w' - 1), so 1 - w is the recurrence e'' = e' - 0.5 e.
    errors = [1.0, 0.5]
    for _ in range(7):
        errors.append(errors[-1] - 0.5 * errors[-2])
    assert np.allclose(w, 1.0 - errors[8])


def test_values_that_a_variable_had_between_two_assignments_are_not_fetched(sent):
    w = tf.Variable(tf.zeros(4))
    w.assign_add(tf.ones(4))
    w.assign_add(tf.ones(4))
    assert w.numpy().tolist() == [2.0] * 4
    assert sum(map(len, sent[0].document["outputs"])) == 1


def test_a_variable_that_no_loss_reads_does_not_keep_what_it_is_computed_from(sent):
    w, mean = tf.Variable(0.0), tf.Variable(tf.zeros(2))
    for step in range(6):
        inputs = tf.constant([[step, 0.0], [step, 2.0]], tf.float32)
        with tf.GradientTape() as tape:
            mean.assign(0.5 * mean + 0.5 * tf.reduce_mean(inputs, axis=0))
            loss = (w - 1.0) ** 2
        w.assign_sub(0.5 * tape.gradient(loss, w))
    assert len(sent) == 6
    # The sums of 2**(i - 6) i and of 2**(i - 6), over i below 6.
    assert mean.numpy().tolist() == [258 / 64, 63 / 64]
    assert len(sent) == 6
    assert float(w) == 1.0


def test_a_variable_that_cannot_be_computed_is_refused_once_by_another_request(sent):
    w, x = tf.Variable([0.0, 0.0]), tf.constant(2.0)
    w.assign(calls.call("np.linalg.solve", tf.zeros((2, 2)), w, spec=Spec(tf.float32, (2,))))
    with pytest.raises(tf.errors.OpError):
        (x * 2.0).numpy()
    assert float(x * 3.0) == 6.0
    with pytest.raises(tf.errors.OpError):
        w.numpy()


def test_a_large_tensor_is_fetched_once_it_would_be_computed_again(sent):
    x = tf.zeros(COMES_ALONG_ELEMENTS) + 1.0
    large = tf.concat([x, x], axis=0)
    assert float(tf.reduce_sum(large)) == 2.0 * COMES_ALONG_ELEMENTS
    assert float(tf.reduce_max(large)) == 1.0
    assert float(tf.reduce_min(large)) == 1.0
    lengths = [len(call.document["program"].splitlines()) for call in sent]
    assert lengths == [3, 2, 1]


def test_a_sum_over_steps_does_not_grow_the_programs(sent):
    total, w = tf.constant(0.0), tf.Variable(1.0)
    for _ in range(3 * LONGEST_CHAIN):
        total = total + w * 2.0
    assert float(total) == 6.0 * LONGEST_CHAIN
    assert 3 <= len(sent) <= 5


def test_computed_numbers_do_not_change_the_program(sent):
    x = tf.constant(2.0)
    for number in np.linspace(0.1, 0.9, 5).tolist():
        assert float(x * (number / 7)) == pytest.approx(2 * number / 7)
    assert len({str(call.document["program"]) for call in sent}) <= 2


def test_the_result_type_of_an_operation_is_learned(sent):
    x = tf.constant([1.0, 2.0])
    first = calls.call("np.arctanh", x * 0.3)
    assert first.shape == (2,)
    assert len(sent) == 1
    second = calls.call("np.arctanh", x * 0.1)
    assert second.shape == (2,)
    assert second.dtype == tf.float32
    assert len(sent) == 1


@pytest.mark.thorough
def test_unreachable_values_are_freed():
    class Big(np.ndarray):
        pass

    data = np.ones(4, np.float32).view(Big)
    alive = weakref.ref(data)
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = x * tf.constant([[1.0, 1.0, 1.0, 1.0]]) @ tf.constant(data.reshape(4, 1))
    slope = tape.gradient(loss, x)
    assert float(slope) == 4.0
    del data, loss
    gc.collect()
    assert alive() is None


def test_errors_are_raised_when_an_operation_is_called():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        x + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode"):
        calls.call("np.pad", x, 1, mode="sideways")


@pytest.mark.parametrize(
    "name", ["reshape", "sum", "np", "tf", "copy", "vjp", "exp", "concatenate"]
)
def test_variables_may_be_called_as_functions_are(name: str) -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name=name)
    with tf.GradientTape() as tape:
        whole = tf.concat([tf.reshape(v, [4]), tf.exp(tf.reshape(v, [4]))], 0)
        y = tf.reduce_sum(whole)
    assert tape.gradient(y, v).numpy() == pytest.approx(1 + np.exp(v.numpy()))
