"""``tf.compat``: texts and bytes, numbers of either kind, and the names of TensorFlow 1."""

from __future__ import annotations

import datetime
import numbers
import os
import sys
from pathlib import PurePath
from types import ModuleType
from typing import Any

import numpy as np

from gradwire.tf import absent

v2: ModuleType = sys.modules["gradwire.tf"]

bytes_or_text_types: tuple[type, ...] = (bytes, str)
complex_types: tuple[type, ...] = (numbers.Complex, np.number)
integral_types: tuple[type, ...] = (numbers.Integral, np.integer)
real_types: tuple[type, ...] = (numbers.Real, np.integer, np.floating)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text's bytes; bytes as they are."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The text of bytes; a text as it is."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """The text of bytes, and of anything else what ``str`` writes."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as a text; anything else as it is."""
    return as_str_any(os.fspath(path)) if isinstance(path, PurePath) else path


def dimension_value(dimension: Any) -> int | None:
    """The length that a dimension has, None where it is not known."""
    return None if dimension is None else int(dimension)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True if a change of that day may be relied on: for every day before today."""
    return datetime.datetime.now(datetime.UTC).date() > datetime.date(year, month, day)


from gradwire.tf.compat import v1 as v1  # noqa: E402 - it has some of the names above

absent.name_missing(sys.modules[__name__], "compat")
