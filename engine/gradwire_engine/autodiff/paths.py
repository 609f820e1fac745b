"""Why a gradient does not exist: where the path from a source to the target is cut."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Assigned, Guard, StopGradient
from gradwire_engine.tape import ArrayType, DType
from gradwire_engine.traversal import ancestors


class Cut(NamedTuple):
    """A reason of the protocol, and the origin of the instruction where paths end."""

    reason: str
    detail: str
    origin: int | None = None


def dtype_reason(dtype: DType) -> Cut | None:
    """Why values of ``dtype`` have no gradient, or None where they do."""
    if dtype.kind == "b":
        return Cut("boolean_dtype", "booleans have no gradient")
    if dtype.kind in "iu":
        return Cut("integer_dtype", f"{dtype.name} has no gradient", None)
    return None


def cut_between(b: Builder, sources: Sequence[Var], targets: Sequence[Var]) -> Cut:
    """The first instruction on the way from ``sources`` to ``targets`` that carries no gradient."""
    for target in targets:
        reason = dtype_reason(target.dtype)
        if reason is not None and len(targets) == 1:
            origin = b.instructions[target.slot].origin
            detail = f"the target is {target.dtype.name}, which has no gradient"
            return Cut("no_path", detail, origin if b.instructions[target.slot].args else None)
    needed = ancestors(b.instructions, [x.slot for x in targets])
    reached = {source.slot for source in sources}
    beside: Cut | None = None
    decision: int | None = None
    used: int | None = None
    ends = max((t.slot for t in targets), default=-1)
    for slot in range(min(reached, default=0), len(b.instructions)):
        op, args, kind, origin = b.instructions[slot]
        if slot in reached or not any(arg in reached for arg in args):
            continue
        if slot in needed and (not op.differentiable or not _differentiable(kind)):
            if origin >= 0:
                return _cut(op, kind, origin)
            beside = beside or _cut(op, kind, origin)  # of a rule, not what the program says
            continue
        if slot in needed and isinstance(op, Loop) and (cut := _cut_inside(op, args, reached)):
            return cut
        if slot in needed and op.holds(kind) and args[-1] not in reached:
            return Cut("no_path", f"{op.name} has no derivative in this operand", origin)
        if decision is None and isinstance(op, Guard):
            decision = origin
        used = origin if slot <= ends else used  # a decision may follow the value it chose
        reached.add(slot)
    if beside is not None:
        return beside
    if decision is not None:
        return Cut("no_path", "only a decision depends on this source", decision)
    if used is not None:
        return Cut("no_path", "the target does not depend on what is computed here", used)
    return Cut("no_path", "the target does not depend on this source")


def _cut_inside(op: Loop, args: Sequence[int], sources: Collection[int]) -> Cut | None:
    """The first instruction of a loop's body that carries no gradient of ``sources`` on."""
    made, carries = op.body.tape.instructions, range(op.carries)
    outputs = op.body.tape.outputs
    entered = {1 + i - op.counted for i, arg in enumerate(args) if arg in sources}
    needed, before = ancestors(made, outputs), -1
    while before != (before := len(entered)):
        reached = {op.body.tape.inputs[number] for number in entered}
        for slot, (inner, read, kind, origin) in enumerate(made):
            if slot in needed and not reached.isdisjoint(read):
                if not inner.differentiable or not _differentiable(kind):
                    return _cut(inner, kind, origin)
                reached.add(slot)
        for path in op.paths:
            given = zip(carries, path.outputs, strict=False)
            entered.update(1 + c for c, number in given if outputs[number] in reached)
    return None


def assignments_between(
    b: Builder, assigned: Collection[int], sources: Sequence[Var], targets: Sequence[Var]
) -> list[int]:
    """Those of the ``assigned`` slots at which paths from ``sources`` to ``targets`` end."""
    needed = ancestors(b.instructions, [x.slot for x in targets])
    reached = {source.slot for source in sources}
    for slot in range(min(reached, default=0), max(assigned, default=-1) + 1):
        if not reached.isdisjoint(b.instructions[slot].args):
            reached.add(slot)
    return [slot for slot in assigned if slot in needed and slot in reached]


def _differentiable(kind: object) -> bool:
    return not isinstance(kind, ArrayType) or kind.differentiable


def _cut(op: Op, kind: object, origin: int) -> Cut:
    if isinstance(op, StopGradient):
        return Cut("stop_gradient", "stop_gradient ends the path", origin)
    if isinstance(op, Assigned):
        return Cut("state", "an assigned value is a fresh leaf, so the path ends there", origin)
    if isinstance(kind, ArrayType) and op.differentiable:
        return Cut("no_path", f"the path passes through {kind.dtype.name}", origin)
    return Cut("no_path", f"{op.name} has no derivative", origin)
