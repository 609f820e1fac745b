from itertools import pairwise

import pytest
from gradwire.events import COMMENT, EventReader, ServerEvent
from hypothesis import given
from hypothesis import strategies as st

STREAM = (
    b": hello\n"
    b'id: 1\nevent: progress\ndata: {"value": 1}\n\n'
    b"data:two\r\ndata: lines\r\n\r\n"
    b"event: nothing\n\n"
    b"id: \xc3\xa4\nretry: 3\nunknown\ndata: 3\r\r"
    b"data: never ended"
)
EVENTS = [
    ServerEvent(COMMENT, "hello", None),
    ServerEvent("progress", '{"value": 1}', "1"),
    ServerEvent("message", "two\nlines", "1"),
    ServerEvent("message", "3", "ä"),
]


def read(*pieces: bytes) -> list[ServerEvent]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.read(piece)]


@given(st.lists(st.integers(0, len(STREAM)), max_size=6).map(sorted))
def test_pieces_of_any_length_are_the_same_events(cuts):
    ends = [0, *cuts, len(STREAM)]
    pieces = [STREAM[a:b] for a, b in pairwise(ends)]
    # The \r at the end of the first-but-last event ends it once another byte has come.
    assert read(*pieces) == EVENTS


def test_data_is_json():
    (event,) = read(b"data: [1, 2]\n\n")
    assert event.document == [1, 2]
    with pytest.raises(ValueError, match="Expecting value"):
        _ = ServerEvent("message", "nothing").document
