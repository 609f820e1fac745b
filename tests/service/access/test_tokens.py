"""API keys: unguessable, and parsed only when complete."""

from hashlib import sha256

import pytest
from gradwire_service.access.tokens import new_token, read_token
from hypothesis import given
from hypothesis import strategies as st


def test_every_key_is_new_and_reads_back():
    tokens = [new_token().encode() for _ in range(100)]
    read = [token for token in map(read_token, tokens) if token is not None]
    assert len({token.id for token in read}) == len(tokens)
    for token, text in zip(read, tokens, strict=True):
        assert text.split(b"_", 2)[1].decode() == token.id
        assert token.digest == sha256(text).digest()


def test_a_secret_has_256_random_bits():
    """Each bit is set in about half of the secrets."""
    secrets = [bytes.fromhex(new_token().split("_")[2]) for _ in range(400)]
    assert {len(secret) for secret in secrets} == {32}
    numbers = [int.from_bytes(secret) for secret in secrets]
    for bit in range(256):
        assert 120 < sum(number >> bit & 1 for number in numbers) < 280  # eight standard deviations


@given(st.data())
def test_incomplete_keys_are_rejected(data):
    token = new_token().encode()
    at = data.draw(st.integers(0, len(token)))
    alien = data.draw(st.sampled_from([b" ", b",", b"\n", b"\0", b"\xff", b"0", b"A", b"gw_"]))
    assert read_token(token[:at] + alien + token[at:]) is None
    assert read_token(token[: min(at, len(token) - 1)]) is None


@pytest.mark.parametrize("text", [b"", b"gw_", b"gw_0123456789abcdef_", b"x" * 100_000])
def test_other_texts_are_rejected(text):
    assert read_token(text) is None
