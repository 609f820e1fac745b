"""Why an instruction and what it reads are not in one kernel, as text."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.kernels.form import DTYPES, HALVES
from gradwire_engine.kernels.maps import is_view
from gradwire_engine.kernels.scope import MOST_INSTRUCTIONS, is_kernel
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Guard
from gradwire_engine.tape import ArrayType, Instruction


def why_not_in_one(one: Sequence[Instruction], other: Sequence[Instruction]) -> str:
    """Why the instructions of two kernels are not in one."""
    if len(one) + len(other) > MOST_INSTRUCTIONS:
        return f"more than {MOST_INSTRUCTIONS} instructions"
    return "another fusion level"


def why_in_none(made: Sequence[Instruction], slot: int) -> str:
    """Why an instruction is in no kernel."""
    op, args, kind, _ = made[slot]
    types = [made[arg].type for arg in args]
    if isinstance(op, Guard):
        return "a decision"
    if isinstance(op, Loop):
        return "a loop"
    for each in (kind, *types):
        if not isinstance(each, ArrayType):
            return "several values"
        if each.dtype.char not in DTYPES + HALVES:
            return f"dtype {each.dtype}"
        if not each.size:
            return "no elements"
    if is_view(op):
        return "a view"
    return "too little work" if is_kernel(op, kind, types) else "a library computes it"
