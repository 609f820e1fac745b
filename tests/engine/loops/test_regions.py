"""Loops built by hand: bodies have what differs from pass to pass, each instruction once."""

import numpy as np
import pytest
from gradwire_engine import Limits
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.loops.loop import Loop, MustUnroll
from gradwire_engine.loops.regions import MOST_PATHS, item, loop, region
from gradwire_engine.loops.splicing import spliced
from gradwire_engine.loops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.constants import Guard
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import ArrayType

FLOAT = ArrayType(np.dtype("float64"), ())
ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture
def b():
    return Builder(Limits())


def replayed(b, outputs, *inputs):
    given = [np.asarray(x) for x in inputs]
    return REFERENCE.compile(b.tape(outputs), no_deadline).replay(given, no_deadline).outputs


def names(instructions):
    return [i.op.name for i in instructions if i.op.name != "input"]


def body(b):
    (op,) = [i.op for i in b.instructions if isinstance(i.op, Loop)]
    return op, names(op.body.tape.instructions)


def count(b, passes):
    return b.constant(np.int64(passes))


def test_what_is_the_same_in_all_passes_is_computed_before_the_loop(b):
    a, start = b.input(FLOAT), b.input(FLOAT)
    with region(b, [FLOAT]) as opened:
        (x,) = opened.carries
        PRIMITIVES["cos"]()(x)  # which nothing reads
        trace = opened.trace([x * PRIMITIVES["sin"]()(a)])
    end = item(loop(b, [trace], [start], count=count(b, 3)), 0)
    assert body(b)[1] == ["multiply"]
    assert "sin" in names(b.instructions)
    np.testing.assert_allclose(replayed(b, [end], 0.5, 2.0), [2 * np.sin(0.5) ** 3])


def test_paths_share_equal_instructions(b):
    start, traces = b.input(FLOAT), []
    for large in (True, False):
        with region(b, [FLOAT]) as opened:
            (x,) = opened.carries
            Guard(large)(x.exceeds(4.0))
            traces.append(opened.trace([x * 0.5 if large else x + x]))
    end = item(loop(b, traces, [start], count=count(b, 5)), 0)
    op, made = body(b)
    assert made.count("greater") == 1
    assert [[outcome for _, outcome in path.decisions] for path in op.paths] == [[True], [False]]
    assert replayed(b, [end], 1.0) == (8.0,)  # 2, 4, 8, 4, 8


@pytest.mark.parametrize("backward", [False, True])
def test_passes_read_rows_and_write_others(b, backward):
    array = b.input(ArrayType(FLOAT.dtype, ROWS.shape))
    kind = ArrayType(FLOAT.dtype, (2,))
    with region(b, [kind], [kind]) as opened:
        (total,), (row,) = opened.carries, opened.items
        trace = opened.trace([total + row, total * row])
    zero = b.full(0.0, kind)
    made = loop(b, [trace], [zero], [Rows(0)(array)], count(b, 3), backward=backward)
    written = Stacked(3, 0)(item(made, body(b)[0].output(0)))
    end, products = replayed(b, [item(made, 0), written], ROWS)
    rows = ROWS[::-1] if backward else ROWS
    before = np.cumsum(rows, axis=0) - rows
    expected = before * rows
    np.testing.assert_allclose(end, ROWS.sum(0))
    np.testing.assert_allclose(products, expected[::-1] if backward else expected)


def test_too_many_paths_are_refused(b):
    with region(b, [FLOAT]) as opened:
        for _ in range(MOST_PATHS):
            opened.decide(opened.carries[0])
        with pytest.raises(MustUnroll):
            opened.decide(opened.carries[0])


def test_what_is_recorded_in_a_region_is_forgotten(b):
    b.input(FLOAT)
    before = [*b.instructions]
    with region(b, [FLOAT]) as opened:
        assert b.regions == [opened]
        assert opened.holds(opened.carries[0] * 2.0)
        assert not opened.holds(b.scalar(3.0, FLOAT.dtype))
    assert b.instructions == before
    assert b.regions == []


def test_a_tape_is_recorded_again_as_far_as_its_outputs_need(b):
    x = b.input(FLOAT)
    tape = b.tape([x * x, PRIMITIVES["sin"]()(x)])
    other = Builder(Limits())
    (square,) = spliced(other, tape, [other.input(FLOAT)], [0])
    assert names(other.instructions) == ["multiply"]
    assert replayed(other, [square], 3.0) == (9.0,)


@pytest.mark.parametrize("swapped", [False, True])
def test_sums_of_stacks_go_as_far_as_the_longer(swapped):
    given = [[1.0, 2.0, 3.0], [10.0]]
    assert AddStacks().kernel(np, *given[:: -1 if swapped else 1]) == [11.0, 2.0, 3.0]
    np.testing.assert_array_equal(AddStacks().kernel(np, ROWS, ROWS), 2 * ROWS)


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_that_no_pass_wrote_are_zeros(axis):
    found = Stacked(5, axis).kernel(np, [*ROWS])
    expected = np.concatenate([ROWS, np.zeros((2, 2))])
    np.testing.assert_array_equal(found, np.moveaxis(expected, 0, axis))
    np.testing.assert_array_equal(Rows(axis).kernel(np, found), expected)
