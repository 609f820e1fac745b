"""Outputs that a request asks for take the place of what the program returns."""

import numpy as np
import pytest
from gradwire_engine import errors


@pytest.mark.parametrize("outputs", [[], "x", {"new": "x"}])
def test_a_program_that_only_assigns_has_updates(ask, outputs):
    answer = ask.answer("x.assign_add(1)", {"x": 2}, kind="evaluate", outputs=outputs)
    assert answer.updates == {"x": 3}


def test_a_program_that_only_assigns_can_be_differentiated(ask):
    assert ask.gradients("x.assign_add(1)", {"x": 2}, target="x") == {"x": 1}


def test_a_last_assignment_that_was_not_executed_is_not_missed(ask):
    text = "z = x * 2\nif x > 3:\n    y = z"
    assert ask.value(text, {"x": 1}, outputs="z") == 2
    assert ask.gradients(text, {"x": 1}, target="z") == {"x": 2}
    with pytest.raises(errors.UnknownName, match="'y'"):
        ask.value(text, {"x": 1})


def test_outputs_beside_a_gradient_do_not_replace_the_target(ask):
    answer = ask.answer("h = x * 2\ny = h * h", {"x": 1}, outputs=["h"])
    assert (answer.value, answer.outputs) == (4, [2])


def test_nothing_to_return_is_an_error_that_says_so(ask):
    with pytest.raises(errors.InvalidProgram) as caught:
        ask.value("x.assign_add(1)", {"x": 2})
    assert caught.value.hint == "end it with an expression, or ask for outputs"


def test_nested_variables_have_keys_values_and_items(ask):
    text = """
total = 0.0
for name, w in ws.items():
    total += w * (10 if name == "b" else 1)
for k in ws.keys():
    total += ws[k]
total += sum(ws.values())
"""
    variables = {"ws": {"a": 2, "b": 3}}
    assert ask.value(text, variables) == 42
    assert ask.gradients(text, variables) == {"ws": {"a": 3, "b": 12}}
    assert ask.value("ws.items * 2", {"ws": {"items": 2}}) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.shape == (2, 3)", True),
        ("x.shape == y.shape", False),
        ("x.shape != (2,)", True),
        ("x.dtype == float64 and x.dtype != 'float32'", True),
        ("'a' == 'a'", True),
        ("1 if x.shape[1:] == y.shape else 0", 1),
    ],
)
def test_shapes_dtypes_and_names_compare_as_wholes(ask, text, expected):
    value = ask.value(f"r = {text}", {"x": np.ones((2, 3)), "y": np.ones(3)})
    assert value.shape == ()
    assert value == expected


@pytest.mark.parametrize("name", ["float32", "np.float32", "jnp.float32"])
def test_calling_a_dtype_converts(ask, name):
    value = ask.value(f"{name}(x) * 2", {"x": [1.5]})
    assert value.dtype == np.float32
    assert value.tolist() == [3]
    assert ask.gradients(f"{name}(x) * 2", {"x": 1.5}) == {"x": 2}
