"""Choices among several arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.ops.base import macro
from gradwire_engine.ops.elementwise import BOOL, broadcast_shapes
from gradwire_engine.ops.pointwise.comparison import Equal
from gradwire_engine.ops.pointwise.selection import Where

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@macro("select")
def select(b: Builder, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Of each element the first choice whose condition holds, else ``default``.

    Convention: what was not chosen gets exactly 0, whatever it computes.
    """
    if not _listed(condlist) or not _listed(choicelist) or len(condlist) != len(choicelist):
        raise BadArgument("select needs as many choices as conditions, both in lists")
    conditions = [b.array(condition) for condition in condlist]
    for condition in conditions:
        if condition.dtype != BOOL:
            raise DtypeMismatch(f"select needs boolean conditions, got {condition.type}")
    *choices, z = b.promote(*choicelist, default)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        z = Where()(condition, choice, z)
    return z


@macro("choose")
def choose(b: Builder, a: Any, choices: Any) -> Any:
    """Of each element the choice whose number is in ``a``; beyond the last, the last.

    Convention: what was not chosen gets exactly 0, whatever it computes.
    """
    if not _listed(choices) or not choices:
        raise BadArgument("choose needs a list of at least one choice")
    index = b.array(a)
    if index.dtype.kind not in "iu":
        raise DtypeMismatch(f"choose needs integers, got {index.type}")
    *earlier, z = b.promote(*choices)
    z = b.broadcast(z, broadcast_shapes(index.type.shape, z.type.shape))
    for number, choice in reversed(list(enumerate(earlier))):
        z = Where()(Equal()(index, b.scalar(number, index.dtype)), choice, z)
    return z


def _listed(x: Any) -> bool:
    return isinstance(x, list | tuple)
