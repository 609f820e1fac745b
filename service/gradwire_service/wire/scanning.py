"""Search large bodies at the speed of ``memchr``.

``bytes.count`` and searches for several bytes look at each byte in turn, which takes a millisecond
per megabyte of digits without a match.
"""

from __future__ import annotations

from mmap import mmap

import numpy as np

#: Shorter bodies gain nothing.
_SHORT_BYTES = 2048
#: After so many matches, NumPy counts the rest, or the whole word is searched for: both take the
#: same time for any number of matches.
_FEW = 100
_BLOCK_BYTES = 1 << 16


def count(body: bytes | bytearray, byte: bytes) -> int:
    """The number of occurrences of ``byte``."""
    if len(body) < _SHORT_BYTES:
        return body.count(byte)
    found, at = 0, body.find(byte)
    while at >= 0 and found < _FEW:
        found += 1
        at = body.find(byte, at + 1)
    if at >= 0:
        rest = np.frombuffer(body, np.uint8)
        for start in range(at, len(body), _BLOCK_BYTES):
            block = rest[start : start + _BLOCK_BYTES]
            found += int(np.count_nonzero(block == byte[0]))
    return found


def contains(body: bytes | bytearray | mmap, word: bytes, rare: int) -> bool:
    """True if ``word`` occurs; the byte at its index ``rare`` is seldom found."""
    if len(body) < _SHORT_BYTES:
        return body.find(word) >= 0
    byte, at = word[rare : rare + 1], -1
    for _ in range(_FEW):
        at = body.find(byte, at + 1)
        if at < 0:
            return False
        if body[max(at - rare, 0) : at - rare + len(word)] == word:
            return True
    return body.find(word, max(at - rare, 0)) >= 0
