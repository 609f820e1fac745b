"""Variables that programs assign to: S53 to S56 and S88."""

import pytest

from tests.tables import cases


async def updates(wire, program, variables):
    response = await wire.post("/v1/evaluate", program, variables)
    assert response.status_code == 200, response.text
    return response.json().get("updates", {})


@pytest.mark.rule("S53")
async def test_a_read_takes_the_value_of_that_moment(wire):
    text = "y = x * x\nx.assign(10)\nz = x\n[y, z]"
    answer = await wire.answer(text, {"x": 3.0})
    assert answer["value"] == [9.0, 10.0]
    assert answer["gradients"] == {"x": 2 * 3.0 + 1}
    assert answer["updates"] == {"x": 10.0}


@pytest.mark.rule("S53")
async def test_products_and_matrices_see_all_reads_too(wire):
    text = "y = x * x\nx.assign_add(1)\nz = y * x\n"
    text += "[grad(z, x), jvp(z, x, 1.0), jacobian(z, x)]"
    assert await wire.value(text, {"x": 3.0}) == [2 * 3.0 * 4 + 9] * 3


@pytest.mark.rule("S54")
@cases("statement, left")
async def test_what_is_assigned_is_a_fresh_leaf(wire, statement, left):
    answer = await wire.answer(f"{statement}\ny = sum(x ** 2)", {"x": [1.0, 2.0], "w": 2.0})
    assert answer["gradients"] == {"x": [2 * item for item in left], "w": None}
    assert answer["unconnected"]["w"]["reason"] == "state"
    assert answer["updates"] == {"x": left}


@pytest.mark.rule("S54")
@pytest.mark.parametrize("target", ["y", "y[0]", "x[0][0]", "(x * 1)[0]"])
async def test_only_variables_are_assigned_to(wire, target):
    code, _ = await wire.code(f"y = x + 1\n{target}.assign(5)", {"x": [[1.0]]})
    assert code == "bad_argument"


@pytest.mark.rule("S55")
@pytest.mark.parametrize("part", ["", "[:]", "[0:2]"])
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("[1, 2, 3]", "shape_mismatch"),
        ("1", "shape_mismatch"),
        ("[[1, 2]]", "shape_mismatch"),
        ("[1.0, 2.0]", "dtype_mismatch"),
        ("z * 0.5", "dtype_mismatch"),
    ],
)
async def test_an_assignment_keeps_shape_and_dtype(wire, value, code, part):
    variables = {"z": {"value": [1, 2], "dtype": "int32"}}
    assert await wire.code(f"z{part}.assign({value})\nz", variables) == (code, "/program")


@pytest.mark.rule("S56")
async def test_a_training_loop_is_gradient_descent(wire):
    text = """
for step in range(50):
  loss = mean((x * w + b - y) ** 2)
  dw, db = grad(loss, [w, b])
  w.assign_sub(0.1 * dw)
  b.assign_sub(0.1 * db)
"""
    x = [-1.0, 0.0, 0.5, 2.0]
    variables = {"x": x, "y": [3 * item - 1 for item in x], "w": 0.0, "b": 0.0}
    in_program = await updates(wire, text, variables)
    step = "loss = mean((x * w + b - y) ** 2)"
    for _ in range(50):
        gradients = await wire.gradients(step, variables, sources=["w", "b"])
        for name, slope in zip("wb", gradients, strict=True):
            variables[name] -= 0.1 * slope
    assert in_program == pytest.approx({name: variables[name] for name in "wb"})
    assert in_program == pytest.approx({"w": 3.0, "b": -1.0}, abs=0.1)


@pytest.mark.rule("S88")
async def test_a_variable_of_unknown_shape_is_assigned_any(wire):
    text = "a = x\nx.assign([1, 2, 3])\nb = x\nx.assign([[1], [2]])\n[a, b, x]"
    variables = {"x": {"value": 5, "dtype": "int32", "shape": None}}
    assert await wire.value(text, variables) == [5, [1, 2, 3], [[1], [2]]]
    assert await updates(wire, text, variables) == {"x": [[1], [2]]}
    text = "p = x\nfor i in range(3): x.assign(concatenate([x, [i]]))\np.assign_add(x)\nx"
    grown = await wire.value(text, {"x": {"value": [7.0], "shape": None}})
    assert grown == [14.0, 0.0, 2.0, 4.0]
    assert (await wire.code("x.assign([1, 2, 3])\nx", {"x": 5.0}))[0] == "shape_mismatch"
    part = await wire.code("x[0].assign([1, 2])", {"x": {"value": [5.0], "shape": None}})
    assert part[0] == "shape_mismatch"
    refused = await wire.code("x", {"x": {"value": [5.0], "shape": [1]}})
    assert refused == ("malformed_tensor", "/variables/x/shape")


@pytest.mark.rule("S88")
@pytest.mark.parametrize("sources", [None, "x"])
async def test_its_gradient_is_in_the_values_of_its_last_shape(wire, sources):
    text = "y = 5 * x\nx.assign([1, 2])\nz = x * x\nx.assign_add([1, 1])\nw = y + sum(z) + sum(x)\n"
    text += "[w, grad(w, x), jvp(w, x, array([1, 10])), jacobian(w, x)]"
    variables = {"x": {"value": 3.0, "shape": None}}
    assert await wire.value(text, variables) == [25.0, [3.0, 5.0], 53.0, [3.0, 5.0]]
    found = await wire.gradients(text, variables, target="w", sources=sources)
    assert found == ([3.0, 5.0] if sources else {"x": [3.0, 5.0]})
