"""Derivatives of derivatives, and matrices of them: S27 to S37 and S81 to S83."""

import math

import numpy as np
import pytest

X = [0.3, -1.2, 0.7]
SMOOTH = ["sum(sin(x) * x)", "exp(x[0] * x[1]) + x[2] ** 3", "logsumexp(x) * sum(x * x)"]


@pytest.mark.rule("S27")
async def test_each_gradient_of_a_program_stands_for_itself(wire):
    text = "y = x * x\nz = y * w\n[grad(z, w), grad(z, y), grad(y, x)]"
    assert await wire.value(text, {"x": 3.0, "w": 2.0}) == [9.0, 2.0, 6.0]


@pytest.mark.rule("S28")
async def test_none_or_zero_at_a_high_order_is_as_the_program_is_written(wire):
    variables = {"x": 3.0}
    assert await wire.gradients("grad(5 * x, x)", variables) == {"x": None}
    assert await wire.gradients("grad(grad(x * x, x), x)", variables) == {"x": None}
    assert await wire.gradients("grad(grad(x ** 2, x), x)", variables) == {"x": 0.0}


@pytest.mark.rule("S29")
async def test_a_gradient_is_recorded_like_anything_else(wire):
    text = "y = x ** 3\ng = grad(y, x)\nh = grad(g, x)\n[y, g, h, grad(y + g, x)]"
    assert await wire.value(text, {"x": 2.0}) == [8.0, 12.0, 12.0, 24.0]


@pytest.mark.rule("S31")
@pytest.mark.parametrize("text", SMOOTH)
async def test_a_hessian_is_the_jacobian_of_the_gradient(wire, text):
    program = f"y = {text}\ng = grad(y, x)\n[hessian(y, x), jacobian(g, x), grad(sum(g * v), x)]"
    v = [1.0, -2.0, 0.5]
    full, nested, product = await wire.value(program, {"x": X, "v": v})
    assert np.shape(full) == (3, 3)
    np.testing.assert_allclose(full, nested, rtol=1e-12)
    np.testing.assert_allclose(full, np.transpose(full), rtol=1e-12)
    np.testing.assert_allclose(np.array(full) @ v, product, rtol=1e-12)


@pytest.mark.rule("S31")
async def test_a_gradient_with_seeds_is_the_hessian_vector_product(wire):
    text, v = "y = sum(x ** 3) + x[0] * x[1]\ng = grad(y, x)", [1.0, -2.0, 0.5]
    found = await wire.gradients(text, {"x": X}, target="g", sources="x", output_gradients=v)
    expected = np.array([6 * X[0] * v[0] + v[1], 6 * X[1] * v[1] + v[0], 6 * X[2] * v[2]])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.rule("S32")
async def test_gradients_through_gradients(wire):
    penalty = "g = grad(sum(x ** 3), x)\nsum(g ** 2)"
    found = await wire.gradients(penalty, {"x": X}, sources="x")
    np.testing.assert_allclose(found, 36 * np.array(X) ** 3)
    unrolled = "for i in range(3):\n  w = w - r * grad(sum(w ** 2), w)\nsum(w)"
    found = await wire.gradients(unrolled, {"w": X, "r": 0.1})
    np.testing.assert_allclose(found["w"], 0.8**3)
    assert found["r"] == pytest.approx(-6 * 0.8**2 * sum(X))


