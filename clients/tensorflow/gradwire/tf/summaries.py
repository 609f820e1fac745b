"""Arrays as ``tf.print`` and ``tf.strings.format`` write them."""

from __future__ import annotations

from typing import Any

import numpy as np


def summarized(array: Any, most: int = -1, depth: int = 1) -> bytes:
    """An array's elements, or where an axis has more than twice ``most``, so many at its ends."""
    if array.ndim == 0:
        return _element(array[()])
    between = b" " if array.ndim == 1 else b"\n" * (array.ndim - 1) + b" " * depth
    ends = min(most, array.size) if most >= 0 else array.size
    dots = len(array) > 2 * ends
    shown = (
        [*array[:ends], *array[ends:]] if not dots else [*array[:ends], *array[len(array) - ends :]]
    )
    parts = [summarized(np.asarray(each, array.dtype), most, depth + 1) for each in shown]
    if dots:
        parts = [*(parts[:ends] or [b""]), b"...", *parts[ends:]]
    return b"[" + between.join(parts) + b"]"


_ESCAPES = {
    **{code: f"\\{code:03o}" for code in (*range(32), 127)},
    **str.maketrans({mark: f"\\{mark}" for mark in "\"'\\"}),
    **str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"}),
}


def _element(value: Any) -> bytes:
    """An element as TensorFlow prints it, a floating one with the fewest digits of two numbers."""
    if isinstance(value, bytes):
        text = value.decode("utf-8", "surrogateescape").translate(_ESCAPES)
        return f'"{text}"'.encode("utf-8", "surrogateescape")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value)).encode()
    if isinstance(value, np.complexfloating):
        return b"?"
    if isinstance(value, np.integer):
        return str(value).encode()
    kind, few, many = (float, 15, 17) if value.dtype == np.float64 else (np.float32, 6, 9)
    short = f"{float(value):.{few}g}"
    same = kind(float(short)) == kind(value) or np.isnan(value)
    return (short if same else f"{float(value):.{many}g}").encode()
