import numpy as np
import pytest
from gradwire.display.matrices import Band, matrix
from gradwire.display.request_view import RequestView


def of(answer):
    made = matrix(answer, RequestView.of(answer.raw))
    assert made is not None
    return made


def test_blocks_form_the_matrix_of_the_joint_function(client):
    rng = np.random.default_rng(2)
    a = rng.standard_normal((5, 5))
    point = {"x": rng.standard_normal(3), "y": rng.standard_normal((1, 2))}
    program = "z = concatenate([x, y[0]])\nz @ a @ z / 2"
    fixed = {"value": a, "trainable": False}
    made = of(client.hessian(program, {**point, "a": fixed}, sources=["x", "y"]))
    np.testing.assert_allclose(made.whole(), (a + a.T) / 2, atol=1e-12)
    assert [band.label for band in made.rows] == ["x", "y"]
    assert made.columns[1].elements() == ["y[0,0]", "y[0,1]"]
    eigenvalues = np.linalg.eigvalsh((a + a.T) / 2)
    assert made.nature().startswith(f"eigenvalues {eigenvalues[0]:.4g} … {eigenvalues[-1]:.4g}")
    slopes = of(
        client.jacobian("a @ concatenate([x, y[0]])", {**point, "a": a}, sources=["x", "y"])
    )
    np.testing.assert_allclose(slopes.whole(), a)
    assert slopes.nature().endswith("rank 5")


@pytest.mark.parametrize(
    ("program", "nature"),
    [
        ("x**2 + y**2", "2 … 2: positive definite"),
        ("-x**2 - 3*y**2", "-6 … -2: negative definite"),
        ("x**2 + 0*y", "0 … 2: positive semidefinite"),
        ("-x**2 + 0*y", "-2 … 0: negative semidefinite"),
        ("0*x**2 + 0*y", "0 … 0: positive semidefinite"),
        ("x * y", "-1 … 1: indefinite"),
    ],
)
def test_eigenvalues_classify_a_hessian(client, program, nature):
    assert of(client.hessian(program, {"x": 1.0, "y": 2.0})).nature() == f"eigenvalues {nature}"


def test_sparse_blocks_are_the_same(client):
    point = {"x": np.linspace(1.0, 2.0, 6), "y": 2.0}
    program = "sum(x[1:]**2 * x[:-1]) * y"
    sparse = of(client.hessian(program, point, format="coo"))
    np.testing.assert_allclose(sparse.whole(), of(client.hessian(program, point)).whole())


def test_sources_without_a_derivative_are_left_out(client):
    made = of(client.jacobian("x * floor(n)", {"x": [1.0, 2.0], "n": np.int64(3)}))
    assert [band.label for band in made.columns] == ["x"]
    answer = client.jacobian("1 * x", {"x": np.zeros(0)})
    assert matrix(answer, RequestView.of(answer.raw)) is None


def test_batches_are_not_classified(client):
    answer = client.hessian("x**2", {"x": [1.0, 2.0]}, batch=["x"], sources="x")
    assert of(answer).nature() == ""


def test_elements_have_names():
    assert Band("w", (2, 2)).elements() == ["w[0,0]", "w[0,1]", "w[1,0]", "w[1,1]"]
    assert Band("x", ()).elements() == ["x"]
