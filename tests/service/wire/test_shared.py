"""Bodies in shared memory."""

import os
from pathlib import Path

import numpy as np
import pytest
from gradwire_service.wire.shared import (
    CHUNK_BYTES,
    MAX_COPIED_BYTES,
    SharedMemory,
    to_bytes,
    to_shared,
)

DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.parametrize(
    "lengths", [(), (1,), (MAX_COPIED_BYTES,), (MAX_COPIED_BYTES, 1), (9_000_000, 5)]
)
def test_a_body_reads_back_from_shared_memory(lengths):
    pieces = [os.urandom(length) for length in lengths]
    sent = to_shared(pieces)
    assert isinstance(sent, SharedMemory) == (sum(lengths) > MAX_COPIED_BYTES)
    assert len(sent) == sum(lengths)
    assert to_bytes(sent) == b"".join(pieces)


def test_memory_of_arrays_is_written_unchanged():
    array = np.arange(600_000.0)
    sent = to_shared([b"head", array.data.cast("B")])
    assert isinstance(sent, SharedMemory)
    assert sent.read(0, 4) == b"head"
    assert b"".join(sent.chunks())[4:] == array.tobytes()
    assert max(map(len, sent.chunks())) <= CHUNK_BYTES


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="reads /proc")
def test_a_descriptor_is_closed_when_unused():
    before = len(list(DESCRIPTORS.iterdir()))
    for _ in range(50):
        to_shared([b"x" * (MAX_COPIED_BYTES + 1)])
    assert len(list(DESCRIPTORS.iterdir())) <= before
