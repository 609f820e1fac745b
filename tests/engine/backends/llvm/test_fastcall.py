"""Calls of machine code: which operands are taken, what is made, and that nothing is kept."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.effort import examples

pytest.importorskip("llvmlite")

from gradwire_engine.backends import layout
from gradwire_engine.backends.llvm.compiler import load_text
from gradwire_engine.backends.llvm.fastcall import (
    Argument,
    Frame,
    Made,
    Pointer,
    Result,
    Scratch,
    callable_of,
)
from gradwire_engine.errors import InternalError

#: Copies a double from the first operand to the second.
COPY = """
define void @kernel(ptr %pointers) {
entry:
  %from = load ptr, ptr %pointers
  %second = getelementptr ptr, ptr %pointers, i64 1
  %to = load ptr, ptr %second
  %x = load i64, ptr %from
  store i64 %x, ptr %to
  ret void
}
"""


@pytest.fixture(params=[False, True], ids=["holds", "releases"])
def copy(request):
    frame = Frame([Argument(0), Argument(1)], operands=1)
    return callable_of(load_text(COPY), frame, releases=request.param)


def test_objects_have_the_layout_that_is_taken_for_granted():
    assert layout.is_known()


NUMBERS = {"Python's": 2.5, "a scalar": np.float64(2.5), "no axes": np.array(2.5)}


@pytest.mark.parametrize(
    "value", [*NUMBERS.values(), np.array([2.5, 1.0])], ids=[*NUMBERS, "array"]
)
def test_numbers_and_arrays_are_taken(copy, value):
    out = np.zeros(3)
    assert copy(value, out) == (0.0,)
    assert out.tolist() == [2.5, 0.0, 0.0]


@pytest.mark.parametrize("number", layout.NUMBERS)
def test_numbers_of_each_dtype_are_taken(copy, number):
    out, value = np.zeros(8, np.uint8), number(3)
    held = np.array(value).tobytes()[:8]  # of complex ones the first half
    assert copy(value, out)
    assert out[: len(held)].tobytes() == held


class Subclass(np.ndarray):
    """Its elements are not where those of an array are taken to be."""


FOREIGN = [np.longdouble(1), 1, True, [1.0], "1"]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_what_has_another_layout_is_refused_before_anything_is_called(copy, value):
    out = np.zeros(2)
    with pytest.raises(InternalError):
        copy(value, out)
    assert out.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "value", [np.ones(2).view(Subclass), np.ma.ones(2)], ids=["subclass", "masked"]
)
def test_arrays_of_other_classes_are_copied(copy, value):
    out = np.zeros(2)
    assert copy(value, out) == (0.0,)
    assert out.tolist() == [1.0, 0.0]
    with pytest.raises(InternalError):
        copy(out, value)


def out_of_order():
    bytes_of = np.zeros(33, np.uint8)
    matrix = np.arange(1.0, 13.0).reshape(3, 4)
    return {
        "transposed": matrix.T,
        "every other": np.ones(8)[::2],
        "backward": np.ones(8)[::-1],
        "a column": matrix[:, 1],
        "repeated": np.broadcast_to(np.ones(1), (4,)),
        "unaligned": bytes_of[1:].view(np.float64),
    }


@pytest.mark.parametrize("layout", out_of_order())
def test_operands_out_of_order_are_copied_and_nothing_is_written_there(copy, layout):
    array, out = out_of_order()[layout], np.full(4, 7.0)
    assert copy(array, out) == (0.0,)
    assert out.tolist() == [array.flat[0], 7.0, 7.0, 7.0]
    before = array.copy()
    with pytest.raises(InternalError):
        copy(out, array)
    assert_array_equal(array, before)


@pytest.mark.parametrize("array", [np.ones((1, 5)).T, np.ones((3, 1, 4)), np.ones((4, 2))[1:3]])
def test_arrays_in_order_are_taken_however_they_came_about(copy, array):
    out = np.zeros(1)
    assert copy(array, out) == (0.0,)
    assert out[0] == 1.0


@pytest.mark.thorough
def test_references_do_not_grow(copy):
    array, number, out, bad = np.ones(3), np.float64(0.7), np.zeros(3), np.ones(8)[::2]
    held = [array, number, out, bad, True, False, copy]
    gc.collect()
    before = [sys.getrefcount(x) for x in held]
    for _ in range(10_000):
        copy(array, out)
        copy(number, out)
        copy(bad, out)
    after = [sys.getrefcount(x) for x in held]
    assert all(abs(b - a) < 100 for a, b in zip(before, after, strict=True)), (before, after)


def test_threads_call_at_once(copy):
    outs = [np.zeros(1) for _ in range(4)]
    wrong = []

    def work(number):
        for k in range(2000):
            copy(np.float64(number + k), outs[number])
            if outs[number][0] != number + k:
                wrong.append((number, k))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


#: Copies as many bytes as the last pointer says from the first operand to the second.
COPY_ALL = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @kernel(ptr %pointers) {
entry:
  %from = load ptr, ptr %pointers
  %second = getelementptr ptr, ptr %pointers, i64 1
  %to = load ptr, ptr %second
  %third = getelementptr ptr, ptr %pointers, i64 2
  %length.at = load ptr, ptr %third
  %length = load i64, ptr %length.at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %length, i1 false)
  ret void
}
"""


