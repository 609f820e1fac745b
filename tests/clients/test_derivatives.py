import asyncio
import doctest
import math
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.optimize
from gradwire.resources.derivatives import Derivatives
from gradwire.trees import inside, members
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

LINEAR = "h = x @ w + b\nloss = mean((h - y)**2)"
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([1.0, 0.0, 1.0])
W = np.array([0.5, -0.25], np.float32)
POINT = {"x": X, "y": Y, "w": W, "b": 0.125}
GRADIENT_W = 2 / 3 * X.T @ (X @ W + 0.125 - Y)


def test_gradients_have_the_structure_dtype_and_shape_of_their_sources(client):
    answer = client.gradient(LINEAR, POINT, sources={"weights": ("w",), "bias": "b"})
    (dw,) = answer.gradients["weights"]
    assert dw.dtype == np.float32
    np.testing.assert_allclose(dw, GRADIENT_W, rtol=1e-6)
    assert isinstance(answer.gradients["bias"], np.float64)
    assert isinstance(answer.value, float)


@dataclass
class Layer:
    w: Any
    b: Any


def test_without_sources_gradients_have_the_structure_of_the_variables(client):
    variables = {
        "layers": (Layer(np.eye(2), np.zeros(2)), Layer(np.ones(2), {"value": 0.5})),
        "x": {"value": [1.0, 2.0], "trainable": False},
        "n": np.int32(2),
    }
    program = "h = x @ layers[0].w + layers[0].b\nn * (h @ layers[1].w + layers[1].b)"
    answer = client.gradient(program, variables)
    first, last = answer.gradients["layers"]
    assert isinstance(first, Layer)
    np.testing.assert_array_equal(first.w, [[2.0, 2.0], [4.0, 4.0]])
    np.testing.assert_array_equal(last.w, [2.0, 4.0])
    assert last.b == 2.0
    assert answer.gradients["x"] is None
    assert answer.gradients["n"] is None
    assert answer.unconnected["x"].reason == "not_trainable"
    assert answer.unconnected["n"].reason == "integer_dtype"


def test_variables_may_be_named_like_the_fields_of_an_array(client):
    variables = {"base64": np.array([1.0, 2.0]), "dtype": 3.0}
    answer = client.gradient("base64.assign(base64 * dtype)\nbase64", variables, target="dtype")
    assert answer.gradients == {"base64": None, "dtype": 1.0}
    np.testing.assert_array_equal(answer.updates["base64"], [3.0, 6.0])


def test_targets_and_outputs_are_given_by_name(client):
    answer = client.gradient(
        "y = x**2\nz = x**3",
        {"x": np.array([1.0, 2.0])},
        target=["y", "z"],
        sources="x",
        outputs={"square": "y"},
        output_gradients=[[1.0, 10.0], None],
    )
    np.testing.assert_array_equal(answer.gradients, [2 + 3, 40 + 12])
    np.testing.assert_array_equal(answer.value[1], [1.0, 8.0])
    np.testing.assert_array_equal(answer.outputs["square"], [1.0, 4.0])


def test_a_missing_gradient_is_none_or_zeros(client):
    answer = client.gradient("y = x * stop_gradient(z)", {"x": 1.0, "z": np.ones(2)})
    assert answer.gradients["z"] is None
    assert answer.unconnected["z"].reason == "stop_gradient"
    assert answer.unconnected["z"].node.line == 1
    zeros = client.gradient("y = x", {"x": 1.0, "z": np.ones(2)}, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros.gradients["z"], [0.0, 0.0])


def test_nonfinite_gradients_are_located(client):
    answer = client.gradient("sqrt(x)", {"x": 0.0})
    assert np.isinf(answer.gradients["x"])
    where = answer.nonfinite["backward"]
    assert (where.op, where.instruction, where.hint) == ("sqrt", "divide", None)
    assert where.operands[1] == gradwire.Range(shape=(), min=0.0, max=0.0, nonfinite=0)


