"""Mapping over many points gives the same results as single calls, in few requests."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradwire
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples


class Counting(gradwire.Client):
    """A client that counts its computation requests."""

    asked = 0

    def _exchange(self, call):
        self.asked += call.path.startswith("/v1/evaluate")
        return super()._exchange(call)


@pytest.fixture
def counting(service_url) -> Iterator[Counting]:
    with Counting(service_url) as client:
        yield client


@dataclass
class Layer:
    w: Any
    b: float


def test_a_program_is_mapped_in_one_request(counting):
    points = [{"x": float(i), "layer": Layer(np.full(2, i), 1.0)} for i in range(100)]
    program = "{'y': w * x + sum(layer.w), 'both': [x, layer.b]}"
    found = counting.map(program, points, variables={"w": 3.0})
    assert found == [{"y": 5.0 * i, "both": [float(i), 1.0]} for i in range(100)]
    assert counting.asked == 1


def test_options_of_evaluate_are_accepted(counting):
    points = [{"x": np.float32(0.5)}, {"x": np.float32(1.0)}]
    found = counting.map("y = x**2\nz = y + 1", points, outputs=["z", "y"])
    assert found == [[1.25, 0.25], [2.0, 1.0]]
    assert found[0][0].dtype == np.float32
    with pytest.raises(gradwire.DtypeMismatch):
        counting.map("x + 1.5 * ones(2)", points, promotion="strict")


def test_shared_variables_are_used_for_each_point(counting):
    rows = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
    found = counting.map("x, rows", [{"x": 1.0}, {"x": 2.0}], variables={"rows": rows})
    for x, (value, each) in zip((1.0, 2.0), found, strict=True):
        assert value == x
        assert [row.tolist() for row in each] == [[1.0, 2.0], [], [3.0]]


def piecewise(x, y):
    if x > 2:
        return {"v": x * y, "path": "high"}
    if y > 1:
        return {"v": np.sum(x - y), "path": "middle"}
    return {"v": -x, "path": "low"}


@examples(20)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), max_size=40))
def test_control_flow_is_decided_separately_for_each_point(service_url, points):
    with Counting(service_url) as client:
        found = client.map(piecewise, [x for x, _ in points], [y for _, y in points])
        assert found == [piecewise(x, y) for x, y in points]
        asked = client.asked
    assert asked <= 3 + 3 * len({answer["path"] for answer in found})


def test_derivatives_can_be_mapped(counting):
    def energy(w, x):
        return np.sum(np.tanh(w["a"] * x) + w["b"])

    rng = np.random.default_rng(0)
    weights = [{"a": float(a), "b": np.ones(3)} for a in range(1, 6)]
    points = rng.normal(size=(5, 3))
    found = counting.map(gradwire.value_and_grad(energy), weights, points)
    assert counting.asked == 1
    for w, x, (value, gradient) in zip(weights, points, found, strict=True):
        assert value == pytest.approx(energy(w, x))
        assert gradient["a"] == pytest.approx(np.sum(x / np.cosh(w["a"] * x) ** 2))
        np.testing.assert_array_equal(gradient["b"], [1.0, 1.0, 1.0])


def test_integers_are_mapped_as_numbers(counting):
    assert counting.map(lambda x: x / 2, range(100)) == [x / 2 for x in range(100)]
    assert counting.map(gradwire.grad(lambda x: x**2), [1, 2, 3]) == [2.0, 4.0, 6.0]
    assert counting.map("x / 2", ({"x": x} for x in range(3))) == [0.0, 0.5, 1.0]
    assert counting.asked == 3


def test_points_of_different_types_are_sent_separately(counting):
    points = [np.ones(3), np.ones(3), np.ones((2, 2)), 1.0, np.ones(3, np.float32)]
    found = counting.map(lambda x: np.sum(x) * 2, points)
    assert found == [6.0, 6.0, 8.0, 2.0, 6.0]
    assert found[-1].dtype == np.float32
    assert counting.asked == 4


def test_functions_that_ignore_the_point_can_be_mapped(counting):
    assert counting.map(lambda _: np.float64(3.0) * 2, [1.0, 2.0]) == [6.0, 6.0]
    assert counting.map("y + 1", [{}, {}], variables={"y": 1.0}) == [2.0, 2.0]
    assert counting.map(lambda x: x, []) == []


@pytest.mark.parametrize(("chunk", "asked"), [(1, 10), (4, 3), (100, 1), (None, 1)])
def test_chunks_have_the_given_size(counting, chunk, asked):
    assert counting.map("x", [{"x": i} for i in range(10)], chunk=chunk) == list(range(10))
    assert counting.asked == asked


def test_large_points_are_sent_in_smaller_chunks(counting):
    counting.map(np.sum, np.ones((20, 1 << 16)))  # 10 MiB
    assert counting.asked == 3


def test_chunks_that_are_too_large_for_the_service_are_halved():
    with gradwire.Client.local(max_array_bytes=100_000) as client:
        found = client.map("sum(arange(1000) * x)", [{"x": float(x)} for x in range(100)])
        assert found == [499_500.0 * x for x in range(100)]
        with pytest.raises(gradwire.OverBudget):
            client.map("sum(ones(100000) * x)", [{"x": 1.0}, {"x": 2.0}])


async def test_the_async_client_maps_too(service_url):
    async with gradwire.AsyncClient(service_url) as client:
        one, other = await asyncio.gather(
            client.map("x + 1", [{"x": 1.0}, {"x": 2.0}]), client.map(np.square, [1.0, 2.0])
        )
    assert (one, other) == ([2.0, 3.0], [1.0, 4.0])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("x", [1.0]), {}, TypeError, r"points\[0\] go by name"),
        (("x", [{"x": "text"}]), {}, TypeError, r"points\[0\] has a str: points hold numbers"),
        (("x", [{"x": {"value": 1.0}}]), {}, TypeError, r"points\[0\] has a dict: points hold"),
        (("x", [{"x": 1.0}], [{"x": 1.0}]), {}, TypeError, "one sequence of points, not 2"),
        (("x", [{"x": 1.0}]), {"chunk": 0}, ValueError, "a chunk needs at least one point, got 0"),
        ((np.sum, [1.0]), {"variables": {"x": 1.0}}, TypeError, "a function takes points only"),
        ((np.add, [1.0], [1.0, 2.0]), {}, ValueError, "equally many points"),
    ],
)
def test_invalid_arguments_are_reported(counting, arguments, options, error, message):
    with pytest.raises(error, match=message):
        counting.map(*arguments, **options)


@pytest.mark.parametrize("subject", ["x**2", gradwire.program("x**2", "x")])
def test_unreadable_arrays_are_reported_with_their_point(counting, subject):
    class Unreadable:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("detach it first")

    point = {"x": Unreadable()} if isinstance(subject, str) else Unreadable()
    good = {"x": 1.0} if isinstance(subject, str) else 1.0
    with pytest.raises(gradwire.UsageError, match=r"points\[1\].*detach it first"):
        counting.map(subject, [good, point])


def test_errors_name_the_line_of_the_function(counting):
    def inverse(a):
        return np.linalg.inv(a)

    with pytest.raises(gradwire.DomainError) as caught:
        counting.map(inverse, [np.eye(2), np.zeros((2, 2))])
    assert any("test_mapping.py" in note for note in caught.value.__notes__)


def test_progress_is_shown_on_request(counting, capfd):
    counting.map("x", [{"x": i} for i in range(10)], chunk=3, progress=True)
    assert "10/10" in capfd.readouterr().err
    counting.map("x", [{"x": i} for i in range(10)], progress=False)
    counting.map("x", [{"x": i} for i in range(10)])  # standard error is not a terminal
    assert capfd.readouterr().err == ""


def test_progress_needs_tqdm(counting, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert counting.map("x", [{"x": 1.0}]) == [1.0]
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gradwire\[progress\]'"):
        counting.map("x", [{"x": 1.0}], progress=True)
