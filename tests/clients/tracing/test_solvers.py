import gradwire
import numpy as np
import pytest

TIMES = np.linspace(0.0, 2.0, 41)


def decay(y, t, k):
    return -k * y


def oscillation(y, t, w):
    return {"x": y["v"], "v": -(w**2) * y["x"]}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"steps": 2},
        {"method": "rk38"},
        {"adjoint": True, "rtol": 1e-9},
        {"method": "rodas5p", "atol": 1e-9},
        {"method": "auto", "adjoint": True, "max_steps": 1000},
    ],
)
def test_a_solution_has_the_derivatives_of_its_closed_form(options, client):
    def end(k, y0):
        return gradwire.odeint(decay, y0, TIMES, k, **options)[-1]

    value, slopes = gradwire.value_and_grad(end, (0, 1), client=client)(0.5, 2.0)
    e = np.exp(-1.0)
    assert value == pytest.approx(2 * e, rel=1e-6)
    assert slopes == pytest.approx((-4 * e, e), rel=1e-6)


def test_nested_solutions_are_nested_like_the_initial_value(client):
    begun = {"x": 1, "v": 0.0}
    found = gradwire.odeint(oscillation, begun, TIMES, 1.5, client=client)
    assert np.allclose(found["x"], np.cos(1.5 * TIMES), atol=1e-6)
    assert np.allclose(found["v"], -1.5 * np.sin(1.5 * TIMES), atol=1e-6)


def test_solutions_can_be_mapped_over_parameters(client):
    def end(k):
        return gradwire.odeint(decay, 1.0, TIMES, k)[-1]

    ks = np.array([0.5, 1.0, 2.0])
    slopes = gradwire.vmap(gradwire.grad(end), client=client)(ks)
    assert np.allclose(slopes, -2 * np.exp(-2 * ks), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": "dopri5", "steps": 2}, "'dopri5' does not take steps"),
        ({"steps": 2, "rtol": 1e-3}, "'rk4' does not take rtol"),
        ({"method": "rk5"}, "knows the methods"),
    ],
)
def test_options_of_another_method_are_refused_by_name(options, named, client):
    with pytest.raises(gradwire.BadArgument, match=named):
        gradwire.odeint(decay, 1.0, TIMES, 0.5, **options, client=client)


def test_the_slope_must_have_the_structure_of_the_value(client):
    with pytest.raises(gradwire.NotTraceable, match="another structure"):
        gradwire.odeint(lambda y, t: (y, y), 1.0, TIMES, client=client)


def test_times_must_be_one_dimensional(client):
    listed = gradwire.odeint(decay, 1.0, [0, 1, 2], 0.1, client=client)
    assert np.allclose(listed, np.exp([0, -0.1, -0.2]), atol=1e-6)
    with pytest.raises(gradwire.NotTraceable, match=r"one axis, got an array of shape \(\)"):
        gradwire.odeint(decay, 1.0, 2.0, 0.1, client=client)


def cube_root(a):
    return gradwire.custom_root(lambda x: x**3 - a, 1.5)


def cube_root_by_own_steps(a):
    def solve(f, x):
        return gradwire.fori(0, 60, lambda _, x: x - f(x) / 20, x)

    return gradwire.custom_root(lambda x: x**3 - a, 1.5, solve)


@pytest.mark.parametrize("root", [cube_root, cube_root_by_own_steps])
def test_a_root_has_the_derivatives_of_its_equation(root, client):
    value, slope = gradwire.value_and_grad(root, client=client)(8.0)
    curvature = gradwire.hessian(root, client=client)(8.0)
    assert (value, slope) == pytest.approx((2.0, 1 / 12), rel=1e-6)
    assert curvature == pytest.approx(-2 / 9 * 8 ** (-5 / 3), rel=1e-6)


def test_a_root_is_an_array_if_the_guess_is_one(client):
    cubes = np.array([8.0, 27.0])
    root = gradwire.custom_root(lambda x: x**3 - cubes, np.ones(2), client=client)
    assert np.allclose(root, [2.0, 3.0])