def test_value_and_grad_returns_a_function_of_the_variables(client):
    f = client.value_and_grad(LINEAR, sources="w")
    value, gradient = f(POINT)
    again, _ = f({"x": X, "y": Y}, w=W, b=0.125)
    assert value == again
    np.testing.assert_allclose(gradient, GRADIENT_W, rtol=1e-6)
    _, by_name = client.value_and_grad("x * y")(x=2.0, y=3.0)
    assert by_name == {"x": 3.0, "y": 2.0}


def test_value_and_grad_works_with_scipy(client):
    f = client.value_and_grad("sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)", sources="x")
    found = scipy.optimize.minimize(lambda x: f(x=x), np.zeros(4), jac=True, method="BFGS")
    assert found.success
    np.testing.assert_allclose(found.x, 1.0, rtol=1e-4)


HYPOT = "h = sqrt(p.x**2 + p.y**2)\nstack([h, arctan2(p.y, p.x), w])"
POINTS = {"p": {"x": np.float32(3), "y": 4.0}, "w": 2.0}


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_jacobians_have_the_structure_and_dtype_of_their_sources(client, mode):
    sources = ({"inner": "p"}, ["h", None])
    answer = client.jacobian(HYPOT, POINTS, sources=sources, mode=mode)
    np.testing.assert_allclose(answer.value, [5.0, np.arctan2(4, 3), 2.0])
    inner, (dh, nothing) = answer.jacobian
    np.testing.assert_allclose(inner["inner"]["x"], [0.6, -4 / 25, 0.0], rtol=1e-6)
    np.testing.assert_allclose(inner["inner"]["y"], [0.8, 3 / 25, 0.0])
    assert inner["inner"]["x"].dtype == np.float32
    assert inner["inner"]["y"].dtype == np.float64
    np.testing.assert_array_equal(dh, [1.0, 0.0, 0.0])
    assert nothing is None


def test_a_jacobian_has_the_axes_of_the_target_then_of_the_source(client):
    x = np.arange(6.0).reshape(2, 3)
    answer = client.jacobian("y = x @ w", {"x": x, "w": np.ones((3, 4))}, target="y")
    expected = np.einsum("ik,jl->ijkl", np.eye(2), np.ones((4, 3)))
    np.testing.assert_array_equal(answer.jacobian["x"], expected)
    np.testing.assert_array_equal(answer.jacobian["w"], np.einsum("ik,jl->ijkl", x, np.eye(4)))


def test_a_batch_has_one_jacobian_per_example(client):
    xs = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    variables = {"x": xs.T, "a": 2.0}
    each: dict[str, Any] = {"batch": {"x": 1}, "sources": ["x"]}
    answer = client.hessian("sum(a * x**3)", variables, **each)
    np.testing.assert_allclose(answer.gradients[0], 6 * xs**2)
    np.testing.assert_allclose(answer.hessian[0][0], [np.diag(12 * x) for x in xs])
    (gradient,) = client.gradient("sum(a * x**3)", variables, **each).gradients
    np.testing.assert_array_equal(gradient, answer.gradients[0], strict=True)
    values = client.evaluate("sum(x)", {"x": xs}, batch=["x"]).outputs
    np.testing.assert_array_equal(values, xs.sum(1))


QUARTIC = "sum(layer.w**4 * layer.b) + n * sum(layer.w) * x"
LAYER = Layer(np.array([1.0, 2.0]), np.float32(0.5))


def test_a_hessian_has_the_structure_of_the_variables_twice(client):
    variables = {"layer": LAYER, "n": np.int64(3), "x": 1.0, "s": 7.0}
    answer = client.hessian(QUARTIC, variables)
    w, cubes = LAYER.w, 4 * LAYER.w**3
    np.testing.assert_allclose(answer.gradients["layer"].w, cubes * 0.5 + 3)
    row = answer.hessian["layer"]
    assert isinstance(row, Layer)
    assert isinstance(row.w["layer"], Layer)
    np.testing.assert_allclose(row.w["layer"].w, np.diag(6 * w**2))
    np.testing.assert_allclose(row.w["layer"].b, cubes)
    np.testing.assert_allclose(row.b["layer"].w, cubes)
    np.testing.assert_array_equal(row.w["x"], [3.0, 3.0])
    np.testing.assert_array_equal(answer.hessian["x"]["layer"].w, [3.0, 3.0])
    assert row.w["layer"].b.dtype == np.float32
    assert row.b["x"] == answer.hessian["x"]["x"] == 0.0
    for name, reason in {"n": "integer_dtype", "s": "no_path"}.items():
        assert answer.hessian[name]["x"] is row.w[name] is answer.gradients[name] is None
        assert answer.unconnected[name].reason == reason


