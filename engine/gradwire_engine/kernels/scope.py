"""Decides which instructions kernels can compute."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradwire_engine.kernels.bodies import LoopBody
from gradwire_engine.kernels.form import DTYPES
from gradwire_engine.kernels.maps import is_map, is_view
from gradwire_engine.kernels.matrices import is_small_matrix
from gradwire_engine.kernels.outputs import is_reduction
from gradwire_engine.kernels.scalar import has_expression
from gradwire_engine.kernels.scans import is_scan
from gradwire_engine.kernels.scatters import index_slots, is_written
from gradwire_engine.kernels.stacks import passes_of
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, StackType, Type

#: Products that are fewer are computed in place, more by BLAS.
_MOST_PRODUCTS = 4096
#: Most elements of a pass: between two passes one looks at the deadline.
_MOST_ELEMENTS = 1 << 20
#: Most instructions of a kernel: compiling takes time in proportion.
MOST_INSTRUCTIONS = 600
#: Most of the body of a loop: what is left to a walk costs some microseconds in each pass.
_MOST_IN_BODY = 2 * MOST_INSTRUCTIONS


def is_kernel(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """True if a kernel can compute an instruction."""
    if not isinstance(kind, ArrayType) or not kind.size:
        return False
    if isinstance(op, AsType):
        return has_expression(op, kind, types)
    if kind.dtype.char not in DTYPES:
        return False
    for each in types:
        if not isinstance(each, ArrayType) or not each.size or each.dtype.char not in DTYPES:
            return False
    if is_view(op):  # whose elements are not in the order of what they are of
        return False
    if isinstance(op, Contract):
        return is_reduction(op, kind, types) and _is_small(op, kind, types)  # type: ignore[arg-type]
    if any(types[k].dtype.char != "l" for k in index_slots(op, range(len(types)))):  # type: ignore[union-attr]
        return False
    return (
        has_expression(op, kind, types)
        or is_map(op, [t.shape for t in types])  # type: ignore[union-attr]
        or is_reduction(op, kind, types)  # type: ignore[arg-type]
        or is_written(op, kind, types)  # type: ignore[arg-type]
        or is_scan(op, kind, types)  # type: ignore[arg-type]
        or is_small_matrix(op, kind, types)
    )


def _is_small(op: Contract, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """True if BLAS has nothing to win: few products, or of each element one, or of each result."""
    products = math.prod(op.lengths(*[t.shape for t in types]).values())
    once = all(products == each.size for each in types)
    return once or products <= _MOST_PRODUCTS or products == kind.size or not kind.shape


def is_loop(
    made: Sequence[Instruction], views: Views, slot: int, *, on_device: bool = False
) -> bool:
    """True if a kernel can make all passes of the loop at ``slot``, whose number is known.

    On a device, nobody looks at the deadline between them.
    """
    passes = passes_of(made, slot)
    op, args, _, _ = made[slot]
    assert isinstance(op, Loop)
    if not passes or op.kept_bytes * passes > op.most_bytes:
        return False
    most = None if on_device else _MOST_ELEMENTS
    return all(_is_known(made[arg].type) for arg in args) and _is_body(op, args, views, most)


def is_lone_loop(made: Sequence[Instruction], views: Views, slot: int) -> bool:
    """True if a kernel by itself can make the passes, whose number is known when they are made."""
    op, args, _, _ = made[slot]
    assert isinstance(op, Loop)
    if passes_of(made, slot) is not None:
        return False
    stacks = range(op.counted + op.carries, op.counted + op.carries + op.stacks)
    items = [made[args[number]].type for number in stacks]
    others = [made[arg].type for number, arg in enumerate(args) if number not in stacks]
    known = [kind.item if isinstance(kind, StackType) else kind for kind in items]
    return all(map(_is_known, [*known, *others])) and _is_body(op, args, views, _MOST_ELEMENTS)


def _is_body(op: Loop, args: Sequence[int], views: Views, most: int | None) -> bool:
    """True if kernels can compute all of a loop's body, of at most so many elements."""
    body = LoopBody(op)
    if len(body.slots) > _MOST_IN_BODY:
        return False
    inside = body.instructions
    if most is not None and sum([_elements(inside, slot) for slot in body.slots]) > most:
        return False
    if not all(_is_in_loop(inside, body.views, slot, most) for slot in body.slots):
        return False
    # what is shared is read in row-major order where it is, not through other views
    ordered = [x for slot in body.slots for x in inside[slot].args if body.views.ordered[x]]
    numbers = [body.inputs.get(body.views.bases[x], 0) for x in ordered]
    given = [args[op.counted + number - 1] for number in numbers if number > op.carries]
    copies = [*body.number_of, *body.decisions.values()]
    return all(views.bases[x] == x for x in given) and all(
        _is_known(inside[copy].type) for copy in copies
    )


def _elements(made: Sequence[Instruction], slot: int) -> int:
    """Elements that are computed, those of a loop in all passes, if their number is known."""
    op, args, kind, _ = made[slot]
    if isinstance(op, Loop):
        body = op.body.tape.instructions
        each = sum([_elements(body, within) for within in range(len(body))])
        return (passes_of(made, slot) or 1) * each
    if isinstance(op, Contract):
        shapes = [made[arg].type.shape for arg in args]  # type: ignore[union-attr]
        return math.prod([*op.lengths(*shapes).values()])
    return kind.size if isinstance(kind, ArrayType) else 0


def _is_in_loop(made: Sequence[Instruction], views: Views, slot: int, most: int | None) -> bool:
    """True if a kernel can compute an instruction of a loop's body."""
    op, args, kind, _ = made[slot]
    if isinstance(op, Loop):
        return is_loop(made, views, slot, on_device=most is None)
    if isinstance(op, Item):
        return isinstance(made[args[0]].op, Loop) and _is_known(kind)
    types = [made[arg].type for arg in args]
    return is_kernel(op, kind, types) or _is_read_once(op, kind, types)


def _is_known(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and kind.dtype.char in DTYPES and bool(kind.size)


def _is_read_once(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """True if a contraction takes each element of its larger operand once: memory bounds it."""
    if not isinstance(op, Contract) or not is_reduction(op, kind, types):  # type: ignore[arg-type]
        return False
    shapes = [kind.shape for kind in types]  # type: ignore[union-attr]
    return math.prod(op.lengths(*shapes).values()) <= max(map(math.prod, shapes))
