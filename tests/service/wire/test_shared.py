"""Bodies in shared memory."""

import os
from pathlib import Path

import numpy as np
import pytest
from gradwire_service.wire.shared import PIECE_BYTES, WHOLE_BYTES, SharedMemory, packed, unpacked

DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.parametrize("lengths", [(), (1,), (WHOLE_BYTES,), (WHOLE_BYTES, 1), (9_000_000, 5)])
def test_a_body_reads_back_from_shared_memory(lengths):
    pieces = [os.urandom(length) for length in lengths]
    sent = packed(pieces)
    assert isinstance(sent, SharedMemory) == (sum(lengths) > WHOLE_BYTES)
    assert len(sent) == sum(lengths)
    assert unpacked(sent) == b"".join(pieces)


def test_memory_of_arrays_is_written_unchanged():
    array = np.arange(600_000.0)
    sent = packed([b"head", array.data.cast("B")])
    assert isinstance(sent, SharedMemory)
    assert sent.read(0, 4) == b"head"
    assert b"".join(sent.pieces())[4:] == array.tobytes()
    assert max(map(len, sent.pieces())) <= PIECE_BYTES


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="reads /proc")
def test_a_descriptor_is_closed_when_unused():
    before = len(list(DESCRIPTORS.iterdir()))
    for _ in range(50):
        packed([b"x" * (WHOLE_BYTES + 1)])
    assert len(list(DESCRIPTORS.iterdir())) <= before
