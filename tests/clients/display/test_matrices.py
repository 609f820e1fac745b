import numpy as np
from gradwire.display.matrices import Band, element_names, matrix_of
from gradwire.display.request_view import RequestView


def of(answer):
    made = matrix_of(answer, RequestView.of(answer.raw))
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
    assert [band.path for band in made.rows] == ["x", "y"]
    assert element_names(made.columns)[-2:] == ["y[0,0]", "y[0,1]"]
    eigenvalues = np.linalg.eigvalsh((a + a.T) / 2)
    assert made.note() == f"5 × 5, eigenvalues {eigenvalues[0]:.4g} … {eigenvalues[-1]:.4g}"
    slopes = of(
        client.jacobian("a @ concatenate([x, y[0]])", {**point, "a": a}, sources=["x", "y"])
    )
    np.testing.assert_allclose(slopes.whole(), a)
    assert slopes.note() == "5 × 5"


def test_the_ends_of_the_spectrum_are_noted(client):
    point = {"x": 1.0, "y": 2.0}
    assert of(client.hessian("x * y", point)).note() == "2 × 2, eigenvalues -1 … 1"
    assert of(client.hessian("x**3", {"x": 1.0})).note() == "1 × 1"
    assert of(client.hessian("x**3 / 0 + y", point)).note() == "2 × 2"
    extreme = of(client.hessian("1e308 * x * y + 5e307 * x**2", point)).note()
    assert extreme == "2 × 2, eigenvalues -6.18e307 … 1.618e308"
    assert of(client.hessian("sum(x**2)", {"x": np.ones(300)})).note() == "300 × 300"


def test_sparse_blocks_are_the_same(client):
    point = {"x": np.linspace(1.0, 2.0, 6), "y": 2.0}
    program = "sum(x[1:]**2 * x[:-1]) * y"
    sparse = of(client.hessian(program, point, format="coo"))
    np.testing.assert_allclose(sparse.whole(), of(client.hessian(program, point)).whole())


def test_sources_without_a_derivative_are_left_out(client):
    made = of(client.jacobian("x * floor(n)", {"x": [1.0, 2.0], "n": np.int64(3)}))
    assert [band.path for band in made.columns] == ["x"]
    answer = client.jacobian("1 * x", {"x": np.zeros(0)})
    assert matrix_of(answer, RequestView.of(answer.raw)) is None


def test_batches_have_no_spectrum(client):
    answer = client.hessian("x**2", {"x": [1.0, 2.0]}, batch=["x"], sources="x")
    assert of(answer).note() == "2 × 1"


def test_elements_have_names():
    named = element_names([Band("w", (2, 2)), Band("x", ())])
    assert named == ["w[0,0]", "w[0,1]", "w[1,0]", "w[1,1]", "x"]
