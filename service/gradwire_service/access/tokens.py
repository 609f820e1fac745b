"""API keys as their bearers have them: ``gw_<id>_<secret>``.

The id is public, and names a key in files and logs. The secret has 256 random bits, so that
nobody finds it by trying, however fast a digest is: the slow hashes that passwords need would only
make every request, and every wrong key that is sent, cost the service more.
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
    """What a client presents: the id of a key, and the digest of the whole."""

    id: str
    digest: bytes


def new_token() -> str:
    """A key nobody has yet, of characters that are one word to editors and shells."""
    return f"gw_{secrets.token_hex(_ID_BYTES)}_{secrets.token_hex(_SECRET_BYTES)}"


def read_token(text: bytes) -> Token | None:
    """What ``text`` presents; None where that is no key of ours at all."""
    found = _TOKEN.fullmatch(text)
    return None if found is None else Token(str(found[1], "ascii"), sha256(text).digest())
