"""Cotangents and tangents are read as arrays, nested like their targets and sources."""

import numpy as np
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.references import References
from gradwire_service.wire.seeds import read_seeds, read_tangents


def test_cotangents_have_the_structure_of_the_target():
    assert read_seeds(None, "y", References()) is None
    np.testing.assert_array_equal(read_seeds([1, 2], "y", References()), [1.0, 2.0])
    parts = read_seeds([[1, 2], None], ["y", "z"], References())
    np.testing.assert_array_equal(parts[0], [1.0, 2.0])
    assert parts[1] is None
    assert read_seeds({"a": 1, "b": [2]}, {"a": "y", "b": ["z"]}, References())["b"][0] == 2.0
    assert read_seeds([1, {"value": 2}], None, References())[1] == 2.0


@pytest.mark.parametrize(
    ("value", "target", "code", "pointer"),
    [
        ([1], ["y", "z"], "invalid_request", ""),
        (1, ["y"], "invalid_request", ""),
        ({"a": 1}, {"b": "y"}, "invalid_request", ""),
        ([1, {"c": 1}], ["y", {"b": "z"}], "invalid_request", "/1"),
        ("word", "y", "malformed_tensor", ""),
        ([[1], [None, 1]], ["y", "z"], "malformed_tensor", "/1/0"),
        ({"a": [[1], [2, 3]]}, {"a": "y"}, "malformed_tensor", "/a/1"),
    ],
)
def test_cotangents_of_another_structure_are_refused(value, target, code, pointer):
    with pytest.raises(RequestError) as caught:
        read_seeds(value, target, References())
    assert (caught.value.code, caught.value.pointer) == (code, "/output_gradients" + pointer)


def test_sparse_tangents_are_refused():
    document = {"a": {"indices": [[0]], "values": [1], "shape": [3]}}
    with pytest.raises(RequestError) as caught:
        read_tangents(document, "tangents", References())
    assert (caught.value.code, caught.value.pointer) == ("malformed_tensor", "/tangents/a")


def test_references_are_accepted_as_cotangents_and_tangents():
    ref, array = "sha256:" + "1" * 64, np.array([3.0, 4.0])
    references = References(lambda *of: {("tensors", ref): array}.get(of))
    assert read_seeds([{"ref": ref}, None], ["y", "z"], references)[0] is array
    assert read_seeds({"ref": ref}, "y", references) is array
    assert read_tangents({"x": [{"ref": ref}]}, "tangents", references)["x"][0] is array
    references.check()
    missing = References()
    read_seeds({"a": {"ref": ref}}, {"a": "y"}, missing)
    read_tangents({"x": {"ref": ref}}, "vectors", missing)
    with pytest.raises(RequestError) as caught:
        missing.check()
    assert caught.value.missing == [ref]
