"""Values of every kind, and what is refused: S84 to S87."""

import pytest

from tests.tables import cases

X = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.rule("S84")
async def test_an_element_assigned_makes_another_value(wire):
    # the variable keeps its state, which is what another name would change
    answer = await wire.answer("y = copy(x)\ny[1] = w\nsum(x * y)", {"x": X, "w": 3.0})
    assert answer["gradients"] == {"x": [2.0, 3.0, 6.0, 8.0, 10.0], "w": 2.0}
    assert "updates" not in answer


@pytest.mark.rule("S84")
@pytest.mark.parametrize(
    "text",
    [
        "mask = cast(x % 2 == 0, x.dtype)\nx * (1 - mask) + mask * 100 * arange(1, 6)",
        "where(x % 2 == 0, 100 * stop_gradient(x), x)",
        "tf.tensor_scatter_nd_update(x, tf.where(x % 2 == 0), [200.0, 400.0])",
        "y = copy(x)\ny[[1, 3]] = [200.0, 400.0]\ny",
    ],
)
async def test_a_masked_update_passes_on_what_is_kept(wire, text):
    answer = await wire.answer(text, {"x": X})
    assert answer["value"] == [1.0, 200.0, 3.0, 400.0, 5.0]
    assert answer["gradients"] == {"x": [1.0, 0.0, 1.0, 0.0, 1.0]}


@pytest.mark.rule("S84")
@pytest.mark.parametrize(
    "text", ["x[5]", "x[-6]", "x[[1, 5]]", "gather(x, [9])", "tf.gather(x, n)"]
)
async def test_an_index_out_of_range_is_refused(wire, text):
    variables = {"x": X, "n": {"value": [0, 5], "dtype": "int64"}}
    assert await wire.code(text, variables) == ("bad_argument", "/program")


@pytest.mark.rule("S84")
@pytest.mark.parametrize(
    "call",
    [
        "gather(x, [0, -1])",
        "gather(x, n)",
        "gather([x, x], [[0, -2]], axis=1)",
        "gather_nd(x, [n])",
    ],
)
async def test_a_gather_of_tensorflow_counts_from_the_start(wire, call):
    variables = {"x": X, "n": {"value": [-5], "dtype": "int8"}}
    assert await wire.code(f"tf.{call}", variables) == ("bad_argument", "/program")
    if "axis" not in call:  # of NumPy's indices the negative ones count from the end
        assert await wire.value(call, variables) is not None


@pytest.mark.rule("S85")
async def test_a_list_that_is_not_rectangular_is_refused_with_its_place(wire):
    refused = await wire.code("x", {"x": [[1, 2, 3], [4, 5], [6]]})
    assert refused == ("malformed_tensor", "/variables/x/1")
    assert (await wire.code("[[1, 2], [3]] * x", {"x": 1.0}))[0] == "shape_mismatch"


@pytest.mark.rule("S85")
async def test_arrays_of_several_lengths_are_a_list_of_leaves(wire):
    variables = {"p": [{"value": [1, 2, 3]}, {"value": [4, 5]}]}
    found = await wire.gradients("sum(p[0]) * sum(p[1])", variables)
    assert found == {"p": [[9.0] * 3, [6.0] * 2]}


RAGGED = {"values": [1.0, 2.0, 3.0], "row_splits": [0, 2, 2, 3]}


@pytest.mark.rule("S85")
@cases("text, values")
async def test_a_ragged_tensor_has_a_ragged_gradient(wire, text, values):
    found = await wire.gradients(text, {"r": RAGGED}, sources=["r"])
    assert found == [RAGGED | {"values": values}]


@pytest.mark.rule("S85")
@pytest.mark.parametrize("splits", [[0, 2], [0, 3, 2, 3], [1, 3], []], ids=str)
async def test_splits_that_do_not_part_the_values_are_refused(wire, splits):
    code, pointer = await wire.code("sum(r)", {"r": RAGGED | {"row_splits": splits}})
    assert (code, pointer.startswith("/variables/r/row_splits")) == ("malformed_tensor", True)


SPARSE = {"indices": [[0, 1], [2, 0]], "values": [3.0, 5.0], "shape": [3, 2]}


@pytest.mark.rule("S86")
@cases("text, values")
async def test_the_gradient_in_a_sparse_tensor_is_that_in_its_values(wire, text, values):
    variables = {"a": SPARSE, "w": [10.0, 20.0]}
    found = await wire.gradients(text, variables, sources=["a"])
    assert found == [SPARSE | {"values": values}]
    named = await wire.gradients(text, variables, sources="a.values")
    assert named == values


@pytest.mark.rule("S86")
async def test_all_variables_come_back_in_their_forms(wire):
    variables = {"a": SPARSE | {"trainable": False}, "r": RAGGED, "w": [1.0, 2.0]}
    answer = await wire.answer("sum(a @ w) + sum(r)", variables)
    expected = {"a": None, "r": RAGGED | {"values": [1.0, 1.0, 1.0]}, "w": [5.0, 3.0]}
    assert answer["gradients"] == expected
    assert answer["unconnected"]["a"]["reason"] == "not_trainable"


@pytest.mark.rule("S87")
@pytest.mark.parametrize("unconnected", ["none", "zero"])
async def test_strings_have_no_gradient(wire, unconnected):
    answer = await wire.answer("y * y", {"s": "a", "y": 2.0}, unconnected_gradients=unconnected)
    assert answer["gradients"] == {"s": None, "y": 4.0}
    assert answer["unconnected"]["s"]["reason"] == "string_dtype"


@pytest.mark.rule("S87")
@pytest.mark.parametrize("text", ["s[1]", "s + 1.0", "2 * s", "sin(s)", "sum([s, s])"])
async def test_nothing_computes_with_strings(wire, text):
    assert await wire.code(text, {"s": "abc"}) == ("bad_argument", "/program")