@pytest.mark.rule("S33")
@pytest.mark.parametrize("target", [(), (2,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("source", [(), (3,), (2, 1), (0,)], ids=str)
async def test_a_jacobian_has_the_shapes_of_target_and_source(wire, target, source):
    t, x = np.ones(target), np.ones(source)
    found = await wire.value("jacobian(t * sum(x * x), x)", {"t": t.tolist(), "x": x.tolist()})
    expected = np.multiply.outer(t, 2 * x)
    assert found == expected.tolist()


@pytest.mark.rule("S34")
async def test_a_jacobian_keeps_the_structure_of_the_sources(wire):
    text = "jacobian(x * y, {'b': x, 'a': [y, z]})"
    found = await wire.value(text, {"x": [1.0, 2.0], "y": 3.0, "z": [4.0]})
    assert found == {"b": [[3.0, 0.0], [0.0, 3.0]], "a": [[1.0, 2.0], [[0.0], [0.0]]]}
    assert list(found) == ["b", "a"]
    rows = await wire.value("jacobian(x[[2, 0, 2]], x)", {"x": X})  # gathered, and dense
    assert rows == np.eye(3)[[2, 0, 2]].tolist()


async def jacobian(wire, program, variables, **fields):
    response = await wire.post("/v1/jacobian", program, variables, **fields)
    assert response.status_code == 200, response.text
    return response.json()["jacobian"]


@pytest.mark.rule("S36")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
async def test_jacobians_of_examples_are_blocks_of_the_whole(wire, mode):
    rng = np.random.default_rng(0)
    text, w = "tanh(x @ w) * sum(x * x, axis=-1, keepdims=True)", rng.normal(size=(2, 4)).tolist()
    variables = {"x": rng.normal(size=(3, 2)).tolist(), "w": w}
    whole = await jacobian(wire, text, variables, sources="x")
    found = await jacobian(wire, text, variables, sources="x", batch=["x"], mode=mode)
    np.testing.assert_allclose(found, [np.array(whole)[i, :, i] for i in range(3)], rtol=1e-12)


@pytest.mark.rule("S36")
async def test_without_a_path_there_is_none_or_zeros_for_each_example(wire):
    request = {"program": "x * x", "variables": {"x": X, "u": [1.0, 2.0]}, "sources": "u"}
    assert await jacobian(wire, **request, batch=["x"]) is None
    zeros = await jacobian(wire, **request, batch=["x"], unconnected_gradients="zero")
    assert zeros == [[0.0, 0.0]] * 3


@pytest.mark.rule("S37")
@pytest.mark.parametrize("batch", [["x", "y"], ["w"], ["q"], {"x": 5}, {"x": 0.5}, []], ids=str)
async def test_what_is_batched_needs_an_axis_with_as_many_examples(wire, batch):
    variables = {"x": X, "y": [1.0, 2.0], "w": 3.0}
    code, pointer = await wire.code("x * w + sum(y)", variables, batch=batch)
    assert code == "invalid_request"
    assert pointer.startswith("/batch")


@pytest.mark.rule("S37")
async def test_no_example_depends_on_another(wire):
    alone = [await wire.gradients("sin(x) * mean(x)", {"x": x}, sources="x") for x in X]
    assert await wire.gradients("sin(x) * mean(x)", {"x": X}, sources="x", batch=["x"]) == alone


@pytest.mark.rule("S81")
async def test_a_product_with_the_jacobian(wire):
    text = "jvp([x * y, {'s': sin(x)}], [x, y], [p, q])"
    found = await wire.value(text, {"x": 2.0, "y": 3.0, "p": 1.0, "q": 10.0})
    assert found == [3 + 20, {"s": pytest.approx(math.cos(2))}]
    nested = "jvp(jvp(x ** 3, x, 1.0), x, 1.0)"
    assert await wire.value(nested, {"x": 2.0}) == 12.0


@pytest.mark.rule("S82")
@pytest.mark.parametrize(
    "arguments",
    ["[x], [x, x]", "[x, y], [x]", "x, ones(3)", "[x, x], [x, x]", "[x, {'z': z}], [x, [x]]"],
)
async def test_tangents_must_fit(wire, arguments):
    text = f"z = x\njvp(x * y, {arguments})"
    code, _ = await wire.code(text, {"x": [1.0, 2.0], "y": 3.0})
    assert code in ("bad_argument", "shape_mismatch")


@pytest.mark.rule("S82")
@pytest.mark.parametrize(
    "tangents",
    [
        {"x": [1.0, 0.0], "z": [0.0, 1.0]},
        {"p": {"w": 1.0}, "p.w": 1.0},
        {"x": [1.0]},
        {"x": {"re": [1, 0], "im": [0, 1]}},
    ],
    ids=["alias", "path", "shape", "dtype"],
)
@pytest.mark.parametrize("field", ["tangents", "vectors"])
async def test_a_value_has_one_tangent_like_itself(wire, field, tangents):
    path = {"tangents": "/v1/jvp", "vectors": "/v1/hvp"}[field]
    variables = {"x": [1.0, 2.0], "p": {"w": 3.0}}
    response = await wire.post(path, "z = x\nsum(z * z * p.w)", variables, **{field: tangents})
    problem = response.json()
    assert (problem["code"], problem["pointer"]) == ("invalid_request", f"/{field}")


@pytest.mark.rule("S82")
async def test_along_an_integer_there_is_nothing_and_a_reason(wire):
    variables = {"x": [1.0, 2.0], "n": {"value": 3, "dtype": "int32"}}
    response = await wire.post("/v1/jvp", "x * n", variables, tangents={"n": 1})
    answer = response.json()
    assert answer["jvp"] is None
    assert answer["unconnected"]["n"]["reason"] == "integer_dtype"


@pytest.mark.rule("S82")
async def test_no_path_is_zeros_and_a_warning(wire):
    answer = await wire.answer("y + jvp(x * x, n, 1.0)", {"x": [1.0, 2.0], "n": 3.0, "y": 1.0})
    assert answer["value"] == [1.0, 1.0]
    assert [warning["code"] for warning in answer["warnings"]] == ["no_path"]


@pytest.mark.rule("S83")
@pytest.mark.parametrize("text", SMOOTH)
async def test_forward_over_back_is_back_over_forward(wire, text):
    program = f"""
y = {text}
g = grad(y, x)
[jvp(g, x, v), grad(jvp(y, x, v), x), grad(sum(g * v), x)]
"""
    first, second, third = await wire.value(program, {"x": X, "v": [1.0, -2.0, 0.5]})
    np.testing.assert_allclose(first, second, rtol=1e-12)
    np.testing.assert_allclose(first, third, rtol=1e-12)
