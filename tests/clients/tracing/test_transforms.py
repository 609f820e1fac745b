import logging
import math

import gradwire
import numpy as np
import pytest

logger = logging.getLogger(__name__)


@pytest.fixture
def at(client):
    """A transform that uses the service of this test run."""
    return lambda transform, f, *args, **options: transform(f, *args, client=client, **options)


def cube(w):
    return np.sum(w**3)


W = np.array([0.5, -2.0])


def test_a_gradient_is_nested_like_the_argument(at):
    def loss(params, x):
        return np.sum(np.tanh(x @ params["w"] + params["b"][0]))

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    params = {"w": W, "b": [0.5, np.float32(2.0)]}
    value, gradient = at(gradwire.value_and_grad, loss)(params, x)
    slope = 1 - np.tanh(x @ W + 0.5) ** 2
    assert value == pytest.approx(loss(params, x))
    assert np.allclose(gradient["w"], slope @ x)
    assert gradient["b"][0] == pytest.approx(slope.sum())
    assert (gradient["b"][1], gradient["b"][1].dtype) == (0, np.float32)


def test_higher_order_derivatives_nest(at):
    third = at(gradwire.grad, gradwire.grad(gradwire.grad(lambda x: np.sin(x) * x**2)))
    x = 0.7
    expected = 6 * np.cos(x) - 6 * x * np.sin(x) - x**2 * np.cos(x)
    assert third(x) == pytest.approx(expected)


def test_hessian_and_hessian_vector_products_agree(at):
    v = np.array([1.0, 10.0])
    assert np.allclose(at(gradwire.hessian, cube)(W), np.diag(6 * W))
    (gradient,), (product,) = at(lambda f, **k: gradwire.hvp(f, (W,), (v,), **k), cube)
    assert np.allclose([gradient, product], [3 * W**2, 6 * W * v])


def test_a_jacobian_has_the_axes_of_the_value_then_of_the_argument(at):
    matrix = np.arange(6.0).reshape(3, 2)
    assert np.allclose(at(gradwire.jacobian, lambda w: matrix @ w)(W), matrix)


@pytest.mark.parametrize(
    "wrong", [np.array([1, 2]), np.int64(3), np.array([True]), {"w": np.ones(2), "n": np.int8(3)}]
)
@pytest.mark.parametrize(
    "transform", [gradwire.grad, gradwire.value_and_grad, gradwire.jacobian, gradwire.hessian]
)
def test_integers_are_refused_rather_than_given_zeros(client, transform, wrong):
    total = lambda p: np.sum(p["w"] * p["n"] if isinstance(p, dict) else p**2)  # noqa: E731
    with pytest.raises(gradwire.UsageError, match="no derivative with respect to"):
        transform(total, client=client)(wrong)
    inside = lambda s: s * transform(total)(wrong)  # noqa: E731
    with pytest.raises(gradwire.UsageError, match="convert it"):
        gradwire.function(inside, client=client)(2.0)


@pytest.mark.parametrize("transform", [gradwire.jvp, gradwire.vjp, gradwire.hvp])
def test_products_with_derivatives_in_integers_are_refused(client, transform):
    along = 1.0 if transform is gradwire.vjp else (np.array([1.0, 0.5]),)
    with pytest.raises(gradwire.UsageError, match="no derivative with respect to"):
        transform(lambda x: np.sum(x**3), (np.array([1, 2]),), along, client=client)


def test_jvp_and_vjp_are_adjoint(client):
    def f(a, b):
        return np.outer(a, b) * np.exp(a)[:, None]

    rng = np.random.default_rng(0)
    a, b, da, db = rng.normal(size=(4, 3))
    cotangent = rng.normal(size=(3, 3))
    _, along = gradwire.jvp(f, (a, b), (da, db), client=client)
    _, (ga, gb) = gradwire.vjp(f, (a, b), cotangent, client=client)
    assert np.sum(cotangent * along) == pytest.approx(ga @ da + gb @ db)


def test_vmap_of_a_gradient_is_the_gradient_of_each_example(at):
    xs = np.array([[1.0, 2.0], [3.0, -4.0]])
    each = at(gradwire.vmap, gradwire.grad(lambda w, x: np.tanh(x @ w)), in_axes=(None, 0))
    assert np.allclose(each(W, xs), (1 - np.tanh(xs @ W) ** 2)[:, None] * xs)


