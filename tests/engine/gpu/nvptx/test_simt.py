"""The interpreter of GPU code: kernels written by hand beside NumPy, and faults planted in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("llvmlite")

from tests.engine.gpu.nvptx import kernels
from tests.engine.gpu.nvptx.assembling import optimised
from tests.engine.gpu.nvptx.simt.faults import (
    Aliasing,
    Divergence,
    Endless,
    Misaligned,
    OutOfBounds,
    Race,
    Undefined,
    WrongAddressSpace,
)
from tests.engine.gpu.nvptx.simt.program import Program, uninitialised

RNG = np.random.default_rng(23)


@pytest.fixture(params=["as written", "optimised"])
def program(request) -> Callable[[str], Program]:
    """Makes programs of texts, as they are and after LLVM's passes."""
    if request.param == "as written":
        return Program
    return lambda text: Program(optimised(text, "sm_80"))


def kernel(body: str, parameters: str = "ptr %x", more: str = "") -> Program:
    """A kernel that computes ``%i`` and ``%tid``, then does this."""
    return Program(
        f"{kernels.DECLARATIONS}{more}\n"
        f"define ptx_kernel void @f({parameters}) {{\nentry:{kernels.NUMBER}{body}\n}}"
    )


def test_saxpy_leaves_what_is_past_the_end(program):
    x, y = RNG.normal(size=(2, 1000))
    y, past = np.append(y, [7.0] * 24), 2.5 * x + y
    program(kernels.SAXPY).launch("saxpy", 8, 128, [2.5, x, y, 1000])
    assert_array_equal(y, np.append(past, [7.0] * 24))


@pytest.mark.parametrize("threads", [32, 96, 1024])
def test_a_block_sums_by_shuffles_and_shared_memory(threads, program):
    x, sums = RNG.normal(size=(3, threads)), uninitialised(3)
    program(kernels.BLOCK_SUM).launch("block_sum", 3, threads, [x, sums])
    assert_allclose(sums, x.sum(axis=1), rtol=1e-12)


