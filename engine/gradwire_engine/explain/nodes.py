"""The recorded program as textbooks draw it: each node with its value and its adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array, Poll
from gradwire_engine.backends.base import Backend, evaluated, noted_place
from gradwire_engine.backends.plan import plan
from gradwire_engine.compile.query import check_work
from gradwire_engine.errors import DeadlineExceeded, EngineError, Place
from gradwire_engine.explain.adjoints import Adjoints, record_adjoints
from gradwire_engine.explain.summaries import Summary, summarised
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Guard, UnrecordedPath
from gradwire_engine.queries import Call
from gradwire_engine.tape import ArrayType, Tape, Type

#: A value of the tape; None of what is no array.
Shown = Array | Summary | None


class Node(NamedTuple):
    """One recorded instruction with its value, and with its adjoint.

    The adjoint is the derivative of the target, of the sum of its elements, with respect to this
    node, and None where there is none. ``name`` is a variable's path, or the name of an
    intermediate. What gives several results, as a loop does, has no value: the items that follow it
    have.
    """

    slot: int
    op: Op
    operands: tuple[int, ...]
    type: Type
    place: Place
    name: str | None
    value: Shown
    adjoint: Shown
    is_source: bool
    is_target: bool


#: The nodes of a program, in an order in which operands come first.
Nodes = Sequence[Node]


def nodes_of(call: Call, most: int, poll: Poll) -> Nodes | None:
    """The nodes of a call's program; None where they and their operands are more than ``most``.

    If adjoints of all nodes are not known, those are given that the query's sources lead to.

    Raises: what answering does.
    """
    try:
        return _nodes(call, most, poll, of_all=True)
    except DeadlineExceeded:
        raise
    except EngineError:
        return _nodes(call, most, poll, of_all=False)


def _nodes(call: Call, most: int, poll: Poll, *, of_all: bool) -> Nodes | None:
    try:
        return _recorded(call, most, poll, of_all=of_all, unroll=False)
    except UnrecordedPath:  # as in calls: loops of which values take other paths are unrolled
        return _recorded(call, most, poll, of_all=of_all, unroll=True)


def _recorded(call: Call, most: int, poll: Poll, *, of_all: bool, unroll: bool) -> Nodes | None:
    asked = call.compilation(call.arguments, poll)
    query = asked.query._replace(exact=True)
    asked = asked._replace(query=query, on_tape=None, unroll=unroll)
    with gc_paused, np.errstate(all="ignore"):
        found = record_adjoints(asked, most, of_all=of_all)
    return None if found is None else _with_values(call, found, poll)


def _with_values(call: Call, found: Adjoints, poll: Poll) -> Nodes:
    tape = found.tape
    shown = _values(call, tape, poll)
    values = [shown[slot] for slot in tape.outputs]
    adjoints = dict(zip(found.differentiated, values[len(found.nodes) :], strict=True))
    nodes: list[Node] = []
    for (slot, instruction), value in zip(found.nodes.items(), values, strict=False):
        op, args, kind, _ = instruction
        known = slot, op, args, kind, call.place(instruction), found.names.get(slot)
        marks = slot in found.sources, slot in found.targets
        nodes.append(Node(*known, value, adjoints.get(slot), *marks))
    return nodes


def _values(call: Call, tape: Tape, poll: Poll) -> dict[int, Shown]:
    """Summaries of the tape's outputs by slot, in the memory of a replay that gives nothing."""
    backend = call.context.backend
    alone = replace(tape, outputs=())
    planned = plan(alone, poll)
    check_work(planned.peak_bytes, planned.flops, call.context.limits)

    def evaluate(op: Op, *operands: Any) -> Any:
        poll()
        if isinstance(op, Guard):  # these are the values it was recorded with
            return operands[0]
        return _evaluated(backend, op, poll, operands)

    wanted = {*tape.outputs}
    inputs = [x[()] for x in call.arguments.inputs]  # numbers as scalars
    shown: dict[int, Shown] = {}
    slots = range(len(tape.instructions))
    try:
        with np.errstate(all="ignore"):
            for slot, _, value in evaluated(alone, inputs, slots, evaluate, planned.dead):
                if slot in wanted:
                    is_array = isinstance(tape.instructions[slot].type, ArrayType)
                    shown[slot] = summarised(value) if is_array else None
    except EngineError as error:
        failed = noted_place(error)
        error.at = error.at or (failed and call.place(failed))
        raise
    return shown


def _evaluated(backend: Backend, op: Op, poll: Poll, operands: Sequence[Any]) -> Any:
    try:
        return backend.evaluate(op, poll, *operands)
    except EngineError:
        raise
    except Exception as error:
        refusal = backend.explain(op, error)
        if refusal is None:
            raise
        raise refusal from error
