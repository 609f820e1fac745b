"""Tapes agree with finite differences for random programs and nested tapes."""

import gradwire.tf as tf
import numpy as np
import pytest
from gradwire.tf import tapes
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

#: Operations from vectors to a vector of the same length; both operands may be the same.
STEPS = {
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: 2.0 * a - b,
    "times": lambda a, b: a * b,
    "over": lambda a, b: a / (b * b + 1.5),
    "cube": lambda a, b: a**3 - b,
    "flipped": lambda a, b: a[::-1] * b,
}


def computed(program, x):
    """The last value of a program in which each value is computed from two earlier ones."""
    values = [x, x * 0.5]
    for name, i, j in program:
        values.append(STEPS[name](values[i % len(values)], values[j % len(values)]))
    return values[-1]


programs = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=5,
)


def differences(f, x, step=1e-6):
    """Central differences of a function of a vector."""
    rows = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))]
    return np.stack(rows, axis=-1)


@examples(25)
@given(programs)
def test_gradient_jacobian_and_jvp_agree_with_differences(program):
    at = np.array([0.7, -0.4])
    x = tf.constant(at)
    direction = tf.constant([1.0, -2.0], tf.float64)
    with (
        tf.autodiff.ForwardAccumulator(x, direction) as accumulator,
        tf.GradientTape(persistent=True) as tape,
    ):
        tape.watch(x)
        y = computed(program, x)
    expected = differences(lambda x: computed(program, x), at)
    scale = 1 + np.abs(expected).max()
    found = tape.gradient(y, x)
    jacobian = tape.jacobian(y, x)
    product = accumulator.jvp(y)
    assert np.allclose(np.asarray(found), expected.sum(axis=0), atol=1e-6 * scale)
    assert np.allclose(np.asarray(jacobian), expected, atol=1e-6 * scale)
    assert np.allclose(np.asarray(product), expected @ [1.0, -2.0], atol=1e-6 * scale)


@examples(15)
@given(programs)
def test_second_derivatives_agree_with_differences_in_all_four_ways(program):
    at = np.array([0.7, -0.4])
    direction = tf.constant([1.0, -2.0], tf.float64)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = computed(program, x)
        return tape.gradient(y, x)

    def number(x):
        found = slope(tf.constant(x))
        return np.zeros(2) if found is None else found.numpy()

    expected = differences(number, at) @ direction.numpy()
    tolerance = 1e-5 * (1 + np.abs(expected).max())
    x = tf.constant(at)
    with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
        over_back = slope(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        back = slope(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.autodiff.ForwardAccumulator(x, direction) as inner:
            y = computed(program, x)
        forward = inner.jvp(y)
    zero = tf.UnconnectedGradients.ZERO
    ways = [
        accumulator.jvp(over_back, unconnected_gradients=zero),
        tape.gradient(back, x, output_gradients=direction, unconnected_gradients=zero),
        np.asarray(tape.jacobian(back, x, unconnected_gradients=zero)) @ direction.numpy(),
    ]
    if forward is not None:
        ways.append(outer.gradient(forward, x, unconnected_gradients=zero))
    for way in ways:
        assert np.allclose(np.asarray(way), expected, atol=tolerance)


@pytest.mark.thorough
@examples(15)
@given(programs, programs)
def test_a_right_custom_gradient_changes_nothing(before, after):
    x = tf.constant([0.7, -0.4], tf.float64)

    @tf.custom_gradient
    def cube(a):
        return a * a * a, lambda upstream: 3.0 * a * a * upstream

    def plain(a):
        return a * a * a

    found = []
    for middle in (cube, plain):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                inside = computed(before, x)
                y = computed(after, middle(inside)) + inside
            first = tape.gradient(y, [x, inside])
        second = outer.gradient(first[0], x, unconnected_gradients="zero")
        found.append([*first, second, tape.jacobian(y, x)])
    for own, plain_one in zip(*found, strict=True):
        assert (own is None) == (plain_one is None)
        if own is not None:
            assert np.allclose(np.asarray(own), np.asarray(plain_one), rtol=1e-9, atol=1e-9)


def test_all_values_of_a_reassigned_variable_contribute():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        before = x**2
        x.assign(before)
        after = x**3
        y = before + after
    assert float(tape.gradient(y, x)) == 2 * 2.0 + 3 * 4.0**2


def test_tapes_of_threads_are_independent():
    from concurrent.futures import ThreadPoolExecutor

    x = tf.Variable(3.0)

    def slope(power):
        with tf.GradientTape() as tape:
            y = x**power
        return float(tape.gradient(y, x))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slope, [1, 2, 3, 4] * 5)) == [1.0, 6.0, 27.0, 108.0] * 5


def test_a_failed_request_does_not_change_the_tape(monkeypatch):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    with monkeypatch.context() as away:
        away.setenv("GRADWIRE_URL", "http://127.0.0.1:9")
        with pytest.raises(tf.errors.UnavailableError):
            tape.gradient(y, x)
    assert float(tape.gradient(y, x)) == 6.0


def test_gathered_rows_have_sliced_gradients():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.gather(table, [2, 0, 2])
        y = rows * rows
        z = y + tf.reshape(table, [3, 2])
    sparse = tape.gradient(y, table)
    assert isinstance(sparse, tf.IndexedSlices)
    assert sparse.indices.numpy().tolist() == [2, 0, 2]
    assert np.allclose(sparse.values, 2 * rows.numpy())
    dense = np.asarray(tf.convert_to_tensor(sparse))
    assert dense.tolist() == [[2.0, 4.0], [0.0, 0.0], [20.0, 24.0]]
    assert np.allclose(np.asarray(tape.gradient(z, table)), dense + 1.0)


def test_slices_of_several_gathers_are_in_tensorflow_s_order():
    table = tf.Variable([1.0, 2.0, 3.0, 4.0])

    def order(f):
        with tf.GradientTape() as tape:
            y = f(*(tf.gather(table, [i]) for i in range(4)))
        return tape.gradient(y, table).indices.numpy().tolist()

    assert order(lambda a, b, c, d: a + b) == [0, 1]
    assert order(lambda a, b, c, d: [a, b]) == [1, 0]
    assert order(lambda a, b, c, d: a * b * c) == [2, 0, 1]
    assert order(lambda a, b, c, d: a + b * 5.0 + c * 7.0 + d) == [3, 0, 2, 1]


def test_second_derivatives_are_zero_through_rectifiers_and_none_of_lines():
    x, w = tf.Variable([0.3, -0.7]), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape(persistent=True) as inner:
            rectified = tf.nn.relu(x) + w
            line = 3.0 * x
        across = inner.gradient(rectified, x)
        slope = inner.gradient(line, x)
        beside = inner.gradient(rectified, w)
    assert np.asarray(outer.gradient(across, x)).tolist() == [0.0, 0.0]
    assert np.asarray(outer.jacobian(across, x)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert outer.gradient(slope, x) is None
    assert outer.gradient(across, w) is None
    assert outer.gradient(beside, x) is None


def test_gradients_inside_a_persistent_tape_warn_once(caplog):
    tapes._warn_of_gradients_inside.cache_clear()
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        cube = x**3
        slopes = [float(tape.gradient(cube, x)) for _ in range(3)]
    assert slopes == [12.0] * 3
    assert [record.message for record in caplog.records] == [tapes.INSIDE]
