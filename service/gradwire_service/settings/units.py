"""Units of settings."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30
#: Longer times end after the last date that can be written.
CENTURY_SECONDS = 100 * 365 * 24 * 3600

_SIZE = re.compile(r"(-?\d+(?:\.\d+)?) ?(?:([KMGT])(I?))?B?", re.IGNORECASE)


def _bytes(given: object) -> object:
    """``64MB`` and ``64M`` are 64·10⁶ bytes, ``1GiB`` and ``1Gi`` 2³⁰, ``1000`` is as many."""
    if not isinstance(given, str):
        return given
    parts = _SIZE.fullmatch(given.strip())
    if parts is not None:
        number, prefix, binary = parts.groups("")
        power = " KMGT".index(prefix.upper() or " ")
        size = Decimal(number) * (1024 if binary else 1000) ** power
        if size == int(size):
            return int(size)
    raise ValueError("Input should be a number of bytes, or one with a unit: 64MB, 1GiB")


def written(size: int) -> str:
    """A size with its unit, as settings are written."""
    for unit, name in ((GIBIBYTE, "GiB"), (MEBIBYTE, "MiB"), (KIBIBYTE, "KiB")):
        if size and not size % unit:
            return f"{size // unit}{name}"
    return str(size)


BYTES = BeforeValidator(_bytes)
#: A number of bytes, or a text with a unit.
Size: TypeAlias = Annotated[int, BYTES]