def test_threads_leave_a_loop_one_by_one(program):
    start = np.arange(1, 257)
    steps = uninitialised(256, np.int32)

    def length(x: int) -> int:
        return 0 if x == 1 else 1 + length(x // 2 if x % 2 == 0 else 3 * x + 1)

    program(kernels.COLLATZ).launch("collatz", 2, 128, [start, steps])
    assert steps.tolist() == [length(int(x)) for x in start]


def test_atomic_updates_count_every_thread(program):
    bins, x = RNG.integers(0, 5, 512).astype(np.int8), RNG.normal(size=512)
    counts, sums, order = np.zeros(5, np.int32), np.zeros(5), np.empty(512, np.int32)
    program(kernels.HISTOGRAM).launch("histogram", 4, 128, [bins, x, counts, sums, order])
    assert_array_equal(counts, np.bincount(bins))
    assert_allclose(sums, np.bincount(bins, x), rtol=1e-12)
    for one in range(5):
        assert sorted(order[bins == one]) == list(range(counts[one]))


def test_an_exchange_is_repeated_until_it_succeeds(program):
    x, greatest = RNG.normal(size=256), np.array([-np.inf])
    program(kernels.GREATEST).launch("greatest", 2, 128, [x, greatest])
    assert greatest == x.max()


def test_vectors_tables_and_local_memory(program):
    x, to = RNG.normal(size=(64, 2)), uninitialised((64, 2))
    program(kernels.PAIRS).launch("pairs", 2, 32, [x, to])
    table = np.resize([1, 2, np.inf, -4], 64)[:, None]
    assert_array_equal(to, 2 * (x[:, ::-1] + table) + [4, 0])


def test_shared_memory_is_each_blocks_own(program):
    x = RNG.normal(size=(4, 64)).astype(np.float32)
    expected = x[:, ::-1].copy()
    program(kernels.REVERSE).launch("reverse", 4, 64, [x], shared_bytes=256)
    assert_array_equal(x, expected)


def test_shared_memory_ends_where_the_launch_says():
    x = np.zeros((4, 64), np.float32)
    with pytest.raises(OutOfBounds, match="@held, 252 bytes of shared memory, by thread 63"):
        Program(kernels.REVERSE).launch("reverse", 4, 64, [x], shared_bytes=252)


def test_a_missing_barrier_is_a_race():
    text = kernels.BLOCK_SUM.replace("call void @llvm.nvvm.barrier0()", "")
    with pytest.raises(Race, match="%partial = load double"):
        Program(text).launch("block_sum", 1, 64, [np.zeros(64), np.empty(1)])
    text = kernels.REVERSE.replace("call void @llvm.nvvm.barrier0()", "")
    with pytest.raises(Race, match="%w = load float"):
        Program(text).launch("reverse", 1, 64, [np.zeros(64, np.float32)], shared_bytes=256)


def test_an_access_out_of_bounds_names_the_instruction():
    x, y = np.zeros(128), np.zeros(127)
    with pytest.raises(OutOfBounds, match=r"byte 1016 of float64\[127\].*thread 127.*%vy = load"):
        Program(kernels.SAXPY).launch("saxpy", 1, 128, [1.0, x, y, 128])


STORE = """
  %k = {index}
  %p = getelementptr double, ptr %x, i64 %k
  store double 1.0, ptr %p
  ret void"""


@pytest.mark.parametrize(
    ("index", "grid", "fault", "message"),
    [
        ("add i64 %i, 0", 2, None, None),
        ("add i64 %i, 1", 2, OutOfBounds, "byte 512 of"),
        ("sub i64 %i, 1", 2, OutOfBounds, "byte -8 of .* by thread 0 of block 0 and 0 others"),
        ("sub i64 %i, 1000000000000", 2, OutOfBounds, "of null"),
        ("lshr i64 %i, 1", 1, Race, "write by thread 0 .* and write by another"),
        ("and i64 %i, 31", 2, Race, "write by thread 0 .* and write by another"),
    ],
)
def test_writes_are_checked(index, grid, fault, message):
    program, x = kernel(STORE.format(index=index)), np.zeros(32 * grid)
    if fault is None:
        program.launch("f", grid, 32, [x])
        assert (x == 1).all()
    else:
        with pytest.raises(fault, match=message):
            program.launch("f", grid, 32, [x])


NEIGHBOUR = """
  %p = getelementptr double, ptr %x, i64 %i
  store double 1.0, ptr %p
  {barrier}
  %k = xor i64 %i, {distance}
  %q = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %q
  ret void"""
BARRIER = "call void @llvm.nvvm.barrier0()"


@pytest.mark.parametrize(
    ("barrier", "distance", "races"),
    [(BARRIER, 1, False), ("", 1, True), ("", 0, False), (BARRIER, 32, True)],
    ids=["barrier", "none", "own element", "other block"],
)
def test_reads_of_what_others_wrote_need_a_barrier(barrier, distance, races):
    program, x = kernel(NEIGHBOUR.format(barrier=barrier, distance=distance)), np.zeros(64)
    if races:
        with pytest.raises(Race, match=r"read by thread 0 .block 0. and write by another"):
            program.launch("f", 2, 32, [x])
        program.launch("f", 2, 32, [x], races=False)
    else:
        program.launch("f", 2, 32, [x])


def test_a_write_after_many_reads_is_a_race():
    body = """
  %v = load double, ptr %x
  %p = getelementptr double, ptr %x, i64 %i
  store double %v, ptr %p
  ret void"""
    with pytest.raises(Race, match=r"write by thread 0 .block 0. and read by another"):
        kernel(body).launch("f", 1, 32, [np.zeros(32)])


def test_plain_and_atomic_accesses_race():
    body = """
  %unused = atomicrmw add ptr %x, i64 1 monotonic
  %v = load i64, ptr %x
  ret void"""
    with pytest.raises(Race, match=r"read by thread 0 .block 0. and atomic by another"):
        kernel(body).launch("f", 1, 32, [np.zeros(1, np.int64)])


FLAG = """
  {store} double 0x7FF8000000000000, ptr %x{order}, align 8
  ret void"""


def test_threads_may_write_one_element_atomically():
    """Whichever comes last, it is one of the values that were written: so is a flag raised."""
    x = np.zeros(1)
    kernel(FLAG.format(store="store atomic", order=" monotonic")).launch("f", 2, 32, [x])
    assert np.isnan(x).all()
    with pytest.raises(Race, match="write by thread 0"):
        kernel(FLAG.format(store="store", order="")).launch("f", 2, 32, [x])


def test_elements_smaller_than_a_word_do_not_race():
    body = """
  %p = getelementptr i8, ptr %x, i64 %i
  store i8 1, ptr %p
  ret void"""
    x = np.zeros(64, np.bool_)
    kernel(body).launch("f", 2, 32, [x])
    assert x.all()


PARTED = """
  %odd = trunc i64 %i to i1
  br i1 %odd, label %one, label %two
one:
  {one}
  br label %end
two:
  {two}
  br label %end
end:
  ret void"""


def test_a_barrier_that_some_threads_go_around_is_an_error():
    parted = kernel(PARTED.format(one=BARRIER, two=BARRIER))
    with pytest.raises(Divergence, match="threads of block 0 wait at another barrier"):
        parted.launch("f", 2, 32, [np.zeros(1)])


def test_a_barrier_waits_only_for_threads_that_have_not_returned():
    kernel(PARTED.format(one=BARRIER, two="")).launch("f", 2, 32, [np.zeros(1)])


SHUFFLE = """
  %unused{number} = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 {mask}, i32 0, i32 {by}, i32 31)"""


@pytest.mark.parametrize(
    ("mask", "by", "message"),
    [
        (-1, 1, "lanes named by the mask are not active"),
        (0x2AAAAAAA, 2, "an active lane is not named by the mask"),
        (-0x55555556, 1, "a lane is read that the mask does not name"),
        (-0x55555556, 2, None),
    ],
)
def test_shuffles_need_the_lanes_that_they_name(mask, by, message):
    one = SHUFFLE.format(number=1, mask=mask, by=by)
    program = kernel(PARTED.format(one=one, two=""))
    if message is None:
        program.launch("f", 1, 64, [np.zeros(1)])
    else:
        with pytest.raises(Divergence, match=message):
            program.launch("f", 1, 64, [np.zeros(1)])


KINDS: dict[str, Callable[..., Any]] = {
    "down": lambda lane, by: np.where(lane + by < 32, lane + by, lane),
    "up": lambda lane, by: np.where(lane >= by, lane - by, lane),
    "bfly": lambda lane, by: lane ^ by,
    "idx": np.full_like,
}


@pytest.mark.parametrize("kind", KINDS)
def test_shuffles_move_values_within_a_warp(kind):
    name = f"@llvm.nvvm.shfl.sync.{kind}.i32"
    body = f"""
  %mine = mul i32 %i32, 3
  %v = call i32 {name}(i32 -1, i32 %mine, i32 5, i32 {0 if kind == "up" else 31})
  %p = getelementptr i32, ptr %x, i64 %i
  store i32 %v, ptr %p
  ret void"""
    more = f"declare i32 {name}(i32, i32, i32, i32)" if kind != "down" else ""
    x, i = np.empty(128, np.int32), np.arange(128)
    kernel(body, more=more).launch("f", 2, 64, [x])
    assert_array_equal(x, 3 * (i - i % 32 + KINDS[kind](i % 32, 5)))


@pytest.mark.parametrize(
    ("body", "fault", "message"),
    [
        ("%q = udiv i64 1, %i\n  ret void", Undefined, "division by zero"),
        ("%q = load <2 x double>, ptr %x, align 32\n  ret void", None, ""),
        (
            "%p = getelementptr double, ptr %x, i64 1\n"
            "  %q = load <2 x double>, ptr %p, align 16\n  ret void",
            Misaligned,
            "read aligned to 16 bytes at byte 8",
        ),
        (
            "%p = addrspacecast ptr %x to ptr addrspace(3)\n"
            "  %q = load double, ptr addrspace(3) %p\n  ret void",
            WrongAddressSpace,
            "read in shared memory",
        ),
        ("br label %again\nagain:\n  br label %again", Endless, "too many steps"),
        ("%q = load double, ptr null\n  ret void", OutOfBounds, "of null, 0 bytes"),
    ],
)
def test_faults_are_reported(body, fault, message):
    program = kernel("\n  " + body)
    if fault is None:
        program.launch("f", 1, 32, [np.zeros(8)])
    else:
        with pytest.raises(fault, match=message):
            program.launch("f", 1, 32, [np.zeros(8)], most_steps=100)


def test_an_array_that_is_not_writeable_is_not_written():
    x = np.zeros(32)
    x.flags.writeable = False
    with pytest.raises(WrongAddressSpace, match=r"store double 1.000000e\+00"):
        kernel(STORE.format(index="add i64 %i, 0")).launch("f", 1, 32, [x])


def test_arguments_may_be_parts_of_one_array():
    whole = np.zeros(64)
    body = """
  %p = getelementptr double, ptr %x, i64 %i
  %q = getelementptr double, ptr %y, i64 %i
  store double 1.0, ptr %p
  store double 2.0, ptr %q
  ret void"""
    program = kernel(body, "ptr %x, ptr %y")
    program.launch("f", 1, 32, [whole[:32], whole[32:]])
    assert whole.tolist() == [1.0] * 32 + [2.0] * 32
    with pytest.raises(Race):
        program.launch("f", 1, 32, [whole[:32], whole[31:63]])
    with pytest.raises(OutOfBounds):
        program.launch("f", 1, 32, [whole[:31], whole[32:]])


COPY = """
  %p = getelementptr double, ptr %x, i64 %i
  %q = getelementptr double, ptr %y, i64 %i
  %v = load double, ptr %p
  store double %v, ptr %q
  ret void"""


def test_what_a_kernel_promises_of_its_arguments_is_checked():
    x, y = np.arange(32.0), np.zeros(32)
    program = kernel(COPY, "ptr noalias readonly %x, ptr noalias %y")
    program.launch("f", 1, 32, [x, y])
    assert y.tolist() == x.tolist()
    with pytest.raises(Aliasing, match=r"float64\[32\] overlap"):
        program.launch("f", 1, 32, [x, x])
    kernel(COPY, "ptr %x, ptr %y").launch("f", 1, 32, [x, x])
    with pytest.raises(WrongAddressSpace, match="store double"):
        kernel(COPY, "ptr noalias readonly %x, ptr readonly %y").launch("f", 1, 32, [x, y])
    two = kernel("\n  ret void", "ptr noalias readonly %x, ptr noalias readonly %y")
    two.launch("f", 1, 32, [x, x])


def test_a_kernel_may_promise_how_many_threads_a_block_has():
    text = (
        "define ptx_kernel void @f() {\n  ret void\n}\n"
        '!nvvm.annotations = !{!0}\n!0 = !{ptr @f, !"maxntidx", i32 64}'
    )
    Program(text).launch("f", 1, 64, [])
    with pytest.raises(ValueError, match="at most 64 threads, got 65"):
        Program(text).launch("f", 1, 65, [])


def test_an_access_may_be_of_several_arrays():
    """Only what others may write is watched: of threads that read either, some are."""
    body = """
  %odd = trunc i64 %i to i1
  %from = select i1 %odd, ptr %x, ptr %y
  %p = getelementptr double, ptr %from, i64 {index}
  %v = load double, ptr %p
  %q = getelementptr double, ptr %y, i64 %i
  store double %v, ptr %q
  ret void"""
    x, y = np.arange(32.0), -np.arange(32.0)
    kernel(body.format(index="%i"), "ptr noalias readonly %x, ptr %y").launch("f", 1, 32, [x, y])
    assert y.tolist() == [i if i % 2 else -i for i in range(32)]
    with pytest.raises(Race, match="store double %v"):
        kernel(body.format(index="0"), "ptr %x, ptr %y").launch("f", 1, 32, [x, y])
    with pytest.raises(
        OutOfBounds, match=r"float64\[1\], 8 bytes .*, by thread 1 of block 0 and 15"
    ):
        kernel(body.format(index="%i"), "ptr %x, ptr %y").launch("f", 1, 32, [x[1:2], y])


def test_parts_of_one_array_may_have_other_types():
    whole = np.zeros(32)
    body = """
  %p = getelementptr double, ptr %x, i64 %i
  store double 1.0, ptr %p
  %up = xor i64 %i, 1
  %k = mul i64 %up, 2
  %m = add i64 %k, 1
  %q = getelementptr float, ptr %y, i64 %m
  store float 2.0, ptr %q
  ret void"""
    with pytest.raises(Race, match="store float"):
        kernel(body, "ptr %x, ptr %y").launch("f", 1, 32, [whole, whole.view(np.float32)])


@pytest.mark.parametrize(
    ("grid", "block"), [(1, 1025), (1, (32, 64)), ((1, 65536), 1), (0, 32), (1, (1, 1, 65))]
)
def test_a_launch_has_the_limits_of_gpus(grid, block):
    with pytest.raises(ValueError, match="at most"):
        kernel("ret void").launch("f", grid, block, [np.zeros(1)])


def test_blocks_and_threads_have_three_axes():
    names = [f"{kind}.{axis}" for kind in ("ctaid", "tid") for axis in "zyx"]
    reads = "".join(
        f"\n  %r{i} = call i32 @llvm.nvvm.read.ptx.sreg.{name}()" for i, name in enumerate(names)
    )
    sizes = (2, 3, 1, 2, 2, 8)  # of the axes of ``names``
    index = "\n  %n0 = add i32 %r0, 0"
    for i, size in enumerate(sizes[1:], 1):
        index += f"\n  %m{i} = mul i32 %n{i - 1}, {size}\n  %n{i} = add i32 %m{i}, %r{i}"
    text = f"""
define ptx_kernel void @f(ptr %x) {{{reads}{index}
  %p = getelementptr i32, ptr %x, i32 %n5
  store i32 %n5, ptr %p
  ret void
}}""" + "".join(f"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.{name}()" for name in names)
    x = uninitialised(192, np.int32)
    Program(text).launch("f", (1, 3, 2), (8, 2, 2), [x])
    assert x.tolist() == list(range(192))


def test_pointers_may_point_to_pointers():
    x, y = np.zeros(32), np.zeros(32)
    body = """
  %second = getelementptr ptr, ptr %table, i64 1
  %p = load ptr, ptr %second
  %q = getelementptr double, ptr %p, i64 %i
  store double 3.0, ptr %q
  ret void"""
    kernel(body, "ptr %table").launch("f", 1, 32, [[x, y]])
    assert (x == 0).all()
    assert (y == 3).all()


def test_memory_that_nobody_wrote_is_nan():
    body = """
  %local = alloca double
  %v = load double, ptr %local
  %p = getelementptr double, ptr %x, i64 %i
  store double %v, ptr %p
  ret void"""
    x = np.zeros(32)
    kernel(body).launch("f", 1, 32, [x])
    assert np.isnan(x).all()


def test_what_the_interpreter_does_not_know_is_not_ignored():
    unknown: Any = [
        "%q = frem double 1.0, 2.0",
        "%q = fmul contract double 1.0, 2.0",
        "%q = call nnan double @llvm.fabs.f64(double 1.0)",
        "fence seq_cst",
        "%q = call double @llvm.sin.f64(double 1.0)",
    ]
    for line in unknown:
        with pytest.raises(NotImplementedError):
            kernel(f"\n  {line}\n  ret void", more="declare double @llvm.sin.f64(double)")
