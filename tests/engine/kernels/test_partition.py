"""Parts of tapes: an order in which they can be computed, and all that is read outside."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine.kernels.partition import partition
from gradwire_engine.kernels.scope import MOST_INSTRUCTIONS
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import Tape
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.kernels.tapes import Writer, apply, both, go_on, kernels, native, same

N = 6
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def mixed(draw: st.DrawFn) -> Writer:
    """Matrices, of which some instructions are for kernels and some for libraries, and vectors."""
    w = Writer()
    rng = np.random.default_rng(draw(SEEDS))
    known = [w.input(rng.normal(size=(N, N))) for _ in range(2)]
    for _ in range(draw(st.integers(4, 25))):
        x, y = draw(st.sampled_from(known)), draw(st.sampled_from(known[-4:]))
        kind = draw(
            st.sampled_from(["add", "tanh", "sum", "sort", "cumsum", "transpose", "reshape"])
        )
        if kind == "add":
            known.append(apply("add", x, apply("negative", y)))
        elif kind == "tanh":
            known.append(apply("tanh", x))
        elif kind == "sum":
            known.append(apply("tanh", BroadcastTo((N, N))(Sum((draw(st.integers(0, 1)),))(x))))
        elif kind == "sort":
            known.append(PRIMITIVES["sort"](0)(y))
        elif kind == "cumsum":
            known.append(apply("tanh", PRIMITIVES["cumsum"](1)(y)))
        elif kind == "transpose":
            known.append(Transpose((1, 0))(x))
        else:
            known.append(Reshape((N, N))(Reshape((N * N,))(Transpose((1, 0))(y))))
    w.outputs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=4))  # type: ignore[attr-defined]
    return w


def live(tape: Tape) -> Tape:
    """Without what nothing reads, as tapes are that are compiled."""
    read = {*tape.outputs, *tape.inputs}
    for slot in range(len(tape.instructions) - 1, -1, -1):
        if slot in read:
            read.update(tape.instructions[slot].args)
    slots = sorted(read)
    at = {slot: k for k, slot in enumerate(slots)}
    made = [tape.instructions[slot] for slot in slots]
    made = [i._replace(args=tuple([at[a] for a in i.args])) for i in made]
    inputs, outputs = ([at[s] for s in each] for each in (tape.inputs, tape.outputs))
    return Tape(tuple(made), tuple(inputs), tuple(outputs))


@examples(100)
@given(w=mixed())
def test_parts_can_be_computed_one_after_the_other(w):
    tape = live(w.tape(*w.outputs))
    views = Views(tape.instructions)
    found = partition(tape).parts
    part_of = {slot: number for number, part in enumerate(found) for slot in part.slots}
    assert sum(len(part.slots) for part in found) == len(part_of)
    done: set[int] = set()
    computed: list[int] = []
    left = [*range(len(tape.instructions))]

    def ready(slots):
        needed = {views.bases[a] for s in slots for a in tape.instructions[s].args}
        return needed - {*slots} <= done

    while left:
        groups = [found[part_of[s]].slots if s in part_of else [s] for s in left]
        now = next((group for group in groups if ready(group)), None)
        assert now is not None, "what is left waits for itself"
        done.update(now)
        computed += now
        left = [s for s in left if s not in done]
    assert sorted(computed) == [*range(len(tape.instructions))]


@examples(100)
@given(w=mixed())
def test_results_are_what_is_read_outside(w):
    tape = live(w.tape(*w.outputs))
    views = Views(tape.instructions)
    for part in partition(tape).parts:
        within, read = {*part.slots}, {views.bases[s] for s in tape.outputs}
        for slot, instruction in enumerate(tape.instructions):
            if slot not in within and views.bases[slot] == slot:
                read.update(views.bases[a] for a in instruction.args)
        assert {*part.results} == read & within
        for slot in part.slots:
            assert not isinstance(tape.instructions[slot].op, Input | Constant)


@examples(60)
@given(w=mixed())
def test_parts_give_what_instructions_give(w):
    tape = live(w.tape(*w.outputs))
    if partition(tape).parts:
        same(*both(tape, w.inputs), rtol=1e-12, atol=1e-12)


def kept_by_first(tape: Tape) -> list[str]:
    """The results of the first kernel, which others read."""
    made = native(tape)
    kinds = [i.type for i in tape.instructions if isinstance(i.op, Input)]
    made.replay([np.full(kind.shape, 0.5) for kind in kinds], go_on)  # type: ignore[union-attr]
    first = kernels(made)[0]
    return [tape.instructions[slot].op.name for slot in first.results]


def test_what_is_cheap_to_make_of_what_is_kept_is_made_where_it_is_read():
    w = Writer()
    h = apply("tanh", w.input(np.ones((40, 40))))
    slope = apply("negative", apply("multiply", h, h))
    z = apply("multiply", slope, Contract("ab,bc->ac")(h, h))
    assert kept_by_first(w.tape(apply("tanh", z))) == ["tanh"]


@pytest.mark.parametrize("read_by", ["a library", "the client"])
def test_what_others_read_is_made_first(read_by):
    w = Writer()
    h = apply("tanh", w.input(np.ones((40, 40))))
    slope = apply("negative", apply("multiply", h, h))
    z = apply("multiply", slope, Contract("ab,bc->ac")(h, h))
    last = Contract("ab,bc->ac")(z, slope) if read_by == "a library" else Transpose((1, 0))(slope)
    assert kept_by_first(w.tape(apply("tanh", z), last)) == ["tanh", "negative"]


def test_what_would_be_kept_in_place_of_less_is_made_first():
    w = Writer()
    x = apply("tanh", w.input(np.ones((40, 40))))
    total = apply("negative", Sum((1,))(apply("multiply", x, x)))
    product = Contract("ab,b->a")(w.input(np.ones((4000, 40))), Sum((0,))(x))
    late = apply("tanh", apply("add", Sum((0,))(apply("sin", product)), total))
    assert kept_by_first(w.tape(late)) == ["sum", "sum"]


@pytest.mark.thorough
def test_long_tapes_are_computed_in_pieces():
    w = Writer()
    x = w.input(np.linspace(-1, 1, 11))
    a, total = w.input(0.7), w.input(np.zeros(11))
    for k in range(MOST_INSTRUCTIONS):
        a = apply("sin", apply("add", a, w.builder.constant(np.array(k / 7))))
        total = apply("add", total, apply("multiply", a, x))
    tape = w.tape(a, total, Sum((0,))(total))
    made = native(tape)
    made.replay(w.inputs, go_on)
    assert len(kernels(made)) > 3
    assert all(len(kernel.slots) <= MOST_INSTRUCTIONS for kernel in kernels(made))
    same(*both(tape, w.inputs), rtol=1e-11, atol=1e-11)


def test_sums_of_products_of_elements_are_not_left_to_einsum():
    w = Writer()
    x, y = (w.input(np.random.default_rng(k).normal(size=(50, 7, 41))) for k in (1, 2))
    tape = w.tape(apply("exp", Contract("abc,abc->ca")(apply("subtract", x, y), y)))
    made = native(tape)
    made.replay(w.inputs, go_on)
    (kernel,) = kernels(made)
    assert len(kernel.slots) == 3
    same(*both(tape, w.inputs), rtol=1e-12)


@pytest.mark.parametrize("n", [16, 17])
def test_large_products_are_left_to_blas(n):
    w = Writer()
    x = apply("negative", apply("tanh", w.input(np.ones((n, n)))))
    made = native(w.tape(apply("negative", apply("tanh", Contract("ab,bc->ac")(x, x)))))
    made.replay(w.inputs, go_on)
    inside = [i.op for kernel in kernels(made) for i in kernel.instructions]
    assert any(isinstance(op, Contract) for op in inside) == (n == 16)


def test_a_single_cheap_instruction_is_no_kernel():
    w = Writer()
    x = w.input(np.ones(9))
    tape = w.tape(apply("negative", x))
    assert partition(tape).parts == []
    tape = w.tape(apply("tanh", x))
    tape = live(tape)
    assert [[*part.slots] for part in partition(tape).parts] == [[1]]


def test_what_nothing_reads_is_in_no_way():
    w = Writer()
    x = w.input(np.ones(9))
    y = apply("negative", apply("tanh", x))
    for _ in range(3):
        apply("exp", apply("tanh", PRIMITIVES["sort"](0)(x)))
    w.agree(y, rtol=1e-15)
