"""Messages in Protocol Buffers' encoding: numbered fields of varints, bytes and fixed numbers.

Source: Protocol Buffers' documentation, *Encoding*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: The kinds of fields.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number: int) -> bytes:
    """A whole number in groups of seven bits; a negative one in its 64 bits."""
    rest = number & (2**64 - 1)
    made = bytearray()
    while rest >= 128:
        made.append(rest & 127 | 128)
        rest >>= 7
    made.append(rest)
    return bytes(made)


def field(number: int, content: bytes) -> bytes:
    """A field of bytes, which may be a message."""
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def number_field(number: int, value: int) -> bytes:
    """A field of a whole number."""
    return varint(number << 3 | VARINT) + varint(value)


def fields(content: bytes) -> Iterator[tuple[int, int, Any]]:
    """The fields of a message: their numbers, their kinds and their contents.

    Raises:
        ValueError: The bytes are no message.
    """
    at = 0
    while at < len(content):
        tag, at = _varint_at(content, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = _varint_at(content, at)
            yield tag >> 3, kind, value
            continue
        if kind == BYTES:
            length, at = _varint_at(content, at)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise ValueError(f"a field of an unknown kind: {kind}")
        if at + length > len(content):
            raise ValueError("a field ends beyond the message")
        yield tag >> 3, kind, content[at : at + length]
        at += length


def varints(content: bytes) -> list[int]:
    """Whole numbers one after the other."""
    found, at = [], 0
    while at < len(content):
        value, at = _varint_at(content, at)
        found.append(value)
    return found


def signed(numbers: Iterable[int]) -> list[int]:
    """Numbers of 64 bits with their signs."""
    return [each - 2**64 if each >= 2**63 else each for each in numbers]


def _varint_at(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content) and shift < 70:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("a number ends beyond the message")
