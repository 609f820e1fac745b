"""Pseudoinverses that cut off singular values that are not 0."""

import numpy as np
import pytest

H = 0.02
#: Central differences of order 8 on 9 points: weights of the first three derivatives.
POINTS = np.arange(-4, 5)
WEIGHTS = np.linalg.inv(np.vander(POINTS * H, increasing=True).T).T
SHAPES = [(2, 2), (3, 3), (4, 2), (2, 4), (5, 3), (3, 5)]


def with_values(rng, shape, values, dtype):
    """A matrix of these singular values."""
    sizes = [(n, n) for n in shape]
    parts = [rng.normal(size=s) + 1j * rng.normal(size=s) * (dtype is complex) for s in sizes]
    u, v = (np.linalg.qr(part)[0][:, : len(values)] for part in parts)
    a = (u * values) @ v.conj().T
    return a if dtype is complex else a.real


def derivatives(client, f):
    """The first three derivatives at 0, and those by differences."""
    walks = [client.grad(f)]
    for _ in range(2):
        walks.append(client.grad(walks[-1]))
    found = [walk(0.0) for walk in walks]
    values = [f(x) for x in POINTS * H]
    return found, [WEIGHTS[k] @ values * [1, 1, 2, 6][k] for k in (1, 2, 3)]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("low", [(0.9,), (0.5, 0.5), (0.7, 0.0), ()])
def test_derivatives_are_those_at_a_constant_count(client, shape, low, dtype):
    rng = np.random.default_rng([*shape, len(low), dtype is complex])
    least = min(shape)
    values = np.array([3.0, 3.0, 2.0][: max(1, least - len(low))] + [*low][: least - 1])
    a = with_values(rng, shape, values, dtype)
    step, seed = (with_values(rng, s, [1.0, 0.5], dtype) for s in (shape, shape[::-1]))
    b = rng.normal(size=shape[0])
    functions = [
        lambda t: np.sum((np.linalg.pinv(a + t * step * 0.2, rcond=0.45) * seed).real),
        lambda t: np.sum(np.linalg.lstsq(a + t * step * 0.2, b, rcond=0.45)[0].real ** 2),
    ]
    for f in functions:
        found, expected = derivatives(client, f)
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_each_matrix_of_a_stack_keeps_its_own(client):
    rng = np.random.default_rng(3)
    a = np.stack([with_values(rng, (3, 4), v, float) for v in ([3, 2, 1], [3, 1, 0.5], [3, 2, 2])])
    found = client.jacobian(lambda a: np.linalg.pinv(a, rcond=0.5))(a)
    alone = [client.jacobian(lambda a: np.linalg.pinv(a, rcond=0.5))(x) for x in a]
    for i, jacobian in enumerate(alone):
        np.testing.assert_allclose(found[i, ..., i, :, :], jacobian, rtol=1e-9, atol=1e-12)


def test_the_hessian_is_symmetric(client):
    a = np.array([[3.0, 0.2, 1.0], [0.0, 1.0, 0.3]])
    hessian = client.hessian(lambda a: np.sum(np.linalg.pinv(a, rcond=0.5) ** 3))(a)
    found = hessian.reshape(6, 6)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
