"""Spectra, factorisations and functions of matrices: values, conventions, refusals."""

from math import inf
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from gradwire_engine.check import Call, check, evaluate
from gradwire_engine.ops.base import FUNCTIONS
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results

RNG = np.random.default_rng(31)
EYE = [[1, 0], [0, 1]]
RANK_ONE = np.array([[1.0, 2.0], [2.0, 4.0]])
TALL = RNG.normal(size=(3, 2))
ROWS: dict[str, Any] = {
    "eigvalsh [[2,1],[1,3]] seed (1,10)": (
        lambda f, x: f.multiply(f.eigvalsh(x), [1, 10]),
        [[2, 1], [1, 3]],
        [[5.5 - 4.5 / 5**0.5, 0], [18 / 5**0.5, 5.5 + 4.5 / 5**0.5]],
    ),
    "eigvalsh degenerate I, seed (1,10)": (
        lambda f, x: f.multiply(f.eigvalsh(x), [1, 10]),
        EYE,
        [[1, 0], [0, 10]],
    ),
    "eigh vectors degenerate I, seed [[1,2],[3,4]]": (
        lambda f, x: f.multiply(f.eigh(x)[1], [[1, 2], [3, 4]]),
        EYE,
        [[0, 0], [0, 0]],
    ),
    "svdvals equal (I)": (lambda f, x: f.svdvals(x), EYE, EYE),
    "svdvals zero matrix": (lambda f, x: f.svdvals(x), [[0, 0], [0, 0]], EYE),
    "nuclear norm of the zero matrix": (lambda f, x: f.norm(x, "nuc"), [[0, 0], [0, 0]], EYE),
    "svd vectors equal (I)": (
        lambda f, x: f.multiply(f.svd(x)[0], [[1, 2], [3, 4]]),
        EYE,
        [[0, -0.25], [0.25, 0]],
    ),
    "cdist of equal rows": (lambda f, x: f.cdist(x, x), [[1, 2], [1, 2]], [[0, 0], [0, 0]]),
}


@pytest.mark.parametrize("row", ROWS)
def test_gradient(row, gradients):
    function, value, expected = ROWS[row]
    (found,) = gradients(function, value)
    assert np.asarray(found) == pytest.approx(np.asarray(expected), 1e-9, 1e-12)


def pinv_slope(a, direction):
    """Derivative of the pseudoinverse along ``direction``, by the formula for constant rank."""
    p, d = np.linalg.pinv(a), direction
    one, other = np.eye(len(a)), np.eye(a.shape[1])
    return -p @ d @ p + p @ p.T @ d.T @ (one - a @ p) + (other - p @ a) @ d.T @ p.T @ p


@pytest.mark.parametrize(
    "a", [RANK_ONE, TALL], ids=["pinv rank deficient [[1,2],[2,4]]", "pinv 3x2"]
)
def test_pseudoinverse_has_the_formula_of_constant_rank(a, gradients):
    seed = RNG.normal(size=a.T.shape)
    (found,) = gradients(lambda f, x: f.multiply(f.pinv(x), seed.tolist()), a)
    for i, j in np.ndindex(*a.shape):
        unit = np.zeros_like(a)
        unit[i, j] = 1
        assert found[i][j] == pytest.approx(np.sum(seed * pinv_slope(a, unit)))


