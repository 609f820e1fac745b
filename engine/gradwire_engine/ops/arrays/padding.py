"""Borders around arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("pad")
def pad(
    b: Builder, array: Any, pad_width: Static, mode: Static = "constant", constant_values: Any = 0
) -> Any:
    """The array with ``constant_values`` (one number) around it, or with its own elements.

    ``pad_width`` is one number, a pair (before, after), or such a pair for each axis.  ``mode``
    ``edge`` repeats the outermost, ``reflect`` and ``symmetric`` mirror at their middle and at the
    outside, ``wrap`` goes on from the other end.  Convention: an element has the sum of the
    derivatives of its copies.
    """
    x = b.array(array)
    if isinstance(mode, str) and mode in _COPYING:
        return _with_copies(x, _widths(pad_width, x.ndim), mode)
    if mode != "constant":
        raise BadArgument(f"pad knows the modes constant, {', '.join(_COPYING)}")
    literal = isinstance(constant_values, int | float | complex)
    fill = (
        b.scalar(constant_values, x.dtype) if literal else b.cast(b.array(constant_values), x.dtype)
    )
    if fill.ndim:
        raise ShapeMismatch(f"pad needs one number as constant_values, got shape {fill.shape}")
    widths = _widths(pad_width, x.ndim)
    op = Pad(tuple([first for first, _ in widths]), tuple([last for _, last in widths]))
    if not literal or constant_values:
        inside = op(b.full(True, ArrayType(DTYPES["bool"], x.type.shape)))
        return Where()(inside, op(x), fill)
    return op(x)


def _with_copies(x: Var, widths: list[tuple[int, int]], mode: Any) -> Var:
    b = x.builder
    for axis, pair in enumerate(widths):
        length = x.type.shape[axis]
        if not any(pair):
            continue
        if not length:
            raise ShapeMismatch(f"pad has nothing to repeat along axis {axis}, which is empty")
        before, rule = pair[0], _COPYING[mode]
        index = b.table(
            (length + sum(pair),), lambda i, n=length, first=before, of=rule: of(i - first, n)
        )
        x = take(b, x, index, axis)
    return x


def _mirrored(i: Any, n: int) -> Any:
    """Mirrored at the middles of the outermost elements."""
    period = max(2 * (n - 1), 1)
    return np.minimum(i % period, -i % period)


#: Of which of ``n`` elements there are copies at place ``i``.
_COPYING: dict[str, Callable[[Any, int], Any]] = {
    "edge": lambda i, n: i.clip(0, n - 1),
    "reflect": _mirrored,
    "symmetric": lambda i, n: np.minimum(i % (2 * n), (-1 - i) % (2 * n)),
    "wrap": lambda i, n: i % n,
}


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    hint = "one number, a pair (before, after), or such a pair for each axis"
    rows = pad_width if isinstance(pad_width, list | tuple) else [pad_width]
    if rows and not any(isinstance(row, list | tuple) for row in rows):
        rows = [rows]
    pairs = [integers(row, "pad_width") for row in rows]
    if any(len(pair) not in (1, 2) for pair in pairs) or len(pairs) not in (1, ndim):
        raise BadArgument(f"pad_width does not fit an array of {ndim} axes", hint=hint)
    if any(width < 0 for pair in pairs for width in pair):
        raise BadArgument("pad_width must not be negative")
    return [(pair[0], pair[-1]) for pair in pairs] * (ndim if len(pairs) == 1 else 1)