ARRAYS = st.builds(
    lambda shape, dtype: np.arange(1, 1 + math.prod(shape)).reshape(shape).astype(dtype),
    st.sampled_from([(), (2,), (1, 3)]),
    st.sampled_from(["float32", "float64"]),
)
KEYS = st.sampled_from(["a", "b", "c"])
TREES = st.recursive(
    ARRAYS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.tuples(inner, inner)
        | st.builds(Layer, inner, inner)
        | st.dictionaries(KEYS, inner, max_size=2)
    ),
    max_leaves=4,
)


def alike(found: Any, like: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Each leaf's path and value, after checking that two trees have the same structure."""
    levels: Any = members(like)
    if levels is None:
        return [(path, found, like)]
    assert type(found) is type(like)
    named = isinstance(levels, dict)
    below: Any = inside(found)
    leaves = []
    for key in levels if named else range(len(levels)):
        at = f"{path}.{key}".lstrip(".") if named else f"{path}[{key}]"
        leaves += alike(below[key], levels[key], at)
    return leaves


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=2))
@examples(30)
def test_derivatives_are_nested_like_their_variables(client, variables):
    leaves = [(path, x) for path, x, _ in alike(variables, variables)]
    linear = " + ".join(["0.0", *(f"sum({path})" for path, _ in leaves)])
    squares = " + ".join(["0.0", *(f"sum({path}**2)" for path, _ in leaves)])
    answer = client.hessian(f"({linear})**2 + {squares}", variables)
    total = sum(x.sum(dtype=np.float64) for _, x in leaves)
    for _, bar, x in alike(answer.gradients, variables):
        np.testing.assert_array_equal(bar, (2 * total + 2 * x).astype(x.dtype), strict=True)
    for outer, row, x in alike(answer.hessian, variables):
        for path, block, y in alike(row, variables):
            same = 2 * np.eye(x.size).reshape(x.shape * 2) if path == outer else 0
            np.testing.assert_array_equal(block, np.full(x.shape + y.shape, 2.0) + same)
            assert block.dtype == y.dtype
    products = client.hvp(f"{linear} + {squares}", variables, variables).hvp
    for _, product, x in alike(products, variables):
        np.testing.assert_array_equal(product, 2 * x, strict=True)


def test_a_hessian_of_scalars_and_intermediates_is_nested_by_name(client):
    program = "p = (x + y, x * y)\np[0]**2 * p[1]"
    answer = client.hessian(program, {"x": 1.0, "y": 2.0}, sources=("p", "x"))
    (row, other), last = answer.hessian
    np.testing.assert_array_equal([row[0], other[0]], [[4.0, 6.0], [6.0, 0.0]])
    assert isinstance(answer.hessian, tuple)
    assert isinstance(last, tuple)
    twice = client.hessian("x**2 * y", {"x": 1.0, "y": 2.0}, sources=["x", "y"]).hessian
    assert twice == [[4.0, 2.0], [2.0, 0.0]]


def test_jvp_has_the_structure_of_the_target(client):
    program = "y = layer.w**2 * layer.b\nz = x + 1\nu = sum(y)"
    answer = client.jvp(
        program,
        {"layer": LAYER, "x": 1.0},
        {"layer": {"w": [1.0, 10.0]}},
        target=({"y": "y"}, ["z", "u"]),
    )
    along, (nothing, total) = answer.jvp
    np.testing.assert_array_equal(along["y"], [1.0, 20.0])
    assert nothing is None
    assert total == 21.0
    zeros = client.jvp("x + 1", {"x": 1.0, "y": 2.0}, {"y": 1.0}, unconnected_gradients="zero")
    assert zeros.jvp == 0.0
    assert zeros.unconnected["y"].reason == "no_path"