A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
S = A + A.T
STACK = np.stack([A, A @ A])
BANDS = RNG.normal(size=(3, 4)) + 3
V = RNG.normal(size=3)
VALUES = [
    (Call.of("eigvalsh", S), np.linalg.eigvalsh(S)),
    (Call.of("eigvals", A), np.linalg.eigvals(A)),
    (Call.of("svdvals", STACK), np.linalg.svdvals(STACK)),
    (Call.of("pinv", TALL), np.linalg.pinv(TALL)),
    (Call.of("pinv", RANK_ONE), np.linalg.pinv(RANK_ONE)),
    (Call.of("matrix_rank", RANK_ONE), 1),
    (Call.of("matrix_rank", np.stack([RANK_ONE, RANK_ONE * 0, np.eye(2)])), [1, 0, 2]),
    (Call.of("matrix_rank", np.eye(2), 1.5), 0),
    *[(Call.of("cond", A, p), np.linalg.cond(A, p)) for p in (None, 1, -2, inf, "fro", "nuc")],
    *[(Call.of("norm", STACK, p, (1, 2)), np.linalg.norm(STACK, p, (1, 2))) for p in (2, -2)],
    (Call.of("norm", TALL, "nuc"), np.linalg.norm(TALL, "nuc")),
    *[
        (Call.of(name, STACK), np.stack([getattr(scipy.linalg, name)(m) for m in STACK]))
        for name in ("expm", "sqrtm", "logm")
    ],
    (Call.of("sqrtm", -np.eye(2)), np.full((2, 2), np.nan)),
    (Call.of("logm", -np.eye(2) + 0j), np.eye(2) * np.pi * 1j),
    (Call.of("solve_sylvester", A, S, A), scipy.linalg.solve_sylvester(A, S, A)),
    *[
        (Call.of(name, A, S), getattr(scipy.linalg, name)(A, S))
        for name in ("solve_continuous_lyapunov", "solve_discrete_lyapunov")
    ],
    *[
        (
            Call.of(name, A, TALL, np.eye(3), np.eye(2)),
            getattr(scipy.linalg, name)(A, TALL, np.eye(3), np.eye(2)),
        )
        for name in ("solve_continuous_are", "solve_discrete_are")
        for f in (getattr(scipy.linalg, name),)
    ],
    (
        Call.of("solve_continuous_are", np.eye(3), 0 * TALL, np.eye(3), np.eye(2)),
        np.full((3, 3), np.nan),
    ),
    (
        Call.of("solve_banded", (1, 1), BANDS, np.ones(4)),
        scipy.linalg.solve_banded((1, 1), BANDS, np.ones(4)),
    ),
    (
        Call.of("tridiagonal_solve", np.ones(3), V + 5, np.ones(3), V),
        np.linalg.solve(np.diag(V + 5) + np.eye(3, k=1) + np.eye(3, k=-1), V),
    ),
    (Call.of("block_diag", A, TALL, V), scipy.linalg.block_diag(A, TALL, V)),
    (Call.of("toeplitz", V, V[:2] + 1), scipy.linalg.toeplitz(V, V[:2] + 1)),
    (Call.of("toeplitz", V + 1j), scipy.linalg.toeplitz(V + 1j)),
    (Call.of("vander", V), np.vander(V)),
    (Call.of("vander", np.arange(3), 4, True), np.vander(np.arange(3), 4, increasing=True)),
    (Call.of("cdist", A, S), np.linalg.norm(A[:, None] - S, axis=-1)),
]


@pytest.mark.parametrize(
    ("call", "expected"), VALUES, ids=[f"{i}-{v[0]}" for i, v in enumerate(VALUES)]
)
def test_value(call, expected):
    (found,) = evaluate(call.record, call.values)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("b", [V, RNG.normal(size=(3, 2))])
def test_least_squares_are_numpys(b):
    expected = np.linalg.lstsq(TALL, b)
    found = results("lstsq", TALL, b)
    for one, wanted in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(wanted)
        assert_allclose(one, wanted)


def test_the_parts_multiply_to_the_matrix():
    a = STACK + 1j * STACK[::-1]
    w, v = results("eig", a)
    assert_allclose(a @ v, v * w[:, None])
    p, lower, upper = results("lu", a)
    assert_allclose(p @ lower @ upper, a)
    q, r = results("qr", a)
    assert_allclose(q @ r, a)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3), (3, 0)])
def test_the_square_parts_are_unitary_and_multiply_to_the_matrix(shape):
    a = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    u, s, vh = results("svd", a)
    rectangle = np.zeros(shape)
    np.einsum("...ii->...i", rectangle[..., : s.shape[-1], : s.shape[-1]])[...] = s
    assert_allclose(u @ rectangle @ vh, a, atol=1e-12)
    q, r = results("qr", a, "complete")
    assert_allclose(q @ r, a, atol=1e-12)
    for unitary in (u, vh, q):
        one = np.broadcast_to(np.eye(unitary.shape[-1]), unitary.shape)
        assert_allclose(unitary @ unitary.conj().swapaxes(-1, -2), one, atol=1e-12)


def test_a_rectangular_lu_is_scipys():
    for a in (TALL, TALL.T):
        for found, wanted in zip(results("lu", a), scipy.linalg.lu(a), strict=True):
            assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "lower", "upper"),
    [
        (np.full((2, 3), np.nan), [[1, 0], [np.nan, 1]], [[np.nan] * 3, [0, np.nan, np.nan]]),
        ([[2.0, 1.0], [1.0, np.nan]], [[1, 0], [0.5, 1]], [[2, 1], [0, np.nan]]),
        ([[2.0, np.inf], [1.0, 4.0]], [[1, 0], [0.5, 1]], [[2, np.inf], [0, -np.inf]]),
    ],
)
def test_elimination_goes_on_with_what_is_not_finite(a, lower, upper):
    found = evaluate(Call.of("lu", a).record, [np.asarray(a)])
    for part, expected in zip(found, (np.eye(2), lower, upper), strict=True):
        assert_array_equal(part, expected)


def test_what_lu_factor_gives_is_what_lu_solve_takes(ask):
    for trans, matrix in enumerate([A, A.T, A.T]):
        found = ask.value(f"lu_solve(lu_factor(a), b, {trans})", {"a": A, "b": V})
        assert_allclose(found, np.linalg.solve(matrix, V))


