"""Sources of gradients, and reasons why there is none: S2 to S4, S13, S14, S38 to S49."""

from typing import Any

import pytest

X = [1.0, 2.0, 3.0]


@pytest.mark.rule("S2")
@pytest.mark.parametrize("value", [2.0, [2.0], [[2.0]], [], [[], []], [[1.0], [2.0]]], ids=str)
async def test_a_gradient_has_the_shape_of_its_source(wire, value):
    def doubled(nested):
        return [doubled(item) for item in nested] if isinstance(nested, list) else 2 * nested

    assert await wire.gradients("x * x", {"x": value}, sources="x") == doubled(value)


@pytest.mark.rule("S2")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
async def test_a_gradient_has_the_dtype_of_its_source(wire, dtype):
    variables = {"x": {"value": X, "dtype": dtype}, "y": 2.0}
    for found in (
        await wire.gradients("x * y", variables, sources="x", encoding="base64"),
        await wire.gradients(
            "y", variables, sources="x", unconnected_gradients="zero", encoding="base64"
        ),
    ):
        assert (found["dtype"], found["shape"]) == (dtype, [3])


@pytest.mark.rule("S3")
async def test_only_trainable_variables_are_sources_by_themselves(wire):
    variables = {"x": 2.0, "c": {"value": 3.0, "trainable": False}}
    answer = await wire.answer("k = 5.0\nx * c * k", variables)
    assert answer["gradients"] == {"x": 15.0, "c": None}
    assert answer["unconnected"]["c"]["reason"] == "not_trainable"


@pytest.mark.rule("S4")
async def test_a_constant_of_the_program_is_a_source_where_it_is_named(wire):
    assert await wire.gradients("k = 5.0\nx * k", {"x": 2.0}, sources=["k", "x"]) == [2.0, 5.0]


SOURCES = [
    ("x", 5.0),
    (["x"], [5.0]),
    ({"b": "x", "a": ["y", {"c": "x"}]}, {"b": 5.0, "a": [2.0, {"c": 5.0}]}),
    ({"none": [], "nothing": {}}, {"none": [], "nothing": {}}),
    ({"z": {"w": "y"}, "a": "x"}, {"z": {"w": 2.0}, "a": 5.0}),
]


@pytest.mark.rule("S13")
@pytest.mark.parametrize(("sources", "expected"), SOURCES, ids=str)
async def test_gradients_have_the_structure_of_the_sources(wire, sources, expected):
    found = await wire.gradients("x * y", {"x": 2.0, "y": 5.0}, sources=sources)
    assert found == expected
    assert not isinstance(found, dict) or list(found) == list(sources)


@pytest.mark.rule("S14")
async def test_no_sources_are_no_gradients_and_null_stays_null(wire):
    every: list[Any] = [[], {}, [None], {"a": None, "b": [[]]}]
    for sources in every:
        assert await wire.gradients("x * x", {"x": 2.0}, sources=sources) == sources


@pytest.mark.rule("S14")
@pytest.mark.parametrize("leaf", [1, 2.5, True])
async def test_what_is_no_name_is_refused_with_its_place(wire, leaf):
    refused = await wire.code("x * x", {"x": 2.0}, sources={"a": ["x", leaf]})
    assert refused == ("invalid_request", "/sources/a/1")


@pytest.mark.rule("S14")
async def test_a_name_that_is_not_there_is_refused_with_its_place(wire):
    assert await wire.code("x * x", {"x": 2.0}, sources=["x", "y"]) == (
        "unknown_name",
        "/sources/1",
    )


@pytest.mark.rule("S38")
async def test_a_name_bound_anew_is_another_value(wire):
    # of the variable, what followed its reads; of the name, what followed the last assignment
    text = "x = x + 2\ny = x * x"
    assert await wire.gradients(text, {"x": 2.0}, target="x", sources="x") == 1.0
    assert await wire.gradients("y = x\nx = x + 2\ny", {"x": 2.0}, sources="x") is None
    assert await wire.value("x.assign_add(2)\ngrad(x * x, x)", {"x": 2.0}) == 8.0


@pytest.mark.rule("S38")
@pytest.mark.parametrize("source", ["w", "layer.w", "items.1", "items[1]"])
async def test_a_source_that_is_no_longer_the_variable_is_told(wire, source):
    text = "w = w * 2\nlayer = {'w': w}\nitems = [w, w]\ny = w * w"
    variables = {"w": 3.0, "layer": {"w": 1.0}, "items": [1.0, {"value": 2.0}]}
    answer = await wire.answer(text, variables, sources=source)
    assert answer["gradients"] == 12.0
    (told,) = answer["warnings"]
    assert (told["code"], told["node"]["op"], told["node"]["line"]) == ("rebound", "multiply", 1)
    for fields in ({}, {"sources": "y"}):
        assert "warnings" not in await wire.answer(text, variables, **fields)


@pytest.mark.rule("S39")
async def test_what_is_computed_outside_is_a_constant(wire):
    """A program cannot leave the tape; ``stop_gradient`` says that a value is to be a constant."""
    answer = await wire.answer("y = stop_gradient(x * x)\ny * x", {"x": 3.0})
    assert (answer["value"], answer["gradients"]) == (27.0, {"x": 9.0})