def test_hvp_has_the_structure_of_the_vectors(client):
    vectors = {"layer": Layer([1.0, -1.0], 2.0), "x": {"value": 1.0}}
    answer = client.hvp(QUARTIC, {"layer": LAYER, "n": 3.0, "x": 1.0}, vectors)
    w, cubes = LAYER.w, 4 * LAYER.w**3
    assert isinstance(answer.hvp["layer"], Layer)
    np.testing.assert_allclose(answer.gradients["layer"].w, cubes * 0.5 + 3)
    np.testing.assert_allclose(answer.hvp["layer"].w, 6 * w**2 * [1, -1] + cubes * 2 + 3)
    np.testing.assert_allclose(answer.hvp["layer"].b, cubes @ [1, -1])
    assert answer.hvp["layer"].b.dtype == np.float32
    assert answer.hvp["x"] == 0.0


def test_jvp_and_hvp_equal_products_with_the_matrices(client):
    rng = np.random.default_rng(3)
    variables = {"a": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}
    along = {"a": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}
    program = "y = tanh(a @ b) * sum(exp(b))"
    jacobian = client.jacobian(program, variables).jacobian
    expected = sum(np.tensordot(jacobian[name], along[name], along[name].ndim) for name in along)
    np.testing.assert_allclose(client.jvp(program, variables, along).jvp, expected)
    rows = client.hessian(program, variables).hessian
    products = client.hvp(program, variables, along).hvp
    for name, row in rows.items():
        parts = (np.tensordot(row[other], along[other], along[other].ndim) for other in along)
        np.testing.assert_allclose(products[name], sum(parts))


@pytest.mark.parametrize(
    ("tangents", "pointer"),
    [
        ({"x": [1.0, 2.0]}, "/tangents"),
        ({"x": "north"}, "/tangents/x"),
        ({"nothing": 1.0}, "/tangents/nothing"),
    ],
    ids=str,
)
def test_mismatched_tangents_are_refused_with_their_place(client, tangents, pointer):
    with pytest.raises(gradwire.APIError) as caught:
        client.jvp("x * x", {"x": 1.0}, tangents)
    assert caught.value.pointer == pointer


def test_invalid_tangents_are_named(client):
    with pytest.raises(TypeError, match=r"tangents go by name, .* not in a list"):
        client.jvp("x", {"x": 1.0}, [1.0])
    with pytest.raises(TypeError, match=r"vectors\.x cannot be sent"):
        client.hvp("x", {"x": 1.0}, {"x": None})


def test_cotangents_and_tangents_can_be_batched(client):
    rng = np.random.default_rng(4)
    point = {"a": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}
    program, asked = "h = tanh(a @ b)\nk = sum(b**3)", {"target": {"h": "h", "k": ["k"]}}
    stack = rng.normal(size=(7, 3))
    together = client.gradient(
        program,
        point,
        **asked,
        output_gradients={"h": stack, "k": [2.0]},
        batch=["output_gradients.h"],
    )
    tangents = {"a": rng.normal(size=(3, 7, 2))}
    along = client.jvp(program, point, tangents, **asked, batch={"tangents": 1})
    products = client.hvp(program, point, tangents, **asked, batch={"vectors.a": 1})
    for k in range(7):
        one = {"h": stack[k], "k": [2.0]}
        alone = client.gradient(program, point, **asked, output_gradients=one).gradients
        np.testing.assert_allclose(together.gradients["a"][k], alone["a"])
        np.testing.assert_allclose(together.gradients["b"][k], alone["b"])
        tangent = {"a": tangents["a"][:, k]}
        moved = client.jvp(program, point, tangent, **asked).jvp
        np.testing.assert_allclose(along.jvp["h"][k], moved["h"])
        assert moved["k"] == along.jvp["k"] == [None]
        product = client.hvp(program, point, tangent, **asked).hvp
        np.testing.assert_allclose(products.hvp["a"][k], product["a"])


