"""Sources as one vector: in which order, what of them may be optimised, and back again."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf, Sparse
from gradwire_engine.errors import InputError, UnknownName
from gradwire_solvers import Layout
from gradwire_solvers.layout import Placement
from numpy.testing import assert_array_equal, assert_equal

from tests.engine.solvers.conftest import pointer_to

NESTED: dict[str, Any] = {
    "layers": [{"w": Leaf(np.arange(6.0).reshape(2, 3)), "b": Leaf(np.ones(2))}, Leaf(np.zeros(1))],
    "scale": Leaf(np.array(3, np.float32)),
    "data.x": Leaf(np.full(2, 7.0), trainable=False),
    "labels": Leaf(np.arange(3)),
    "name": Leaf("text"),
}


def test_all_trainable_floats_are_sources_unless_some_are_named():
    layout = Layout(NESTED)
    assert layout.paths == ["layers.0.w", "layers.0.b", "layers.1", "scale"]
    assert_array_equal(layout.start, [0, 1, 2, 3, 4, 5, 1, 1, 0, 3])
    assert layout.start.dtype == np.float64
    nested = layout.unpack(layout.start * 2)
    assert nested.keys() == {"layers", "scale"}
    assert nested["scale"].dtype == np.float32
    assert_array_equal(nested["layers"][0]["w"], [[0, 2, 4], [6, 8, 10]])


@pytest.mark.parametrize(
    ("names", "paths", "nested"),
    [
        ("scale", ["scale"], np.float32(3)),
        (["layers[0].b", None], ["layers.0.b"], [np.ones(2), None]),
        ({"all": "layers[1]"}, ["layers.1"], {"all": np.zeros(1)}),
    ],
)
def test_named_sources_come_back_as_they_are_named(names, paths, nested):
    layout = Layout(NESTED, names)
    assert layout.paths == paths
    assert_equal(layout.unpack(layout.start), nested)


def test_a_named_level_means_all_below():
    layout = Layout(NESTED, ["layers"])
    assert layout.paths == ["layers.0.w", "layers.0.b", "layers.1"]


def test_packing_undoes_unpacking():
    layout = Layout(NESTED)
    x = np.random.default_rng(0).normal(size=layout.size).astype(np.float32).astype(float)
    assert_array_equal(layout.pack(layout.unpack(x)), x)
    assert_array_equal(layout.flat(layout.arrays(x)), x)


def test_elements_have_names():
    layout = Layout(NESTED)
    assert [layout.name(i) for i in (0, 5, 7, 9)] == [
        "layers.0.w[0][0]",
        "layers.0.w[1][2]",
        "layers.0.b[1]",
        "scale",
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("labels", "int64 cannot be optimised"),
        ("name", "a string cannot be optimised"),
        ("data.x", "not trainable"),
        (["scale", "scale"], "named twice"),
        (["layers", "layers.0.w"], "named twice"),
        ([], "nothing to optimise"),
        ([None], "nothing to optimise"),
    ],
)
def test_what_cannot_be_optimised_is_refused(names, words):
    with pytest.raises(InputError, match=words) as refused:
        Layout(NESTED, names)
    assert pointer_to(refused) == "/sources"


def test_complex_sparse_and_empty_sources_are_refused():
    with pytest.raises(InputError, match="complex128") as refused:
        Layout({"z": Leaf(np.ones(2, complex))})
    assert "real and imaginary" in str(refused.value.hint)
    parts = {"indices": Leaf(np.array([[0]]), False), "values": Leaf(np.ones(1))}
    with pytest.raises(InputError, match="a sparse tensor of shape"):
        Layout({"s": Sparse(parts, (3,)), "w": Leaf(np.ones(2))})
    fixed = {**parts, "values": Leaf(np.ones(1), False)}
    assert Layout({"s": Sparse(fixed, (3,)), "w": Leaf(np.ones(2))}).paths == ["w"]
    with pytest.raises(InputError, match="no elements"):
        Layout({"w": Leaf(np.ones((0, 3)))})


def test_unknown_names_have_a_hint():
    with pytest.raises(UnknownName, match="no variable 'scael'") as refused:
        Layout(NESTED, ["scael"])
    assert refused.value.hint == "did you mean scale?"
    assert pointer_to(refused) == "/sources/0"


def test_arrays_take_the_places_of_some_variables():
    place = Placement(NESTED, ["layers.0.b", "data.x"])
    placed = place([np.zeros(2), np.ones(5)])
    assert placed.keys() == NESTED.keys()
    assert_array_equal(placed["layers"][0]["b"].value, np.zeros(2))
    assert_array_equal(placed["data.x"].value, np.ones(5))
    assert placed["layers"][0]["w"] is NESTED["layers"][0]["w"]
    assert placed["labels"] is NESTED["labels"]
