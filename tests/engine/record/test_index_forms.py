"""Every form of an index reads and writes what NumPy's does, and so do derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import some
from tests.engine.index_forms import NAMED, PRELUDE, SHAPES, Array, forms, names, point

#: So many are lines of one program.
TOGETHER = 40
ENGINE = Engine()


def selected(x: Array, form: str) -> Array | None:
    """What NumPy selects; None where it refuses the index."""
    try:
        return np.asarray(eval(f"x[{form}]", {**names(), "x": x}))
    except IndexError:
        return None


def valid(shape: tuple[int, ...]) -> Iterator[list[str]]:
    """Forms that NumPy takes, some at a time."""
    x = point(shape)
    found = [form for form in forms(x.ndim) if selected(x, form) is not None]
    assert len(found) > 20
    for k in range(0, len(found), TOGETHER):
        yield found[k : k + TOGETHER]


def asked(text: str, variables: Mapping[str, Array], names: list[str], weights: list[Array]) -> Any:
    """The values of these names, and the gradient of their sum with weights in each variable."""
    leaves = {name: Leaf(value) for name, value in {**NAMED, **variables}.items()}
    query = Query("gradient", target=names, sources={name: name for name in variables})
    call = ENGINE.call(ENGINE.parse(PRELUDE + text), leaves, query, weights)
    answer = call.replay(lambda: None)
    return answer.value, answer.gradients


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reading(shape: tuple[int, ...]):
    x, draw = point(shape), np.random.default_rng(3)
    for some_forms in valid(shape):
        lines = "".join(f"y{k} = x[{form}] * 1.0\n" for k, form in enumerate(some_forms))
        expected = [eval(f"x[{form}] * 1.0", {**names(), "x": x}) for form in some_forms]
        weights = [draw.normal(size=np.shape(y)) for y in expected]
        places = [f"y{k}" for k in range(len(some_forms))]
        found, gradients = asked(lines, {"x": x}, places, weights)
        gradient = np.zeros(shape)
        for form, one, other, weight in zip(some_forms, found, expected, weights, strict=True):
            assert_array_equal(one, other, err_msg=form, strict=True)
            numbers = np.arange(x.size).reshape(shape)
            at = np.asarray(eval(f"numbers[{form}]", {**names(), "numbers": numbers}))
            np.add.at(gradient.reshape(-1), at.reshape(-1), np.reshape(weight, -1))
        assert_allclose(gradients["x"], gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("whole", [False, True], ids=["a number", "an array"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_writing(shape: tuple[int, ...], whole: bool):
    x, draw = point(shape), np.random.default_rng(4)
    for some_forms in valid(shape):
        lines, variables, weights = "", {"x": x}, []
        expected, gradient, of_values = [], np.zeros(shape), []
        for k, form in enumerate(some_forms):
            region = selected(x, form)
            assert region is not None
            value = draw.normal(size=region.shape if whole else ())
            lines += f"y{k} = 1.0 * x\ny{k}[{form}] = v{k}\n"
            variables[f"v{k}"] = value
            weight, known = np.asarray(draw.normal(size=shape)), names()
            y, kept, last = x.copy(), weight.copy(), np.zeros(shape, int)
            numbers = np.arange(region.size).reshape(region.shape)
            known |= {"y": y, "value": value, "kept": kept, "last": last, "numbers": numbers}
            exec(f"y[{form}] = value; kept[{form}] = 0.0; last[{form}] = numbers", known)
            expected.append(y)
            weights.append(weight)
            gradient += kept
            known["weight"] = weight
            there = eval(f"np.where(last[{form}] == numbers, weight[{form}], 0.0)", known)
            of_values.append(there if whole else weight.sum() - kept.sum())
        places = [f"y{k}" for k in range(len(some_forms))]
        found, gradients = asked(lines, variables, places, weights)
        for k, form in enumerate(some_forms):
            assert_array_equal(found[k], expected[k], err_msg=form, strict=True)
            of_value = gradients[f"v{k}"]
            assert_allclose(of_value, of_values[k], atol=1e-12, err_msg=form)
        assert_allclose(gradients["x"], gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_numpy_refuses_is_refused(shape: tuple[int, ...]):
    x = point(shape)
    wrong = [form for form in forms(x.ndim) if selected(x, form) is None]
    for form in some(wrong):
        for text in (f"x[{form}]", f"y = 1.0 * x\ny[{form}] = 0.0\ny"):
            program = ENGINE.parse(PRELUDE + text)
            variables = {name: Leaf(value) for name, value in {**NAMED, "x": x}.items()}
            with pytest.raises(EngineError):
                ENGINE.call(program, variables, Query("evaluate")).replay(lambda: None)


def test_masks_that_select_other_numbers_of_elements_need_one_recording():
    """What is written where a mask is true is chosen, not counted."""
    program = ENGINE.parse("y = x * 1.0\ny[x < 0] = 0.0\nsum(y * y)")
    for values in ([1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]):
        call = ENGINE.call(program, {"x": Leaf(np.array(values))}, Query("gradient"))
        answer = call.replay(lambda: None)
        assert_array_equal(answer.gradients["x"], 2 * np.maximum(values, 0))
        assert len(call.entry.paths) == 1


def test_each_example_of_a_batch_has_a_mask_of_its_own():
    program = ENGINE.parse("y = x * 1.0\ny[x < 0] = 0.0\nsum(y * y)")
    values = np.array([[1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]])
    call = ENGINE.call(program, {"x": Leaf(values)}, Query("gradient", batch={"x": 0}))
    assert_array_equal(call.replay(lambda: None).gradients["x"], 2 * np.maximum(values, 0))
    assert len(call.entry.paths) == 1


#: What a method of ``x.at[...]`` computes of elements and values.
METHODS = {
    "set": lambda x, v: v,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "divide": np.divide,
    "power": np.power,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["m3", "m34", "no", "yes", "m3,1", "i", "::-1,1", "yes,0"])
def test_updates_in_new_arrays(method: str, form: str):
    x = point((3, 4))
    for value in (2.0, np.float64(0.5) + np.arange(4) / 4):
        known = {**names(), "x": x.copy(), "f": METHODS[method], "v": value}
        if np.ndim(value) and form not in ("m3", "no", "yes", "i"):
            continue
        exec(f"x[{form}] = f(x[{form}], v)", known)
        found, _ = asked(
            f"y = x.at[{form}].{method}(v)\n", {"x": x, "v": np.asarray(value)}, ["y"], [x]
        )
        assert_allclose(found[0], known["x"])
