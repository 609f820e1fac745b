import gradwire
import numpy as np
from gradwire.display.rows import rows
from gradwire.trees import MISSING
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
def test_each_leaf_is_at_its_path(nested):
    found = list(rows({"a": nested, "b": nested}))
    assert found
    for path, leaves in found:
        assert leaves["a"] is at(nested, path) is leaves["b"]
    assert len({path for path, _ in found}) == len(found)


def test_names_are_resolved_to_places():
    answer = {"hidden": 1.0, "nested": [{"w": 2.0, "b": None}, None]}
    names = {"hidden": "h", "nested": ["layers.0", None]}
    found = list(rows({"gradient": answer}, names))
    assert [path for path, _ in found] == ["h", "layers.0.w", "layers.0.b", "nested.1"]


def test_a_leaf_without_a_name_has_no_path():
    ((path, leaves),) = rows({"value": np.ones(3)})
    assert path == ""
    assert leaves["value"].tolist() == [1, 1, 1]


def test_sparse_and_ragged_arrays_are_leaves():
    ragged = gradwire.RaggedArray.of([[1.0], []])
    sparse = gradwire.SparseArray(np.zeros((1, 2), np.int64), np.ones(1), (2, 2))
    found = list(rows({"value": [ragged, sparse]}))
    assert found == [("0", {"value": ragged}), ("1", {"value": sparse})]


def test_columns_may_lack_leaves():
    found = list(rows({"a": {"x": [1.0, 2.0]}, "b": {"x": None}}))
    assert found == [("x.0", {"a": 1.0, "b": MISSING}), ("x.1", {"a": 2.0, "b": MISSING})]
