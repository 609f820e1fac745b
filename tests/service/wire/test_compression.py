"""Compressed bodies are decompressed completely, or refused before they exceed the limit."""

import gzip
import os
import struct
import tracemalloc
import zlib

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.compression import CODINGS, MOST_MEMBERS
from hypothesis import given
from hypothesis import strategies as st

from tests.compress import COMPRESS, zstd

BOUND = 5_000_000
codings = pytest.mark.parametrize("coding", CODINGS.values(), ids=CODINGS)


def refusal(call, *arguments):
    with pytest.raises(RequestError) as caught:
        call(*arguments)
    return caught.value.code


@codings
@given(st.binary(max_size=300), st.integers(1, 20_000), st.integers(1, 3))
def test_compressed_bodies_read_back(coding, part, times, members):
    body = part * times
    assert coding.decompress(COMPRESS[coding.name](body) * members, BOUND * 4) == body * members


@codings
@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, BOUND])
@pytest.mark.parametrize("byte", [b"\0", None])
def test_bodies_of_every_size_up_to_the_limit(coding, size, byte):
    body = os.urandom(size) if byte is None else byte * size
    assert coding.decompress(COMPRESS[coding.name](body), BOUND) == body


def test_output_of_other_compressors_is_read():
    body = os.urandom(1000) * 300
    assert CODINGS["gzip"].decompress(gzip.compress(body), BOUND) == body
    compressor = zstd.ZstdCompressor(level=19)  # in parts, so the frame does not contain the size
    frame = compressor.compress(body[:1000]) + compressor.compress(body[1000:]) + compressor.flush()
    assert CODINGS["zstd"].decompress(frame, BOUND) == body


@codings
def test_truncated_damaged_or_extended_bodies_are_refused(coding):
    compressed = COMPRESS[coding.name](os.urandom(2000))
    for length in range(0, len(compressed), 97):
        assert refusal(coding.decompress, compressed[:length], BOUND) == "malformed_body"
    for body in compressed + b"x", b"x" + compressed, b"{}", b"\0" * 100:
        assert refusal(coding.decompress, body, BOUND) == "malformed_body"


def test_a_wrong_checksum_is_refused():
    compressed = bytearray(gzip.compress(b"abc" * 100))
    compressed[-5] ^= 1
    assert refusal(CODINGS["gzip"].decompress, compressed, BOUND) == "malformed_body"


@pytest.mark.thorough
@codings
def test_a_decompression_bomb_uses_no_more_memory_than_the_limit(coding):
    bomb = COMPRESS[coding.name](bytes(300_000_000))
    assert len(bomb) < 1_500_000
    tracemalloc.start()
    try:
        assert refusal(coding.decompress, bomb, BOUND) == "body_too_large"
        assert tracemalloc.get_traced_memory()[1] < 2 * BOUND + len(bomb)
    finally:
        tracemalloc.stop()


@codings
def test_too_many_gzip_members_are_refused(coding):
    empty = COMPRESS[coding.name](b"")
    assert coding.decompress(empty * MOST_MEMBERS, BOUND) == b""
    assert refusal(coding.decompress, empty * (MOST_MEMBERS + 1), BOUND) == "malformed_body"


def test_too_many_skippable_frames_are_refused():
    skipped = struct.pack("<II", 0x184D2A50, 0)  # RFC 8878, section 3.1.2
    assert refusal(CODINGS["zstd"].decompress, skipped * 2_000_000, BOUND) == "malformed_body"


def test_a_frame_with_too_large_a_window_is_refused():
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    frame = compressor.compress(os.urandom(1000)) + compressor.flush()
    with pytest.raises(RequestError) as caught:
        CODINGS["zstd"].decompress(frame, BOUND)
    assert "8388608" in str(caught.value.hint)


def test_zlib_without_the_header_of_gzip_is_refused():
    assert refusal(CODINGS["gzip"].decompress, zlib.compress(b"abc"), BOUND) == "malformed_body"
