"""Searches in bytes agree with the methods of ``bytes``."""

import pytest
from gradwire_service.wire.scanning import contains, count
from hypothesis import given
from hypothesis import strategies as st


@given(st.binary(max_size=50), st.integers(0, 200), st.binary(max_size=50))
def test_occurrences_are_counted(part, times, rest):
    body = part * times + b":" + rest
    assert count(body, b":") == body.count(b":")
    assert count(bytearray(body), b":") == body.count(b":")


@pytest.mark.parametrize("length", [99, 100, 101, 65_536, 65_637, 200_000])
def test_occurrences_in_long_bytes_are_counted(length):
    assert count(b"a" * 70_000 + b":" * length, b":") == length
    assert count(b"a:" * length, b":") == length


@given(st.text("nul, u").map(str.encode))
def test_words_are_found(body):
    for rare in range(4):
        assert contains(body, b"null", rare) == (b"null" in body)


@pytest.mark.parametrize("rare", range(4))
@given(st.text("nul", max_size=8).map(str.encode), st.integers(0, 60))
def test_words_after_many_partial_matches_are_found(rare, part, times):
    body = part * times + b"null"[:rare] * 200 + b"null"
    assert contains(body, b"null", rare)
    assert contains(body[:-1], b"null", rare) == (b"null" in body[:-1])
