import gradwire
import numpy as np
from gradwire.display.rows import rows
from hypothesis import given
from hypothesis import strategies as st

KEYS = st.text("abc", min_size=1, max_size=3)
NESTED = st.recursive(
    st.floats().map(np.float64),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def at(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@given(st.dictionaries(KEYS, NESTED, min_size=1, max_size=4))
def test_each_leaf_is_at_its_path_and_deeper_than_its_level(nested):
    found = list(rows({"a": nested, "b": nested}))
    assert any(row.leaves for row in found)
    for row in found:
        if row.leaves is not None:
            assert row.leaves["a"] is at(nested, row.path) is row.leaves["b"]
        assert row.depth == row.path.count(".")
        assert row.label == row.path.rpartition(".")[2]
    assert len({row.path for row in found}) == len(found)


def test_names_are_resolved_to_places():
    answer = {"hidden": 1.0, "nested": [{"w": 2.0, "b": None}, None]}
    names = {"hidden": "h", "nested": ["layers.0", None]}
    found = list(rows({"gradient": answer}, names))
    assert [(row.path, row.label) for row in found] == [
        ("h", "hidden"),
        ("nested", "nested"),
        ("layers.0", "layers.0"),
        ("layers.0.w", "w"),
        ("layers.0.b", "b"),
        ("nested.1", "1"),
    ]


def test_a_leaf_without_a_name_has_no_path():
    (row,) = rows({"value": np.ones(3)})
    assert row.path == row.label == ""
    assert row.leaves is not None


def test_sparse_and_ragged_arrays_are_leaves():
    ragged = gradwire.RaggedArray.of([[1.0], []])
    sparse = gradwire.SparseArray(np.zeros((1, 2), np.int64), np.ones(1), (2, 2))
    found = [row.leaves for row in rows({"value": [ragged, sparse]})]
    assert found == [{"value": ragged}, {"value": sparse}]


def test_columns_may_lack_leaves():
    found = list(rows({"a": {"x": [1.0, 2.0]}, "b": {"x": None}}))
    assert [row.path for row in found] == ["x", "x.0", "x.1"]
    assert all(row.leaves and row.leaves["b"] is not None for row in found[1:])