def test_a_symmetric_function_of_equal_eigenvalues_is_smooth():
    def sum_of_cubes(b, x):
        w = FUNCTIONS["eigvalsh"].record(b, x)
        return FUNCTIONS["sum"].record(b, w * w * w)

    assert check(sum_of_cubes, [np.eye(3)], order=1) == []


@pytest.mark.parametrize("values", [[1, 1, 1], [1, 1, 2], [1, 2, 2], [1, 1 + 1e-14, 2]])
@pytest.mark.parametrize("vectors", ["eigh(a)[1]", "real(eig(a)[1])", "svd(a)[0]", "svd(a)[2]"])
def test_hessians_through_vectors_of_equal_values_are_warned_of(ask, vectors, values):
    turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    for a in (np.diag(values), (turn * values) @ turn.T):
        for text in (f"sum(b * {vectors})", f"sum(b * {vectors} ** 2)"):
            found = ask.answer(
                text, {"a": (a + a.T) / 2, "b": A @ A}, kind="hessian", sources=["a"]
            )
            assert found.warnings


@pytest.mark.parametrize("name", ["eig", "eigvalsh", "svd", "svdvals", "pinv", "logm", "expm"])
def test_what_is_not_finite_gives_nan_for_its_matrix_alone(name):
    stack = np.stack([np.full((2, 2), np.nan), np.diag([1.0, 2.0])])
    for part in results(name, stack):
        assert np.isnan(part[0]).all()
        assert np.isfinite(part[1]).all()


def test_results_and_their_derivatives_use_each_part_of_a_pair(ask):
    text = "w, v = linalg.eigh(a)\nb = v @ diag(w*w*w) @ v.T\ng = grad(sum(b*c), a)\nsum(g*g)"
    a, c = np.diag([1.0, 2.0, 4.0]) + 0.1, RNG.normal(size=(3, 3))

    def spelled_out(x):
        h = np.tril(x) + np.tril(x, -1).T
        bar = h.T @ h.T @ c + h.T @ c @ h.T + c @ h.T @ h.T
        both = np.tril(bar + bar.T)
        return np.sum((both - np.diag(np.diag(both)) / 2) ** 2)

    assert ask.value(text, {"a": a, "c": c}) == pytest.approx(spelled_out(a))
    found = ask.gradients(text, {"a": a, "c": c}, sources="a")
    for i, j in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[i, j] = 1e-4
        slope = (spelled_out(a + step) - spelled_out(a - step)) / 2e-4
        assert found[i, j] == pytest.approx(slope, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("lower", ["", ", lower=True"])
def test_what_cho_factor_gives_is_what_cho_solve_takes(ask, lower):
    a = A @ A.T
    found = ask.value(f"cho_solve(cho_factor(a{lower}), b)", {"a": a, "b": V})
    assert_allclose(found, np.linalg.solve(a, V))


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("shape", [(6, 6), (2, 3, 3)])
def test_eigenvectors_have_numpys_signs_for_either_triangle(ask, triangle, shape):
    a = np.random.default_rng(8).normal(size=shape)
    for part, expected in enumerate(np.linalg.eigh(a, triangle)):
        found = ask.value(f"linalg.eigh(a, UPLO={triangle!r})[{part}]", {"a": a})
        assert_array_equal(found, expected)


def test_the_derivative_of_a_logarithm_on_its_branch_cut_is_that_of_its_value(ask):
    a = np.array([[-3.0, 0.4], [0.1, -2.0]])
    step = 1e-6 * np.array([[0.0, 1.0], [0.0, 0.0]])
    text = "sum(abs(logm(a.astype('complex128'))))"
    numeric = (
        sum(np.abs(scipy.linalg.logm(a + sign * step)).sum() * sign for sign in (1, -1)) / 2e-6
    )
    assert ask.gradients(text, {"a": a}, sources="a")[0, 1] == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("order", [-inf, -3, -2, -1, -0.5, 0.5, 1, 1.5, 2, 3, 4, inf])
@pytest.mark.parametrize("kind", [float, complex])
def test_norms_of_any_order_and_sign(ask, order, kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6, 5)).astype(kind)
    if kind is complex:
        x += 1j * rng.normal(size=x.shape)
    name = f'"{order}"' if np.isinf(order) else repr(order)
    found = ask.value(f"norm(x, {name}, 1)", {"x": x})
    assert_allclose(found, np.linalg.norm(x, order, 1), rtol=1e-13)
    if kind is float:
        step, slope = 1e-6, rng.normal(size=x.shape)
        found = ask.answer(f"sum(norm(x, {name}, 1))", {"x": x}).gradients["x"]
        ahead, behind = (np.linalg.norm(x + s * slope, order, 1).sum() for s in (step, -step))
        assert_allclose(np.sum(found * slope), (ahead - behind) / 2 / step, rtol=1e-6)
