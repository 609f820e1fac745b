from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from gradwire.trees import (
    LEAF,
    MISSING,
    flatten,
    lookup,
    members,
    outermost,
    paths,
    rebuild,
    template,
    unflatten,
)


@dataclass
class Layer:
    w: Any
    b: Any


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.mark.parametrize(
    "leaf",
    [
        1,
        2.5,
        True,
        1j,
        "NaN",
        "text",
        np.zeros(3),
        np.float32(1),
        [1, 2.0, True],
        [],
        ((1, 2), (3, "Infinity")),
        [np.int64(1), 2],
        range(3),
        {"value": 1, "dtype": "int8"},
        {"re": 1, "im": 2},
        {"ref": "sha256:0"},
    ],
    ids=repr,
)
def test_numbers_arrays_and_lists_of_numbers_are_leaves(leaf):
    assert members(leaf) is None


@pytest.mark.parametrize(
    ("level", "inside"),
    [
        ({"a": 1}, {"a": 1}),
        ({"re": 1}, {"re": 1}),
        (Layer(1, 2), {"w": 1, "b": 2}),
        (Pair(1, 2), {"first": 1, "second": 2}),
        ([{"a": 1}], [{"a": 1}]),
        ((1, "text"), (1, "text")),
        ([1, [2, {}]], [1, [2, {}]]),
    ],
    ids=repr,
)
def test_named_containers_and_lists_of_non_numbers_are_levels(level, inside):
    assert members(level) == inside


def test_a_list_that_contains_an_array_is_a_level():
    assert members([1.0, np.zeros(2)]) is not None


def test_the_outermost_level_is_never_a_leaf():
    assert outermost({"value": 1, "ref": 2}) == {"value": 1, "ref": 2}
    assert outermost(Layer(1, 2)) == {"w": 1, "b": 2}


def test_variables_without_names_are_refused():
    with pytest.raises(TypeError, match="go by name, in a mapping or a dataclass, not in a list"):
        outermost([1.0])


@pytest.mark.parametrize(
    ("level", "parts", "expected"),
    [
        ({"a": 1}, {"a": 2}, {"a": 2}),
        (Layer(1, 2), {"w": 3, "b": 4}, Layer(3, 4)),
        (Pair(1, 2), {"first": 3, "second": 4}, Pair(3, 4)),
        (("x", "y"), [1, 2], (1, 2)),
        (["x", "y"], [1, 2], [1, 2]),
    ],
    ids=repr,
)
def test_levels_keep_their_type(level, parts, expected):
    rebuilt = rebuild(level, parts)
    assert rebuilt == expected
    assert type(rebuilt) is type(level)


VARIABLES = {
    "x": 1,
    "layers": [Layer("w0", "b0"), {"w": "w1"}],
    "a.b": "dotted",
    "a": {"b": "nested", "c.d": "inner"},
    "value": 7,
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", 1),
        ("value", 7),
        ("layers.0.w", "w0"),
        ("layers[1].w", "w1"),
        ("layers[0]", Layer("w0", "b0")),
        ("a.b", "dotted"),
        ("a.c.d", "inner"),
    ],
)
def test_a_name_finds_its_value(name, value):
    assert lookup(VARIABLES, name) == value


@pytest.mark.parametrize("name", ["y", "x.y", "layers.2", "layers.w", "layers.-1", "a.x", ""])
def test_an_unknown_name_finds_nothing(name):
    assert lookup(VARIABLES, name) is MISSING


@pytest.mark.parametrize(
    ("names", "variables"),
    [
        (None, VARIABLES),
        ("layers[1].w", "w1"),
        (("x", ["a.b"]), (1, ["dotted"])),
        ({"value": "layers.0", "other": "y"}, {"value": Layer("w0", "b0"), "other": MISSING}),
    ],
)
def test_names_are_resolved_within_their_own_structure(names, variables):
    assert template(names, VARIABLES) == variables


@dataclass
class Checked:
    """A dataclass whose constructor neither takes all fields nor all values."""

    w: Any
    size: Any = field(init=False)

    def __post_init__(self):
        self.size = len(self.w)


NESTED = [
    (2.0, [2.0], [""]),
    ("text", [], []),
    ({"a": 1.0, 3: [2.0, None]}, [1.0, 2.0], [".a", "[3][0]"]),
    (OrderedDict(b=1.0, a=2.0), [1.0, 2.0], [".b", ".a"]),
    (defaultdict(list, b=[1.0]), [1.0], [".b[0]"]),
    (MappingProxyType({"a": 1.0}), [1.0], [".a"]),
    ((1.0, Pair(2.0, "text")), [1.0, 2.0], ["[0]", "[1].first"]),
    ([Layer(1.0, {"b": 2.0})], [1.0, 2.0], ["[0].w", "[0].b.b"]),
    (Checked([1.0, 2.0]), [1.0, 2.0], [".w[0]", ".w[1]"]),
]


@pytest.mark.parametrize(("value", "leaves", "places"), NESTED, ids=lambda each: repr(each)[:20])
def test_leaves_with_their_structure_are_the_value_again(value, leaves, places):
    found, structure = flatten(value, lambda part: isinstance(part, float))
    assert (found, paths(structure, "")) == (leaves, places)
    again = unflatten(structure, iter(found))
    assert again == value
    assert type(again) is type(value)
    assert getattr(again, "default_factory", None) is getattr(value, "default_factory", None)
    doubled = unflatten(structure, iter([2 * leaf for leaf in found]))
    assert flatten(doubled, lambda part: isinstance(part, float)) == (
        [2 * leaf for leaf in leaves],
        structure,
    )
    assert hash(structure) == hash(flatten(doubled, lambda part: isinstance(part, float))[1])


def test_structures_differ_where_types_keys_or_other_values_do():
    values = [*(value for value, _, _ in NESTED), True, 1, {1}, {1}, {"a": 1.0}, {"b": 1.0}]
    structures = [flatten(value, lambda part: isinstance(part, float))[1] for value in values]
    assert len(set(structures)) == len(values)
    assert LEAF in structures
