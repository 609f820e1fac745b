"""API keys in the form that clients send: ``gw_<id>_<secret>``.

The id is public, and names a key in files and logs. The secret has 256 random bits, too many to
guess: a slow hash, as passwords need, would only make every request, and every wrong key, cost
more.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from typing import NamedTuple

_ID_BYTES, _SECRET_BYTES = 8, 32
ID_PATTERN = r"[0-9a-f]{16}"
_TOKEN = re.compile(rb"gw_(" + ID_PATTERN.encode() + rb")_[0-9a-f]{64}")


class Token(NamedTuple):
    """The id of a presented key, and the digest of the whole key."""

    id: str
    digest: bytes


def new_token() -> str:
    """A new key, of characters that editors and shells treat as one word."""
    return f"gw_{secrets.token_hex(_ID_BYTES)}_{secrets.token_hex(_SECRET_BYTES)}"


def read_token(text: bytes) -> Token | None:
    """The token of a presented key; None if it does not have the form of a key."""
    found = _TOKEN.fullmatch(text)
    return None if found is None else Token(str(found[1], "ascii"), sha256(text).digest())
