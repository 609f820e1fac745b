"""Large bodies looked through at the speed of the C library's search for a byte.

``bytes.count``, and a search for more than one byte, look at each byte in turn: a millisecond for a
megabyte, where numbers' digits have none of what is looked for.
"""

from __future__ import annotations

import numpy as np

#: In shorter ones there is nothing to gain.
_SHORT_BYTES = 2048
#: More than so many are counted by NumPy, or a word is looked for as a whole: both take the same
#: time however many there are.
_FEW = 100
_BLOCK_BYTES = 1 << 16


def count(body: bytes | bytearray, byte: bytes) -> int:
    """How often ``byte`` occurs."""
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


def contains(body: bytes, word: bytes, rare: int) -> bool:
    """Whether ``word`` occurs, of which the byte number ``rare`` is one that seldom does."""
    if len(body) < _SHORT_BYTES:
        return word in body
    byte, at = word[rare : rare + 1], -1
    for _ in range(_FEW):
        at = body.find(byte, at + 1)
        if at < 0:
            return False
        if body.startswith(word, at - rare):
            return True
    return body.find(word, max(at - rare, 0)) >= 0
