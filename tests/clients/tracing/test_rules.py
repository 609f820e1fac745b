import gradwire
import numpy as np
import pytest


@gradwire.custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda z_bar: z_bar * (1 - 1 / (1 + e))


@gradwire.custom_gradient
def product_and_sum(a, b):
    return (a * b, a + b), lambda of_product, of_sum: (of_product * b + of_sum, 10.0)


clipped = gradwire.custom_gradient(lambda x: x, lambda z_bar, z, x: np.clip(z_bar, -1, 1))


halved = gradwire.custom_gradient(lambda a, b: a + b, lambda z_bar, *_: z_bar / 2)


def weighed(z_bar, z, weights, x):
    return {"a": z_bar["s"] * z["t"], "b": None}, 7 * z_bar["t"]


nested = gradwire.custom_gradient(
    lambda weights, x: {"s": weights["a"] * x, "t": weights["b"] + x}, weighed
)


def test_a_custom_rule_replaces_the_derivative_and_can_be_differentiated(client):
    assert gradwire.grad(log1pexp, client=client)(1000.0) == 1.0
    logistic = 1 / (1 + np.exp(-0.3))
    second = gradwire.grad(gradwire.grad(log1pexp), client=client)(0.3)
    assert second == pytest.approx(logistic * (1 - logistic))


def test_a_custom_rule_gets_the_cotangent_the_value_and_the_arguments(client):
    x = np.array([1.0, 2.0])
    slope = gradwire.grad(lambda x: np.sum(np.array([5.0, 0.5]) * clipped(x)), client=client)(x)
    assert np.array_equal(slope, [1.0, 0.5])


def test_cotangents_are_nested_like_their_values(client):
    def loss(weights, x):
        found = nested(weights, x)
        return found["s"] + 3 * found["t"]

    both = gradwire.value_and_grad(loss, (0, 1), client=client)({"a": 2.0, "b": 1.0}, 5.0)
    assert both == (28.0, ({"a": 6.0, "b": 0.0}, 21.0))


def test_each_part_of_a_tuple_has_a_cotangent(client):
    of_both = gradwire.grad(lambda a, b: sum(product_and_sum(a, b)), (0, 1), client=client)
    assert of_both(2.0, 3.0) == (4.0, 10.0)


def test_a_function_with_a_custom_rule_can_be_mapped(client):
    slopes = gradwire.vmap(gradwire.grad(log1pexp), client=client)(np.array([-1.0, 1.0]))
    assert np.allclose(slopes, 1 / (1 + np.exp([1.0, -1.0])))


def test_called_directly_it_is_the_plain_function():
    assert log1pexp(0.0) == np.log(2)
    assert clipped(3.0) == 3.0


@pytest.mark.parametrize(
    ("f", "problem"),
    [
        (gradwire.custom_gradient(lambda x: x), "a pair of its value and"),
        (lambda x: halved(x, x), "a tuple of 2 cotangents"),
        (gradwire.custom_gradient(lambda x: x, lambda *_: {"a": 1.0, "b": 2.0}), "2 cotangents"),
    ],
)
def test_invalid_rules_are_refused(f, problem, client):
    with pytest.raises(gradwire.NotTraceable, match=problem):
        gradwire.grad(f, client=client)(1.0)
