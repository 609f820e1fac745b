"""Parameters of models, and functions that differentiate functions: S74 to S80."""

import pytest

LAYERS = {"layers": [{"w": 2.0, "b": 1.0}, {"w": 3.0, "b": -1.0}]}
MODEL = "h = x\nfor layer in layers: h = h * layer.w + layer.b\nh"


@pytest.mark.rule("S74")
async def test_the_parameters_of_a_model_are_a_nested_variable(wire):
    model = {**LAYERS, "unused": 5.0}
    found = await wire.gradients(
        MODEL.replace("layers", "model.layers"), {"model": model, "x": 4.0}, sources="model"
    )
    assert found == {"layers": [{"w": 12.0, "b": 3.0}, {"w": 9.0, "b": 1.0}], "unused": None}


@pytest.mark.rule("S74")
async def test_shared_parameters_are_one_variable(wire):
    assert await wire.gradients("tied = w\nx * w * tied", {"x": 4.0, "w": 3.0}) == {
        "x": 9.0,
        "w": 24.0,
    }


@pytest.mark.rule("S75")
async def test_a_frozen_layer_has_no_gradients(wire):
    frozen = {
        name: {"value": value, "trainable": False} for name, value in LAYERS["layers"][0].items()
    }
    found = await wire.gradients(
        MODEL, {"layers": [frozen, LAYERS["layers"][1]], "x": 4.0}, sources="layers"
    )
    assert found == [{"w": None, "b": None}, {"w": 9.0, "b": 1.0}]


@pytest.mark.rule("S76")
@pytest.mark.parametrize(
    ("sources", "expected"),
    [(None, {"x": 12.0, "w": 4.0}), (["w"], [4.0]), (["w", "x"], [4.0, 12.0])],
)
async def test_parameters_by_name_or_all_of_them(wire, sources, expected):
    assert await wire.gradients("x ** 2 * w", {"x": 2.0, "w": 3.0}, sources=sources) == expected


@pytest.mark.rule("S76")
async def test_the_gradient_of_a_function_is_a_function(wire):
    text = "f = lambda p, k: k * p[0] ** 2 * p[1]\ngrad(f)([x, w], 2.0)"
    assert await wire.value(text, {"x": 2.0, "w": 3.0}) == [24.0, 8.0]
    # the same value twice is two arguments
    assert await wire.value("grad(lambda p: p[0] * p[1])([x, x])", {"x": 3.0}) == [3.0, 3.0]


@pytest.mark.rule("S77")
async def test_value_and_gradients_have_the_functions_structure(wire):
    text = "f = lambda p: [p['a'] * p['b'], p['a']]\nvalue_and_grad(f)({'a': x, 'b': w})"
    found = await wire.value(text, {"x": 2.0, "w": 3.0})
    assert found == [[6.0, 2.0], {"a": 4.0, "b": 2.0}]


@pytest.mark.rule("S78")
async def test_all_variables_in_the_order_of_the_request(wire):
    variables = {"z": 2.0, "a": 3.0, "c": {"value": 4.0, "trainable": False}, "unread": 1.0}
    found = await wire.gradients("a * a * z * c", variables)
    assert list(found.items()) == [("z", 36.0), ("a", 48.0), ("c", None), ("unread", None)]


@pytest.mark.rule("S79")
async def test_value_and_gradients_come_together(wire):
    answer = await wire.answer("{'loss': a * z, 'twice': 2 * a}", {"z": 2.0, "a": 3.0})
    assert answer["value"] == {"loss": 6.0, "twice": 6.0}
    assert answer["gradients"] == {"z": 3.0, "a": 4.0}


@pytest.mark.rule("S80")
async def test_the_pullback_is_the_gradient_with_seeds(wire):
    text, variables = "x ** 2", {"x": [1.0, 2.0]}
    for seed, expected in (([1.0, 1.0], [2.0, 4.0]), ([5.0, 0.0], [10.0, 0.0]), (None, [2.0, 4.0])):
        assert await wire.gradients(text, variables, sources="x", output_gradients=seed) == expected
