"""The likelihood of a sequence of labels whose alignment with the time steps is not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import take_along_axis
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.pointwise.comparison import Greater, NotEqual
from gradwire_engine.ops.pointwise.exponential import LogAddExp
from gradwire_engine.ops.pointwise.selection import Maximum, Where
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import FLOATING, ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@macro("ctc_loss")
def ctc_loss(
    b: Builder,
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: Static = 0,
) -> Any:
    """``-ln`` of the probability that a sequence of steps means the labels, of each item.

    Steps mean labels when repeats are drawn together, then blanks left out.  ``log_probs`` has
    shape (steps, items, classes), ``targets`` (items, labels); what lies beyond an item's lengths
    is not read.  Infinite, with derivative 0, where labels need more steps than there are.
    Source: Graves, Fernández, Gomez and Schmidhuber, Connectionist Temporal Classification (2006).
    """
    logs, labels = floating(b, log_probs), _integers(b, targets, 2, "targets")
    if logs.dtype.kind not in FLOATING:
        raise DtypeMismatch(f"ctc_loss takes real numbers, got {logs.type}")
    if logs.ndim != 3 or not all(logs.shape):
        raise ShapeMismatch(f"ctc_loss needs steps, items and classes, got {logs.type}")
    steps, items, classes = logs.type.shape
    ends = [_integers(b, n, 1, "lengths") for n in (input_lengths, target_lengths)]
    if {labels.type.shape[0], *[n.type.size for n in ends]} != {items}:
        raise ShapeMismatch(f"ctc_loss needs labels and lengths of {items} items")
    if not 0 <= integer(blank, "blank") < classes:
        raise BadArgument(f"blank must be one of {classes} classes, got {blank}")
    states, apart = _states(b, labels, blank)
    count = states.type.shape[1]
    first = b.table((count,), lambda state: state < 2, DTYPES["bool"])
    emitted = take_along_axis(
        b, logs, b.broadcast(unsqueeze(states, (0,)), (steps, items, count)), 2
    )
    never = b.scalar(-math.inf, logs.dtype)
    arrived = Where()(first, picked(emitted, 0, 0), never)
    for step in range(1, steps):
        before = [_later(arrived, places, never) for places in (1, 2)]
        reached = LogAddExp()(LogAddExp()(arrived, before[0]), Where()(apart, before[1], never))
        within = Greater()(unsqueeze(ends[0], (1,)), b.scalar(step, ends[0].dtype))
        arrived = Where()(within, reached + picked(emitted, 0, step), arrived)
    last = unsqueeze(ends[1] * 2, (1,))
    label = Maximum()(last - 1, b.scalar(0, last.dtype))
    finals = [take_along_axis(b, arrived, place, 1) for place in (last, label)]
    ended = LogAddExp()(finals[0], Where()(Greater()(last, label), finals[1], never))
    return -reshape(ended, (items,))


def _integers(b: Builder, x: Any, ndim: int, name: str) -> Var:
    found = b.array(x)
    if found.dtype.kind not in "iu" or found.ndim != ndim:
        raise DtypeMismatch(f"{name} must be integers of {ndim} axes, got {found.type}")
    return b.cast(found, DTYPES["int64"])


def _states(b: Builder, labels: Var, blank: int) -> tuple[Var, Var]:
    """Labels with blanks around each, and which of them differ from the last but one.

    A blank and its predecessors but one are both blanks, so do not differ.
    """
    items, length = labels.type.shape
    blanks = b.full(blank, labels.type)
    pairs = reshape(Stack(2)(blanks, labels), (items, 2 * length))
    end = b.full(blank, ArrayType(labels.dtype, (items, 1)))
    states = Concatenate(1)(pairs, end)
    count = 2 * length + 1
    differ = NotEqual()(
        sliced(states, 1, min(2, count), count), sliced(states, 1, 0, max(count - 2, 0))
    )
    none = b.full(False, ArrayType(DTYPES["bool"], (items, min(2, count))))
    return states, Concatenate(1)(none, differ)


def _later(x: Var, places: int, fill: Var) -> Var:
    """``x`` moved on along axis 1, filled in front."""
    items, count = x.type.shape
    new = x.builder.broadcast(fill, (items, min(places, count)))
    return Concatenate(1)(new, sliced(x, 1, 0, max(count - places, 0)))