def test_python_branches_are_decided_in_each_call(at):
    def root(a):
        x = 1.0
        while abs(x * x - a) > 1e-9:
            x = (x + a / x) / 2
        return x

    slope = at(gradwire.grad, root)
    for a in (2.0, 2.1, 50.0, 2.0, 0.01):
        assert slope(a) == pytest.approx(0.5 / np.sqrt(a))


def test_replaced_captured_values_are_noticed(at):
    scale = 2.0

    def f(x):
        return scale * x

    slope = at(gradwire.grad, f)
    assert slope(1.0) == 2.0
    scale = 5.0
    assert slope(1.0) == 5.0


def test_unrecordable_code_is_reported_with_its_line(at):
    with pytest.raises(gradwire.NotTraceable, match=r"test_transforms\.py:\d+ in <lambda>"):
        at(gradwire.grad, lambda x: math.fsum([x, 1]))(1.0)


def test_an_error_of_the_service_names_the_recorded_line(at):
    with pytest.raises(gradwire.ShapeMismatch) as refused:
        at(gradwire.grad, lambda x: np.sum(x @ np.ones((3, 3))))(W)
    assert "test_transforms.py" in refused.value.__notes__[0]


async def test_an_async_client_fetches_values_that_python_needs(awaiting_client):
    def f(x):
        return x**2 if np.sum(x) > 0 else -x

    slope = gradwire.grad(f, client=awaiting_client)
    assert await slope(3.0) == 6.0
    assert await slope(-3.0) == -1.0


def test_shapes_of_derivatives_are_known_under_vmap(at):
    def f(x):
        matrix = gradwire.jacobian(lambda x: np.outer(x, x))(x)
        curvature = gradwire.hessian(lambda x: np.sum(x**4))(x)
        rows = gradwire.vmap(lambda v: v * x, out_axes=1)(np.ones((5, 3)))
        along = gradwire.jvp(lambda x: x**2, (x,), (np.ones(3),))[1]
        shapes = (matrix.shape, curvature.shape, rows.shape, along.shape)
        assert shapes == ((3, 3, 3), (3, 3), (3, 5), (3,))
        return np.linalg.eigvalsh(curvature)[0] + matrix.sum()

    xs = np.array([[1.0, 2.0, 3.0], [0.5, 2.0, -1.0]])
    expected = [12 * min(x**2) + 6 * x.sum() for x in xs]
    assert np.allclose(at(gradwire.vmap, f)(xs), expected)


def test_jvp_and_vjp_of_a_function_are_kept(client, caplog):
    caplog.set_level("INFO")

    def f(w):
        logger.info("recorded")
        return np.sum(w**3)

    for scale in (1.0, 2.0, 3.0):
        _, (product,) = gradwire.hvp(f, (scale * W,), (W,), client=client)
        assert np.allclose(product, 6 * scale * W**2)
    runs = [each for each in caplog.records if each.name == __name__]
    assert len(runs) == 2  # at first, to compare


def test_complex_values_by_real_arguments_have_the_derivatives_of_both_parts(client):
    def f(x, y):
        return x * (2 + 3j) + np.exp(1j * y)

    x, y = np.array([1.0, 2.0]), 0.5
    by_x, by_y = gradwire.jacobian(f, (0, 1), client=client)(x, y)
    np.testing.assert_allclose(by_x, np.eye(2) * (2 + 3j))
    np.testing.assert_allclose(by_y, np.full(2, 1j * np.exp(1j * y)))
    along = gradwire.jvp(f, (x, y), (np.ones(2), 1.0), client=client)[1]
    np.testing.assert_allclose(by_x.sum(1) + by_y, along)
    holomorphic = gradwire.grad(lambda z: z**2, client=client)(3 + 4j)
    assert holomorphic == pytest.approx(6 - 8j)


def test_gradients_of_complex_values_by_real_arguments_are_refused(client):
    for derivative in (gradwire.grad, gradwire.value_and_grad):
        with pytest.raises(gradwire.NotTraceable, match="needs a real value, got complex128"):
            derivative(lambda x: x * (2 + 3j), client=client)(1.0)
    with pytest.raises(gradwire.NotTraceable, match="needs real values, got complex128"):
        gradwire.jacobian(lambda x: x * 1j, format="coo", client=client)(np.ones(2))
