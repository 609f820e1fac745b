"""Targets, and their weights: S19 to S26."""

import pytest

X = [1.0, 2.0, 3.0]
TWO = "a = x * x\nb = 3 * x"


@pytest.mark.rule("S19")
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("a", 6.0),
        (["a", "b"], 9.0),
        ({"p": "a", "q": ["b", "b"]}, 12.0),
        (["a", "a"], 12.0),
        (["a", "y"], 6.0),
        ([], None),
        ([[], {}], None),
    ],
    ids=str,
)
async def test_targets_are_summed(wire, target, expected):
    assert await wire.gradients(TWO, {"x": 3.0, "y": 1.0}, target=target, sources="x") == expected


@pytest.mark.rule("S20")
@pytest.mark.parametrize(
    ("target", "seeds", "expected"),
    [
        (["a", "b"], [2.0, 10.0], [2 * 2 + 30, 2 * 4 + 30]),
        (["a", "b"], [None, 10.0], [2 + 30, 4 + 30]),
        ({"q": "a", "p": ["b"]}, {"p": [1.0], "q": 2.0}, [4 + 3, 8 + 3]),
        ("b", [1.0, 0.0], [3, 0]),
        ("a", None, [2, 4]),
    ],
    ids=str,
)
async def test_output_gradients_weigh_the_targets(wire, target, seeds, expected):
    if isinstance(seeds, list | dict) and not isinstance(target, str):
        seeds = spread(seeds)
    found = await wire.gradients(
        TWO, {"x": [1.0, 2.0]}, target=target, sources="x", output_gradients=seeds
    )
    assert found == expected


def spread(seeds):
    """Each number as a seed of the targets' shape."""
    if isinstance(seeds, dict):
        return {key: spread(item) for key, item in seeds.items()}
    if isinstance(seeds, list):
        return [spread(item) for item in seeds]
    return seeds and [seeds, seeds]


@pytest.mark.rule("S20")
@pytest.mark.parametrize(
    "seeds",
    [
        [[1.0, 1.0]],
        [[1.0, 1.0]] * 3,
        [[1.0], [1.0]],
        [1.0, 1.0],
        [[1.0, 1.0], {"re": [1, 1], "im": [1, 1]}],
    ],
    ids=["few", "many", "short", "scalar", "complex"],
)
async def test_output_gradients_must_fit(wire, seeds):
    fields = {"target": ["a", "b"], "sources": "x", "output_gradients": seeds}
    refused = await wire.code(TWO, {"x": [1.0, 2.0]}, **fields)
    assert refused == ("invalid_request", "/output_gradients")


@pytest.mark.rule("S21")
@pytest.mark.parametrize("text", ["3.0", "n * 2", "x > 1", "[1, 2]", "floor(x)", "k = 2.0\nk"])
async def test_targets_without_a_path_give_none(wire, text):
    variables = {"x": 2.0, "n": {"value": 3, "dtype": "int64"}}
    answer = await wire.answer(text, variables, sources="x")
    assert answer["gradients"] is None
    assert answer["unconnected"]["x"]["reason"] == "no_path"


@pytest.mark.rule("S21")
@pytest.mark.parametrize("target", [3, 2.5, True, ["a", 1], ["a", None]], ids=str)
async def test_what_is_no_name_is_no_target(wire, target):
    code, pointer = await wire.code(TWO, {"x": 3.0}, target=target)
    assert code == "invalid_request"
    assert pointer == ("/target/1" if isinstance(target, list) else "/target")


@pytest.mark.rule("S22")
async def test_zeros_where_asked(wire):
    variables = {
        "x": {"value": [1.0, 2.0], "dtype": "float32"},
        "n": {"value": [[1]], "dtype": "int32"},
        "c": {"value": X, "trainable": False},
        "stopped": 4.0,
        "s": "a word",
    }
    answer = await wire.answer(
        "stop_gradient(stopped)", variables, unconnected_gradients="zero", encoding="base64"
    )
    found = {
        name: one and (one["dtype"], one["shape"]) for name, one in answer["gradients"].items()
    }
    assert found == {
        "x": ("float32", [2]),
        "n": ("int32", [1, 1]),
        "c": ("float64", [3]),
        "stopped": ("float64", []),
        "s": None,
    }


@pytest.mark.rule("S22")
@pytest.mark.parametrize("choice", ["ZERO", "None", "zeros", 0, True])
async def test_only_none_and_zero_are_choices(wire, choice):
    refused = await wire.code("x", {"x": 1.0}, unconnected_gradients=choice)
    assert refused == ("invalid_request", "/unconnected_gradients")


@pytest.mark.rule("S25")
async def test_a_program_takes_any_number_of_gradients_of_what_it_recorded(wire):
    text = "y = x * x\nz = y * y\n[grad(z, x), grad(y, x), grad(z, y), grad(z, x)]"
    assert await wire.value(text, {"x": 3.0}) == [108.0, 6.0, 18.0, 108.0]


@pytest.mark.rule("S26")
async def test_a_refused_request_leaves_nothing_behind(wire):
    asked = {"program": "a = x * x\na", "variables": {"x": 3.0}}
    before = await wire.answer(**asked)
    for wrong in ({"sources": ["q"]}, {"output_gradients": [1.0, 2.0]}, {"target": "q"}):
        await wire.code(**asked, **wrong)
    assert await wire.answer(**asked) == before
