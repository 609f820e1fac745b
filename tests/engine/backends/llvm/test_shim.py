"""Calls of machine code: which operands are taken, and that none of them is kept."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from gradwire_engine.backends import layout
from gradwire_engine.backends.llvm.compiler import load_text
from gradwire_engine.backends.llvm.shim import callable_of

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
    return callable_of(load_text(COPY), releases=request.param)


def test_objects_have_the_layout_that_is_taken_for_granted():
    assert layout.is_known()


NUMBERS = {"Python's": 2.5, "a scalar": np.float64(2.5), "no axes": np.array(2.5)}


@pytest.mark.parametrize(
    "value", [*NUMBERS.values(), np.array([2.5, 1.0])], ids=[*NUMBERS, "array"]
)
def test_numbers_and_arrays_are_taken(copy, value):
    out = np.zeros(3)
    assert copy(value, out) is True
    assert out.tolist() == [2.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "size"), [(np.float32(2.5), 4), (np.int64(-7), 8), (np.True_, 1), (np.False_, 1)]
)
def test_numbers_of_each_dtype_are_taken(copy, value, size):
    out = np.zeros(8, np.uint8)
    assert copy(value, out)
    assert out[:size].tobytes() == value.tobytes()


def refused():
    bytes_of = np.zeros(33, np.uint8)
    matrix = np.ones((3, 4))
    return {
        "transposed": matrix.T,
        "every other": np.ones(8)[::2],
        "backward": np.ones(8)[::-1],
        "a column": matrix[:, 1],
        "repeated": np.broadcast_to(np.ones(1), (4,)),
        "unaligned": bytes_of[1:].view(np.float64),
    }


@pytest.mark.parametrize("layout", refused())
def test_arrays_out_of_order_are_refused_before_anything_is_called(copy, layout):
    array, out = refused()[layout], np.zeros(4)
    assert copy(array, out) is False
    assert copy(np.ones(1), array) is False
    assert out.tolist() == [0.0] * 4


@pytest.mark.parametrize("array", [np.ones((1, 5)).T, np.ones((3, 1, 4)), np.ones((4, 2))[1:3]])
def test_arrays_in_order_are_taken_however_they_came_about(copy, array):
    out = np.zeros(1)
    assert copy(array, out) is True
    assert out[0] == 1.0


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
