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


def repeated(x):
    return gradwire.scan(lambda c, _: (c * x, None), x, length=3)[0]


def chosen(x):
    pair = gradwire.cond(x > 1, lambda a: (a * a, a), lambda a: (a, a), x)
    return pair[0] * gradwire.switch(np.int64(1), [lambda a: a, lambda a: a**3], x)


def recomputed(x):
    return gradwire.checkpoint(lambda a, b: np.sin(a) * b)(x, 3.0)


def stopped(x):
    return x * gradwire.stop_gradient(x)


@pytest.mark.parametrize("f", [power, polynomial, sums, repeated, chosen, recomputed])
def test_control_flow_in_the_program_is_that_of_python(f, client):
    for x in (1.9, 0.8) if f is not power else (1.9, 2.3):
        value, slope = gradwire.value_and_grad(f, client=client)(x)
        assert value == pytest.approx(f(x))
        assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-5)


def test_stop_gradient_is_a_constant(client):
    assert gradwire.grad(stopped, client=client)(3.0) == 3.0


def test_a_carry_of_another_structure_is_refused(client):
    with pytest.raises(gradwire.NotTraceable, match="another structure"):
        gradwire.grad(
            lambda x: gradwire.while_loop(lambda c: c < 1, lambda c: (c, c), x), client=client
        )(1.0)
