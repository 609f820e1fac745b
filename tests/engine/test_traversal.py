"""Walks over instructions agree with the closure of the relation that their operands are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from gradwire_engine.ops.constants import Guard, Input
from gradwire_engine.ops.pointwise.arithmetic import Add, Negative
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.tape import ArrayType, Instruction
from gradwire_engine.traversal import ancestors, renumbered
from hypothesis import given
from hypothesis import strategies as st

NUMBER = ArrayType(np.dtype(float), ())


@st.composite
def instructions(draw: st.DrawFn) -> list[Instruction]:
    """Inputs, and sums and opposites of what is before them."""
    made = [Instruction(Input(0), (), NUMBER, 0), Instruction(Input(1), (), NUMBER, 1)]
    for slot in range(2, draw(st.integers(3, 24))):
        args = tuple(draw(st.lists(st.integers(0, slot - 1), min_size=1, max_size=2)))
        made.append(Instruction(Add() if len(args) == 2 else Negative(), args, NUMBER, slot))
    return made


def reached(made: Sequence[Instruction], slots: Sequence[int]) -> set[int]:
    """The slots that slots are computed from, by powers of the matrix of operands."""
    reads = np.eye(len(made), dtype=bool)
    for slot, instruction in enumerate(made):
        reads[slot, list(instruction.args)] = True
    closure = np.linalg.matrix_power(reads.astype(object), len(made)) > 0
    return {*np.flatnonzero(closure[list(slots)].any(axis=0)).tolist()}


def expression(made: Sequence[Instruction], slot: int) -> str:
    """A slot as an expression in the inputs."""
    op, args, _, _ = made[slot]
    return f"{op}({', '.join(expression(made, arg) for arg in args)})"


@given(instructions(), st.data())
def test_ancestors_are_all_that_is_reached(made, data):
    slots = data.draw(st.lists(st.sampled_from(range(len(made))), max_size=3))
    assert ancestors(made, slots) == (reached(made, slots) if slots else set())


@given(instructions(), st.data())
def test_what_is_known_hides_what_it_alone_needs(made, data):
    slots = range(len(made))
    target, known = data.draw(st.sampled_from(slots)), data.draw(st.sets(st.sampled_from(slots)))
    bare = [i._replace(args=()) if slot in known else i for slot, i in enumerate(made)]
    assert ancestors(made, [target], known) == reached(bare, [target]) - known


@given(instructions(), st.data())
def test_what_outputs_need_is_read_and_kept(made, data):
    outputs = data.draw(st.lists(st.sampled_from(range(len(made))), min_size=1, max_size=3))
    needed = reached(made, [0, 1, *outputs])
    counts = readers(made, outputs)
    assert {slot for slot, count in enumerate(counts) if count} == needed
    tape = renumbered(made, counts, (0, 1), outputs)
    assert len(tape.instructions) == len(needed)
    assert [i.origin for i in tape.instructions] == sorted(needed)
    for before, after in zip((0, 1, *outputs), (*tape.inputs, *tape.outputs), strict=True):
        assert expression(tape.instructions, after) == expression(made, before)


@pytest.mark.parametrize(("outputs", "expected"), [([2], [2, 0, 2, 0, 1]), ([3], [2, 0, 1, 2, 1])])
def test_readers_are_counted_where_they_live(outputs, expected):
    made = [Instruction(Input(0), (), NUMBER, 0), Instruction(Negative(), (0,), NUMBER, 0)]
    made += [Instruction(Negative(), (0,), NUMBER, 0), Instruction(Negative(), (2,), NUMBER, 0)]
    made.append(Instruction(Guard(True), (0,), NUMBER, 0))
    assert readers(made, outputs) == expected
