"""Derivatives at norms of 0, equal eigenvalues and singular matrices: limits, or warnings."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES
from gradwire_engine.ops.elementwise import Unary
from numpy.testing import assert_allclose, assert_array_equal


def normal(shape: Any, seed: int) -> Any:
    """Draws that are the same in every run and order of tests."""
    return np.random.default_rng(seed).normal(size=shape)


UNARY = sorted(
    name
    for name, op in PRIMITIVES.items()
    if issubclass(op, Unary) and op.differentiable and name in FUNCTIONS
)
#: Even functions of ``r`` made of any function.
EVEN = ["F(C + r) + F(C - r)", "F(C + r*r)", "r * (F(C + r) - F(C - r))"]
LENGTHS = [
    "norm(x)",
    "hypot(x[0], x[1])",
    "abs(complex(x[0], x[1]))",
    "norm(x[None], axis=1)[0]",
    "std([x[0], -x[0], x[1], -x[1]]) * sqrt(2.0)",
    "torch.cdist(x[None], zeros((1, 2)))[0, 0]",
    "tf.linalg.global_norm([x[:1], x[1:]])",
]
STEP = 0.01


def hessian(ask: Any, text: str, variables: Any, **query: Any) -> tuple[Any, list[str]]:
    answer = ask.answer(text, variables, kind="hessian", sources="x", **query)
    assert not answer.nonfinite
    return answer.derivatives["hessian"], [notice.code for notice in answer.warnings]


def curvature(ask: Any, even: str) -> float | None:
    """The second derivative at 0 by differences, None where they do not converge."""
    try:
        y = np.asarray(ask.value(even, {"r": STEP * np.arange(-4, 5)}))
    except EngineError:  # it takes no negative numbers, or no real ones
        return None
    if not np.isfinite(y).all():
        return None
    coarse, fine = ((16 * (y[4 + s] + y[4 - s]) - y[4 + 2 * s] - y[4 - 2 * s]) for s in (2, 1))
    coarse, fine = (coarse - 30 * y[4]) / 48 / STEP**2, (fine - 30 * y[4]) / 12 / STEP**2
    return fine if abs(coarse - fine) < 1e-4 * (1 + abs(fine)) else None


@pytest.mark.parametrize("function", [f for f in UNARY if f not in ("absolute", "cbrt", "imag")])
def test_even_functions_of_a_length_have_their_curvature_at_0(ask, function):
    tried = 0
    for number, even in enumerate(EVEN, UNARY.index(function)):
        text = even.replace("C", str(0.3 * (number % 2))).replace("F", function)
        expected = curvature(ask, text)
        if expected is not None:
            tried += 1
            length = LENGTHS[number % len(LENGTHS)]
            found, warnings = hessian(ask, f"r = {length}\n{text}", {"x": [0.0, 0.0]})
            assert not warnings, text
            assert_allclose(found, expected * np.eye(2), 1e-4, 1e-5, err_msg=text)
    assert tried or function in ("reciprocal", "log", "sqrt", "arccosh"), function


KERNELS = {
    "exp(-r*r)": -2,
    "(1 + sqrt(3)*r) * exp(-sqrt(3)*r)": -3,
    "(1 + sqrt(5)*r + 5*r**2/3) * exp(-sqrt(5)*r)": -5 / 3,
    "(1 + r*r/4) ** -2": -1,
    "1 / (1 + r*r)": -2,
    "log(1 + r**2)": 2,
    "sinc(r)": -(np.pi**2) / 3,
    "log(cosh(r))": 1,
    "huber(1.0, r)": 1,
    "pseudo_huber(1.0, r)": 1,
    "r**3": 0,
}
LOOP = "s = 0.0\ni = 0\nwhile i < 300:\n    s = s + {}\n    i = i + 1\ns / 300"
WAYS = {
    "directly": "r = norm(x - y)\n{}",
    "by pairs": "r = norm(stack([x, x])[:, None] - y, axis=-1)\nsum({}) / 2",
    "by vmap": "sum(vmap(lambda v: (lambda r: {})(norm(v - y)))(x[None]))",
    "in a loop": LOOP.format("(lambda r: {})(norm(x - y))"),
}


@pytest.mark.parametrize(
    ("kernel", "way"),
    [
        (kernel, way)
        for number, kernel in enumerate(KERNELS)
        for way in [*WAYS][: 4 if number % 5 == 1 else 1]
    ],
)
def test_kernels_have_their_curvature_at_equal_points(ask, kernel, way):
    point = [0.3, -0.2]
    found, _ = hessian(ask, WAYS[way].format(kernel), {"x": point, "y": point})
    assert_allclose(found, KERNELS[kernel] * np.eye(2), 1e-9, 1e-9)


def test_examples_of_a_batch_have_their_own(ask):
    found, warnings = hessian(ask, "cosh(norm(x))", {"x": [[0.0, 0.0], [0.3, 0.4]]}, batch={"x": 0})
    alone, _ = hessian(ask, "cosh(norm(x))", {"x": [0.3, 0.4]})
    assert_allclose(found, [np.eye(2), alone])
    assert not warnings


#: Lengths whose squares have no second derivative at 0.
ANGULAR = [f"norm(x, {p})" for p in (0.5, 1, 1.5, 3, 4, "inf", "-inf")]
ANGULAR += [
    "norm(norm(reshape(x, (2, 2)), axis=1), 3)",
    "norm(norm(reshape(x, (2, 2)), 3, axis=1))",
]
ANGULAR += [f"torch.cdist(x[None], zeros((1, 4)), p={p})[0, 0]" for p in (1.0, 3.0)]
ANGULAR += ["torch.pdist(stack([x, zeros(4)]), p=4.0)[0]", "max(abs(x))"]
ANGULAR += [f"norm(reshape(x, (2, 2)), {p})" for p in ("'nuc'", 1, 2)]


@pytest.mark.parametrize("length", ANGULAR)
def test_other_lengths_have_none_unless_it_vanishes(ask, length):
    given, turn = {"x": np.zeros(4)}, ANGULAR.index(length) % 4
    rough = ("r**2", "cosh(r)", "exp(-r)", "x[0] * r")[turn]
    assert "singular" in hessian(ask, f"r = {length}\n{rough}", given)[1], rough
    smooth = ("r**3", "r**4", "x[0] * r**2", "cosh(r**2)")[turn]
    found, warnings = hessian(ask, f"r = {length}\n{smooth}", given)
    assert_array_equal(found, np.zeros((4, 4)))
    assert not warnings, smooth
    if turn == 0:
        third = f"f = lambda x: ({length})**3\ng = lambda x: sum(grad(f)(x))\nsum(grad(g)(x))"
        assert "singular" in [w.code for w in ask.answer(third, given).warnings]


@pytest.mark.parametrize("x", [np.zeros((2, 2)), [[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0]] * 3])
def test_even_functions_of_singular_values_are_smooth_where_these_are_0(ask, x):
    for of_values, plain in (
        ("sum(svdvals(x)**2)", "sum(x * x)"),
        ("sum(svdvals(x)**4)", "sum((x.T @ x)**2)"),
        ("sum(log1p(svd(x)[1]**2))", "log(det(eye(2) + x.T @ x))"),
    ):
        found, warnings = hessian(ask, of_values, {"x": x})
        assert_allclose(found, hessian(ask, plain, {"x": x})[0], atol=1e-12)
        assert not warnings
    assert hessian(ask, "sum(svdvals(x))", {"x": x})[1] == ["singular"]


def test_pairs_in_a_likelihood_are_as_of_their_squares(ask):
    text = "d = x[:, None] - x\n{}\nk = exp(-q) + eye(3)\nlog(det(k)) + y @ solve(k, y)"
    given = {"x": [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]], "y": [1.0, 2.0, 3.0]}
    expected, _ = hessian(ask, text.format("q = sum(d*d, -1)"), given)
    found, warnings = hessian(ask, text.format("q = norm(d, axis=-1)**2"), given)
    assert_allclose(found, expected, atol=1e-12)
    assert not warnings


@pytest.mark.parametrize(
    "text",
    [
        "sum(abs(x))",
        "norm(x)",
        "x[0] * norm(x)",
        "abs(x[0]) * abs(x[1])",
        "sum(abs(x)) ** 2",
        "exp(-norm(x))",
        "norm(x) ** 1.5",
    ],
)
def test_what_has_no_second_derivative_has_0_and_a_warning(ask, text):
    found, warnings = hessian(ask, text, {"x": [0.0, 0.0]})
    assert not np.any(found)
    assert set(warnings) == {"singular"}
    assert not hessian(ask, text, {"x": [0.5, -1.0]})[1]


# Functions of matrices

FUNCTIONS_OF = {
    "exp(l)": np.exp,
    "l": lambda x: x,
    "1 / l": lambda x: 1 / x,
    "1 / sqrt(l)": lambda x: x**-0.5,
    "log(l)": np.log,
    "l ** 3": lambda x: x**3,
}
FORMS = [
    "l, v = eigh((a + a.T) / 2)\nf = {}\nsum(w * ((v * f) @ v.T))",
    "l, v = eigh((a + a.T) / 2)\nf = {}\nsum(w * (v @ diag(f) @ v.T))",
    "l, v = eigh((a + a.T) / 2)\nf = {}\nsum(w * einsum('ij,j,kj->ik', v, f, v))",
    "l, v = eig((a + a.T) / 2)\nf = {}\nreal(sum(w * ((v * f) @ inv(v))))",
    "u, l, vh = svd((a + a.T) / 2)\nf = {}\nsum(w * ((u * f) @ vh))",
]
SPECTRA: list[list[float]] = [
    [1, 1, 2],
    [1, 1, 1],
    [1, 1 + 1e-12, 2],
    [1, 1 + 1e-9, 2],
    [1, 1, 2, 2, 3],
]


def orthogonal(n: int) -> Any:
    return np.linalg.qr(normal((n, n), 1))[0]


def slope(a: Any, function: Any, seed: Any) -> Any:
    """Gradient of ``sum(seed f(a))`` of a symmetric ``a``, by Cauchy's integral.

    Source: Higham, Functions of Matrices (2008), definition 1.11.
    """
    w, v = np.linalg.eigh(a)
    at = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    centre, radius = (w[0] + w[-1]) / 2, (w[-1] - w[0]) / 2 + 0.5
    nodes = centre + radius * np.exp(1j * at)
    bars = v.T @ ((seed + seed.T) / 2) @ v
    found = np.zeros_like(a)
    for z in nodes:  # of f(z) (z - a)^-1 seed (z - a)^-1
        resolvent = 1 / (z - w)
        share = function(z) * (z - centre) / 128
        found = found + (share * resolvent[:, None] * bars * resolvent).real
    return v @ found @ v.T


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS_OF)
def test_functions_of_a_matrix_have_their_gradient_at_equal_eigenvalues(ask, name, form):
    for spectrum in SPECTRA:
        q = orthogonal(len(spectrum))
        a, w = (q * spectrum) @ q.T, normal(q.shape, 2)
        answer = ask.answer(form.format(name), {"a": a, "w": w}, sources="a")
        a = (a + a.T) / 2
        expected = slope(a, FUNCTIONS_OF[name], w)
        assert_allclose(answer.gradients, expected, 1e-6, 1e-6)
        assert not answer.warnings


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
@pytest.mark.parametrize("values", [[1, 1, 2], [1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1 + 1e-11, 2]])
def test_functions_of_singular_values_have_their_gradient_at_equal_ones(ask, values, shape):
    rows, columns = shape
    a = orthogonal(rows)[:, :3] @ np.diag(values) @ orthogonal(columns)[:3]
    w = normal(shape, 3)
    cubed = w @ a.T @ a + a @ w.T @ a + a @ a.T @ w
    expected = {"(u * s) @ vh": w, "(u * s**3) @ vh": cubed}
    if min(values):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        core = u.T @ w @ vh.T
        turn = (core - core.T) / (s + s[:, None])
        one, other = np.eye(rows) - u @ u.T, np.eye(columns) - vh.T @ vh
        expected["u @ vh"] = u @ turn @ vh + one @ w @ vh.T / s @ vh + u / s @ (u.T @ w @ other)
    for text, bar in expected.items():
        program = f"u, s, vh = svd(a, full_matrices=False)\nsum(w * ({text}))"
        answer = ask.answer(program, {"a": a, "w": w}, sources="a")
        assert_allclose(answer.gradients, bar, 1e-5, 1e-6, err_msg=text)
        assert not answer.warnings


@pytest.mark.parametrize("text", ["sum(w * eigh(x)[1])", "sum(w * svd(x)[0])", "eigvalsh(x)[0]"])
def test_what_depends_on_the_choice_of_vectors_has_a_warning(ask, text):
    kind = "hessian" if "vals" in text else "gradient"
    given = {"x": np.eye(2), "w": normal((2, 2), 4)}
    found = ask.answer(text, given, kind=kind, sources="x").warnings
    assert {notice.code for notice in found} == {"degenerate"}
    given["x"] = np.diag([1.0, 2.0])
    assert not ask.answer(text, given, kind=kind, sources="x").warnings


GRADIENTS = {
    "sum(l * log(l))": lambda a: scipy.linalg.logm(a) + np.eye(len(a)),
    "sum(exp(l))": scipy.linalg.expm,
    "logsumexp(l)": lambda a: scipy.linalg.expm(a) / np.trace(scipy.linalg.expm(a)),
}


@pytest.mark.parametrize("spectrum", SPECTRA[:4])
@pytest.mark.parametrize("name", GRADIENTS)
def test_spectral_functions_have_their_hessian_at_equal_eigenvalues(ask, name, spectrum):
    q = orthogonal(3)
    a = (q * spectrum) @ q.T
    found, warnings = hessian(ask, f"l = eigvalsh((x + x.T) / 2)\n{name}", {"x": a})
    for i, j in np.ndindex(3, 3):
        unit = np.zeros((3, 3))
        unit[i, j] = 5e-5
        unit = unit + unit.T
        expected = (GRADIENTS[name](a + unit) - GRADIENTS[name](a - unit)).real / 2e-4
        assert_allclose(found[..., i, j], expected, atol=1e-6)
    assert not warnings


def test_examples_with_equal_eigenvalues_are_right_in_stacks_and_batches(ask):
    a = np.array([np.eye(2), [[2, 0.3], [0.3, 1]]])
    w = normal((2, 2), 5)
    one = "l, v = eigh((a + swapaxes(a, -1, -2)) / 2)\n"
    text = one + "sum(w * ((v * exp(l)[..., None, :]) @ swapaxes(v, -1, -2)))"
    expected = [slope(x, np.exp, w) for x in a]
    for query in ({}, {"batch": {"a": 0}}):
        found = ask.gradients(text, {"a": a, "w": w}, sources="a", **query)
        assert_allclose(found, expected, 1e-9)


# Determinants

SINGULAR = {
    "0": [[0.0]],
    "rank 1": np.outer([1, 2, 3], [1, 2, 3]),
    "rank 2 but for rounding": [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
    "zeros": np.zeros((4, 4)),
    "rank 2 of 4": normal((4, 2), 6) @ normal((2, 4), 7),
    "regular": normal((3, 3), 8),
    "a stack": [np.ones((2, 2)), normal((2, 2), 9)],
}


@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivatives_of_determinants_are_minors(ask, name):
    """Determinants are linear in each element, so mixed differences are exact."""
    a = np.array(SINGULAR[name], float)
    found, _ = hessian(ask, "sum(np.linalg.det(x))", {"x": a})
    expected = np.zeros_like(found)
    for i in np.ndindex(a.shape):
        for j in np.ndindex(a.shape):
            both = np.zeros((2, *a.shape))
            both[0][i] = both[1][j] = 1
            points = a + both[0] + both[1], a + both[0], a + both[1], a
            together, one, other, none = (np.linalg.det(x).sum() for x in points)
            expected[i + j] = together - one - other + none if i != j else 0
    assert_allclose(found, expected, atol=1e-12 * (1 + abs(a).max() ** a.shape[-1]))


@pytest.mark.parametrize("name", SINGULAR)
def test_third_derivatives_of_determinants_are_smaller_minors(ask, name):
    """That along three matrices is the part of ``det(a + r x + s y + t z)`` with ``r s t``."""
    a = np.array(SINGULAR[name], float)
    along = normal((3, *a.shape), 10)
    text = "f = lambda m: sum(np.linalg.det(m))\ng = lambda m: sum(grad(f)(m) * x)\n"
    text += "h = lambda m: sum(grad(g)(m) * y)\nsum(grad(h)(a) * z)"
    given = {"a": a} | dict(zip("xyz", along, strict=True))
    found = ask.value(text, given)
    # A polynomial of degree n in each: its coefficients by a discrete Fourier transform.
    turns = np.exp(2j * np.pi * np.arange(a.shape[-1] + 2) / (a.shape[-1] + 2))
    r, s, t = (turns.reshape(np.roll([-1, 1, 1], i))[..., None, None] for i in range(3))
    x, y, z = along if a.ndim == 2 else along[:, :, None, None, None]
    stack = a if a.ndim == 2 else a[:, None, None, None]
    parts = np.linalg.det(stack + r * x + s * y + t * z) / (r * s * t)[..., 0, 0]
    expected = parts.mean(axis=(-3, -2, -1)).sum().real
    assert_allclose(found, expected, 1e-9, 1e-9 * (1 + abs(a).max()))


def test_fourth_derivatives_of_determinants_are_refused_where_singular(ask):
    derivatives = "f = lambda m: np.linalg.det(m)\n"
    for one, other in ("fg", "gh", "hk"):
        derivatives += f"{other} = lambda m: sum(grad({one})(m) * x)\n"
    with pytest.raises(EngineError, match="fourth_derivative_of_det"):
        ask.gradients(derivatives + "k(x)", {"x": np.zeros((4, 4))})
    # det(t x) = t⁴ det(x), of which the fourth derivative in t is 24 det(x)
    x = normal((4, 4), 11)
    found = ask.value(derivatives + "sum(grad(k)(x) * x)", {"x": x})
    assert_allclose(found, 24 * np.linalg.det(x), 1e-9)


@pytest.mark.parametrize(
    "length",
    ["abs(x[0] - 1)", "norm(x - 1)", "hypot(x[0] - 1, x[1] - 1)", "norm(x - 1, 2)"],
)
@pytest.mark.parametrize("text", ["exp(-{0}) * (1 + {0})", "(1 + {0}) * exp(-{0})", "{0} * {0}"])
def test_equal_lengths_are_one(ask, length, text):
    answer = ask.answer(text.format(length), {"x": np.ones(2)}, kind="hessian")
    count = 1 if "abs" in length else 2
    curvature = 2 if text.startswith("{0} *") else -1
    expected = np.diag([curvature] * count + [0] * (2 - count))
    np.testing.assert_allclose(answer.derivatives["hessian"]["x"]["x"], expected, atol=1e-12)
    assert not answer.warnings


def test_lengths_of_inputs_of_one_type_are_not_equal(ask):
    text = "exp(-norm(x)) * (1 + norm(y))"
    answer = ask.answer(text, {"x": np.zeros(2), "y": np.zeros(2)}, kind="hessian")
    assert {warning.code for warning in answer.warnings} == {"singular"}