def test_a_jacobian_of_several_targets_is_refused(client):
    with pytest.raises(gradwire.APIError) as caught:
        client.jacobian("y = x\nz = x", {"x": 1.0}, target=["y", "z"])
    assert caught.value.pointer == "/target"
    assert caught.value.hint


def test_check_confirms_a_right_gradient(client):
    variables = {"x": np.array([1.0, 2.0]), "w": np.float32(3), "n": np.int64(2)}
    answer = client.check("sum(x**2) * w", variables, sources=["x", {"w": "w"}, "n"])
    assert answer.ok
    np.testing.assert_allclose(answer.differences[0], [6.0, 12.0], rtol=1e-2)
    np.testing.assert_array_equal(answer.gradients[1]["w"], 5.0)
    assert answer.unconnected["n"].reason == "integer_dtype"
    assert answer.checks.keys() == {"x", "w"}


def test_check_finds_a_wrong_gradient(client):
    tie = client.check("maximum(x, 2)", {"x": [1.0, 2.0]}, sources="x", step=0.01)
    assert not tie.ok
    assert tie.checks["x"].at == (1,)
    assert tie.checks["x"].error == pytest.approx(0.5)
    assert client.check("maximum(x, 2)", {"x": [1.0, 2.0]}, rtol=1, atol=1).ok
    infinite = client.check("log(x)", {"x": 0.0})
    assert infinite.checks["x"].error == np.inf


METHODS = [name for name in vars(Derivatives) if not name.startswith("_")]
OTHERS = (
    "evaluate tape map request ops limits programs.register programs.get programs.delete "
    "programs.graph programs.list tensors.put tensors.get tensors.delete tapes.create tapes.get "
    "tapes.delete"
).split()


@pytest.mark.parametrize("name", [*METHODS, *OTHERS])
def test_the_examples_in_the_docstrings_run(client, name):
    shown = {"client": client, "gradwire": gradwire, "np": np, "scipy": scipy}
    method = attrgetter(name)(client)
    (example,) = doctest.DocTestFinder(recurse=False).find(method, name, globs=shown)
    assert example.examples
    report: list[str] = []
    failed, _ = doctest.DocTestRunner().run(example, out=report.append)
    assert not failed, "".join(report)


async def test_the_async_client_gives_the_same_results(client, awaiting_client):
    evaluation = await awaiting_client.evaluate("x**2", {"x": 3})
    assert evaluation.outputs == 9.0
    gradient = await awaiting_client.gradient(LINEAR, POINT, sources="w")
    value, gradients = await awaiting_client.value_and_grad(LINEAR, sources="w")(POINT)
    np.testing.assert_array_equal(gradient.gradients, gradients)
    assert gradient.value == value == client.gradient(LINEAR, POINT).value
    jacobian = await awaiting_client.jacobian(LINEAR, POINT, sources="w")
    np.testing.assert_allclose(jacobian.jacobian, gradients)
    hessian = await awaiting_client.hessian(LINEAR, POINT, sources="b")
    along = {"b": 1.0}
    np.testing.assert_allclose((await awaiting_client.hvp(LINEAR, POINT, along)).hvp["b"], 2.0)
    np.testing.assert_allclose(hessian.hessian, 2.0)
    product = await awaiting_client.jvp(LINEAR, POINT, along)
    np.testing.assert_allclose(product.jvp, hessian.gradients)
    with pytest.raises(gradwire.UnknownOperation):
        await awaiting_client.hessian("q(x)", {"x": 1.0})


async def test_many_gradients_can_be_gathered(awaiting_client):
    calls = (awaiting_client.gradient("x**2", {"x": i}) for i in range(20))
    answers = await asyncio.gather(*calls)
    assert [answer.gradients["x"] for answer in answers] == [2.0 * i for i in range(20)]
