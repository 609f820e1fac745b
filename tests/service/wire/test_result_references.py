"""References in place of the arrays of chosen members."""

import numpy as np
import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.result_references import LEAST_BYTES, with_references

LARGE, OTHER = np.zeros(LEAST_BYTES // 8), np.ones((2, LEAST_BYTES))
SMALL = np.zeros(LEAST_BYTES // 8 - 1)
OUTPUTS = [LARGE, {"x": OTHER, "y": SMALL}, None, 3.0]
DOCUMENT = {"outputs": OUTPUTS, "value": LARGE, "program": "p"}


def kept(document, *paths, room=10):
    """The document, and the arrays that were stored."""
    stored = []

    def keep(arrays):
        stored.extend(arrays)
        return [{"ref": n} if n < room else None for n in range(len(arrays))]

    return with_references(document, paths, keep), stored


def test_only_arrays_in_the_members_are_replaced():
    found, stored = kept(DOCUMENT, "outputs.1")
    assert found["outputs"][1] == {"x": {"ref": 0}, "y": SMALL}
    assert found["outputs"][0] is found["value"] is LARGE
    assert len(stored) == 1
    assert stored[0] is OTHER
    assert OUTPUTS[1] == {"x": OTHER, "y": SMALL}


@pytest.mark.parametrize(
    "paths",
    [("outputs", "value"), ("value", "outputs"), ("outputs.0", "outputs", "value", "value")],
)
def test_each_place_has_a_reference_of_its_own(paths):
    found, stored = kept(DOCUMENT, *paths)
    refs = [found["outputs"][0]["ref"], found["outputs"][1]["x"]["ref"], found["value"]["ref"]]
    assert [stored[ref] is array for ref, array in zip(refs, (LARGE, OTHER, LARGE), strict=True)]
    assert sorted(refs) == [0, 1, 2]
    assert found["outputs"][2:] == [None, 3.0]


def test_arrays_without_room_stay():
    found, _ = kept(DOCUMENT, "outputs", "value", room=1)
    assert found["outputs"][0] == {"ref": 0}
    assert found["outputs"][1]["x"] is OTHER
    assert found["value"] is LARGE


@pytest.mark.parametrize(
    "parts",
    [
        {"indices": OTHER, "values": LARGE, "shape": SMALL},
        {"values": LARGE, "row_splits": LARGE},
    ],
)
def test_sparse_and_ragged_tensors_come_as_they_are(parts):
    found, stored = kept({"gradients": {"t": parts, "x": LARGE}}, "gradients")
    assert found["gradients"] == {"t": parts, "x": {"ref": 0}}
    assert len(stored) == 1


@pytest.mark.parametrize(
    "path", ["", "gradients", "outputs.4", "outputs.x", "outputs.0.1", "program.0"]
)
def test_a_path_to_nothing_is_refused_before_anything_is_stored(path):
    stored: list[object] = []

    def keep(arrays):
        stored.extend(arrays)
        return []

    with pytest.raises(RequestError) as refused:
        with_references(DOCUMENT, ["value", path], keep)
    assert (refused.value.code, refused.value.pointer) == ("invalid_request", "/keep/1")
    assert not stored
