import gradwire
import numpy as np
import pytest


def power(x):
    return gradwire.while_loop(lambda c: c[0] < 100, lambda c: (c[0] * x, c[1] + 1), (x, 0.0))[0]


def polynomial(x):
    return gradwire.fori(0, 5, lambda i, c: c * x + i, 1.0)


def sums(x):
    rows = {"a": np.arange(3.0)}
    return gradwire.scan(lambda c, e: (c * x + e["a"], {"s": c}), x, rows)[1]["s"].sum()


def stacked(x):
    powers = gradwire.scan(lambda c, e: (c * x, c * e), 1.0, np.arange(3.0))[1]
    return powers.shape[0] * powers[1] + powers[2]


def repeated(x):
    return gradwire.scan(lambda c, _: (c * x, None), x, length=3)[0]


def chosen(x):
    pair = gradwire.cond(x > 1, lambda a: (a * a, a), lambda a: (a, a), x)
    return pair[0] * gradwire.switch(np.int64(1), [lambda a: a, lambda a: a**3], x)


def recomputed(x):
    return gradwire.checkpoint(lambda a, b: np.sin(a) * b)(x, 3.0)


def stopped(x):
    return x * gradwire.stop_gradient(x)


def doubled(x):
    double = lambda c: (c[0] * 2, c[0] > 50)  # noqa: E731
    return gradwire.while_loop(lambda c: np.logical_not(c[1]), double, (x, False))[0]


def measured(x):
    rows = gradwire.scan(lambda c, e: (c, e * c), x, np.ones((4, 3)))[1]
    grown = gradwire.fori(0, 2, lambda _, c: c + 1, np.zeros(5) * x)
    return np.sum(rows) / rows.shape[0] + np.sum(grown) * grown.shape[0]


@pytest.mark.parametrize(
    "f", [power, polynomial, sums, stacked, repeated, chosen, recomputed, doubled]
)
def test_control_flow_agrees_with_python(f, client):
    for x in (1.9, 0.8) if f is not power else (1.9, 2.3):
        value, slope = gradwire.value_and_grad(f, client=client)(x)
        assert value == pytest.approx(f(x))
        assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-5)


def test_shapes_of_loop_results_are_known_under_vmap(client):
    each = gradwire.vmap(measured, client=client)(np.array([1.0, 2.0]))
    assert np.allclose(each, [measured(1.0), measured(2.0)])


def test_stop_gradient_has_no_derivative(client):
    assert gradwire.grad(stopped, client=client)(3.0) == 3.0


def test_a_carry_of_another_structure_is_refused(client):
    with pytest.raises(gradwire.NotTraceable, match="another structure"):
        gradwire.grad(
            lambda x: gradwire.while_loop(lambda c: c < 1, lambda c: (c, c), x), client=client
        )(1.0)


def test_each_example_under_vmap_takes_its_own_branch(client):
    def f(x):
        return gradwire.cond(x > 0, np.sqrt, lambda x: -x * x, x)

    xs = np.array([4.0, -3.0])
    value, slope = gradwire.vmap(gradwire.value_and_grad(f), client=client)(xs)
    assert np.allclose(value, [2.0, -9.0])
    assert np.allclose(slope, [0.25, 6.0])