def copying(x: np.ndarray, *, releases: bool = False) -> Any:
    """A function that copies an array, looking through it."""
    pointers: list[Pointer] = [Argument(0), Result(0), np.array([x.nbytes])]
    frame = Frame(pointers, [Made(x.dtype.char, x.shape, checked=True)])
    return callable_of(load_text(COPY_ALL), frame, releases=releases)


@pytest.mark.parametrize("releases", [False, True])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 1, 4), (8, 1000)])
@pytest.mark.parametrize("char", "dfl?")
def test_results_are_made(char, shape, releases):
    x = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(char)
    copy = copying(x, releases=releases)
    results = [copy(x) for _ in range(3)]
    for z, told in results:
        assert z.dtype == x.dtype
        assert z.flags.owndata
        assert z.flags.carray
        assert_array_equal(z, x)
        assert told == 0.0
    assert not np.shares_memory(results[0][0], results[1][0])


@pytest.mark.parametrize("char", "dfl?")
def test_numbers_are_made_of_scratch_memory(char):
    given = np.array([1, 0, 1], char)
    size = given.itemsize
    made = [Made(char, (), checked=True, scratch=64 + k * size) for k in (2, 1)]
    frame = Frame([Argument(0), Scratch(64), np.array([given.nbytes])], made, 128)
    one, other, told = callable_of(load_text(COPY_ALL), frame)(given)
    assert (type(one), one, other, told) == (given.dtype.type, 1, 0, 0.0)


@pytest.mark.parametrize("char", "df")
@examples(50)
@given(size=st.integers(1, 40), data=st.data())
def test_it_is_told_whether_what_is_made_is_finite(char, size, data):
    x = np.full(size, np.finfo(char).max, char)
    bad = data.draw(st.lists(st.integers(0, size - 1), max_size=3))
    x[bad] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    z, told = copying(x)(x)
    assert np.isfinite(told) == (not bad)
    assert z.tobytes() == x.tobytes()


@pytest.mark.parametrize("bad", [[], [0], [1], [0, 1]])
def test_flags_begin_with_0_and_are_told(bad):
    # what is copied to flags is what a kernel would have left there
    flags = np.zeros(2)
    flags[bad] = np.nan
    frame = Frame([Argument(0), Scratch(0), np.array([16])], (), 16, flags=2)
    call = callable_of(load_text(COPY_ALL), frame)
    assert np.isnan(call(flags)[-1]) == bool(bad)
    left = callable_of(
        load_text(COPY_ALL), Frame([Scratch(0), Argument(0), np.array([16])], (), 16, 2)
    )
    out = np.full(2, 7.0)
    left(out)
    assert out.tolist() == [0.0, 0.0]


def test_what_cannot_be_made_is_an_error_and_leaves_nothing_behind():
    made = [Made("d", (3,)), Made("d", (1 << 50,))]
    frame = Frame([Argument(0), Result(0), np.array([24])], made)
    call = callable_of(load_text(COPY_ALL), frame)
    with pytest.raises(MemoryError):
        call(np.ones(3))
    scratch = Frame([Argument(0), Scratch(0), np.array([24])], (), 1 << 60)
    with pytest.raises(MemoryError):
        callable_of(load_text(COPY_ALL), scratch)(np.ones(3))


@pytest.mark.thorough
def test_results_are_their_readers_alone():
    x = np.ones(1000)
    frame = Frame(
        [Argument(0), Result(0), np.array([x.nbytes])],
        [Made("d", x.shape), Made("d", (), scratch=0)],
        4096,
        operands=1,
    )
    call = callable_of(load_text(COPY_ALL), frame)
    tracemalloc.start()
    try:
        call(x)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            call(x)
            call(np.ones(2000)[::2])
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 5000