@pytest.mark.rule("S40")
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"value": 3, "dtype": "int32"}, "integer_dtype"),
        ({"value": 3, "dtype": "uint8"}, "integer_dtype"),
        (True, "boolean_dtype"),
        ("a word", "string_dtype"),
    ],
)
async def test_integers_booleans_and_strings_have_no_gradient(wire, value, reason):
    variables = {"x": value, "y": 2.0}
    text = "y * y" if isinstance(value, str) else "y * y * x"
    assert (await wire.gradients(text, variables))["x"] is None
    assert await wire.reasons(text, variables) == {"x": reason}


@pytest.mark.rule("S41")
async def test_state_ends_the_path(wire):
    answer = await wire.answer("x.assign_add(y)\nz = x * x", {"x": 3.0, "y": 4.0})
    assert answer["gradients"] == {"x": 14.0, "y": None}
    why = answer["unconnected"]["y"]
    assert (why["reason"], why["node"]["op"], why["node"]["line"]) == ("state", "assign_add", 1)


@pytest.mark.rule("S41")
@pytest.mark.parametrize(
    "text", ["x if y > 1 else 0.0", "x if y > 1 else w", "x * 1 if y > 1 else x"]
)
async def test_a_decision_ends_the_path(wire, text):
    answer = await wire.answer(text, {"x": 3.0, "y": 4.0, "w": 5.0}, sources=["x", "y"])
    assert answer["gradients"] == [1.0, None]
    assert answer["unconnected"]["y"]["detail"] == "only a decision depends on this source"


@pytest.mark.rule("S42")
@pytest.mark.parametrize("op", ["floor", "argmax", "isfinite", "count_nonzero"])
async def test_what_has_no_derivative_is_named_and_no_harm_beside_another_path(wire, op):
    variables = {"x": X}
    answer = await wire.answer(f"y = x\n1.0 * {op}(y)", variables)
    assert answer["gradients"] == {"x": None}
    why = answer["unconnected"]["x"]
    assert (why["reason"], why["node"]["op"], why["node"]["line"]) == ("no_path", op, 2)
    assert await wire.gradients(f"sum(x) + sum({op}(x))", variables) == {"x": [1.0] * 3}


HELD = [
    ("struve(v, {})", 2.0),
    ("modstruve(v, {})", 2.0),
    ("hyperu(v, 1.5, {})", 2.0),
    ("hyperu(1.5, v, {})", 2.0),
    ("jv(v, {})", {"re": 1.0, "im": 1.0}),
    ("hyp1f1(v, 1.5, {})", {"re": 1.0, "im": 1.0}),
]


@pytest.mark.rule("S42")
@pytest.mark.parametrize(("text", "x"), HELD, ids=[text for text, _ in HELD])
async def test_a_gradient_that_would_lack_a_part_is_refused(wire, text, x):
    op = text.partition("(")[0]
    answer = await wire.answer(text.format("x"), {"v": 0.5, "x": x}, sources=["v", "x"])
    assert answer["gradients"][0] is None
    assert answer["gradients"][1] is not None
    assert answer["unconnected"]["v"]["detail"] == f"{op} has no derivative in this operand"
    fields = {"variables": {"x": x}, "sources": "x"}
    program = "v = {}\n" + text.format("x")
    problem = (await wire.post("/v1/gradient", program.format("real(x)"), **fields)).json()
    assert (problem["code"], problem["node"]["op"]) == ("not_differentiable", op)
    held = await wire.gradients(program.format("stop_gradient(real(x))"), **fields)
    assert held == await wire.gradients(program.format("1.0" if x != 2.0 else "2.0"), **fields)


@pytest.mark.rule("S47")
@pytest.mark.parametrize("unconnected", ["none", "zero"])
async def test_what_is_not_trainable_has_no_gradient(wire, unconnected):
    variables = {"x": 2.0, "c": {"value": X, "trainable": False}}
    answer = await wire.answer("sum(x * c)", variables, unconnected_gradients=unconnected)
    assert answer["gradients"] == {"x": 6.0, "c": None if unconnected == "none" else [0.0] * 3}
    assert answer["unconnected"]["c"]["reason"] == "not_trainable"


@pytest.mark.rule("S48")
async def test_a_detour_through_integers_ends_the_path_and_no_other(wire):
    variables = {"x": 2.5, "n": {"value": 3, "dtype": "int32"}, "b": True}
    text = "x * x * n + cast(cast(x, 'int32'), 'float64') + where(b, x, 0.0)"
    assert await wire.gradients(text, variables) == {"x": 2 * 2.5 * 3 + 1, "n": None, "b": None}
    assert await wire.gradients("cast(cast(x, 'int32'), 'float64')", {"x": 2.5}) == {"x": None}


@pytest.mark.rule("S49")
@pytest.mark.parametrize("there", ["float16", "float32", "float64"])
async def test_conversions_between_floats_pass_the_gradient_on(wire, there):
    found = await wire.gradients(
        "sum(cast(x, there) ** 2)".replace("there", repr(there)),
        {"x": {"value": X, "dtype": "float32"}},
        sources="x",
        encoding="base64",
    )
    assert found["dtype"] == "float32"
    again = await wire.gradients(f"sum(cast(x, '{there}') ** 2)", {"x": X}, sources="x")
    assert again == [2.0, 4.0, 6.0]
