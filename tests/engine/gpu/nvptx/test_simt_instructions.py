"""Instructions in the interpreter beside the same text in the machine code of the host."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("llvmlite")

import llvmlite.binding as llvm

from tests.engine.gpu.nvptx.instructions import ALL, DTYPES, kernels_of, operands, stored, text
from tests.engine.gpu.nvptx.simt.fused import fused
from tests.engine.gpu.nvptx.simt.program import Program

RNG = np.random.default_rng(31)

HOST = """
define void @host{0}(ptr %x, ptr %y, ptr %z, ptr %to, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void @case{0}(ptr %x, ptr %y, ptr %z, ptr %to, i64 %i)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}"""


@pytest.fixture(scope="module")
def interpreted() -> Program:
    return Program(kernels_of(ALL))


@pytest.fixture(scope="module")
def compiled() -> Iterator[llvm.ExecutionEngine]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(
        "".join(text(*one) + HOST.format(one[0]) for one in enumerate(ALL))
    )
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=0
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    yield engine
    engine.close()


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(ALL)), ids=[case.name for case in ALL])
def test_an_instruction_is_llvms(number, interpreted, compiled):
    case = ALL[number]
    given = operands(case)
    count = len(given[0])
    found = np.empty(count, DTYPES[stored(case.result)])
    expected = np.empty_like(found)
    interpreted.launch(f"gpu{number}", 1, count, [*given, found])
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
    address = compiled.get_function_address(f"host{number}")
    call(address)(*(one.ctypes.data for one in (*given, expected)), count)
    assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        numbers = ~np.isnan(found)
        assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def one(body: str, dtype: Any, *given: np.ndarray[Any, Any], more: str = "") -> Any:
    """``%r`` of a body that reads ``%x`` and ``%y``, which are arrays, at ``%i``."""
    to = np.empty(len(given[0]), dtype)
    program = Program(f"""
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
{more}
define ptx_kernel void @f(ptr %x, ptr %y, ptr %to) {{
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  {body}
  ret void
}}""")
    program.launch("f", 1, len(to), [given[0], given[-1], to])
    return to


def test_a_product_of_halves_is_rounded_to_a_half():
    x = RNG.normal(size=200).astype(np.float16)
    body = """%p = getelementptr half, ptr %x, i32 %i
  %v = load half, ptr %p
  %m = fmul half %v, %v
  %n = fadd half %m, 0xH3C00
  %q = getelementptr half, ptr %to, i32 %i
  store half %n, ptr %q"""
    # Exact in double, so that each is rounded once.
    square = (x.astype(np.float64) ** 2).astype(np.float16)
    assert_array_equal(one(body, np.float16, x), (square.astype(np.float64) + 1).astype(np.float16))


BFLOAT = """%p = getelementptr double, ptr %x, i32 %i
  %v = load double, ptr %p
  %b = fptrunc double %v to bfloat
  %q = getelementptr bfloat, ptr %to, i32 %i
  store bfloat %b, ptr %q"""


@pytest.mark.parametrize("sign", [1, -1])
def test_a_double_is_rounded_once_to_bfloat(sign):
    bits = RNG.integers(0, 0x7F7F, 340).astype(np.uint16)  # below the greatest finite number
    lower, upper = (
        (one.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        for one in (bits, bits + 1)
    )
    middle = (lower + upper) / 2
    x = np.concatenate([np.nextafter(middle, -np.inf), middle, np.nextafter(middle, np.inf)])
    even = np.where(bits % 2 == 0, bits, bits + 1)
    expected = np.concatenate([bits, even, bits + 1]) + (0 if sign > 0 else 0x8000)
    assert_array_equal(one(BFLOAT, np.uint16, sign * x), expected)


def test_bfloats_are_added_as_floats_and_rounded():
    body = """%p = getelementptr bfloat, ptr %x, i32 %i
  %v = load bfloat, ptr %p
  %w = fadd bfloat %v, 0xR3F80
  %f = fpext bfloat %w to float
  %q = getelementptr float, ptr %to, i32 %i
  store float %f, ptr %q"""
    x = np.array([0x3F80, 0x4000, 0x3C00, 0x3B80, 0x7F80, 0x7FC0], np.uint16)
    expected = [2, 3, 1.0078125, 1.0, np.inf, np.nan]  # 1 + 1/128 is a number, 1 + 1/256 a tie
    assert_array_equal(one(body, np.float32, x), np.array(expected, np.float32))


@pytest.mark.parametrize(("name", "bits"), [("i", 32), ("ui", 32), ("ll", 64), ("ull", 64)])
def test_the_upper_half_of_a_product(name, bits):
    t, function = f"i{bits}", f"@llvm.nvvm.mulhi.{name}"
    body = f"""%p = getelementptr {t}, ptr %x, i32 %i
  %q = getelementptr {t}, ptr %y, i32 %i
  %a = load {t}, ptr %p
  %b = load {t}, ptr %q
  %r = call {t} {function}({t} %a, {t} %b)
  %s = getelementptr {t}, ptr %to, i32 %i
  store {t} %r, ptr %s"""
    dtype = np.dtype(f"{'u' if 'u' in name else ''}int{bits}")
    ends = np.iinfo(dtype)
    x, y = RNG.integers(ends.min, ends.max, (2, 64), dtype, endpoint=True)
    found = one(body, dtype, x, y, more=f"declare {t} {function}({t}, {t})")
    assert found.tolist() == [int(a) * int(b) >> bits for a, b in zip(x, y, strict=True)]


def test_a_fused_product_has_the_error_of_the_product():
    """``x y - round(x y)`` is exact: no wider type of NumPy gives it."""
    x, y = RNG.normal(size=(2, 500))
    product = x * y
    exact = [
        float(Fraction(a) * Fraction(b) - Fraction(p))
        for a, b, p in zip(x, y, product, strict=True)
    ]
    assert fused(x, y, -product).tolist() == exact


def test_shifts_by_the_width_are_poison():
    body = """%p = getelementptr i32, ptr %x, i32 %i
  %a = load i32, ptr %p
  %r = shl i32 1, %a
  %q = getelementptr i32, ptr %to, i32 %i
  store i32 %r, ptr %q"""
    x = np.array([0, 5, 31, 32, -1], np.int32)
    assert one(body, np.int32, x).tolist() == [1, 32, -(2**31), -1, -1]


def test_what_no_integer_holds_is_poison():
    body = """%p = getelementptr double, ptr %x, i32 %i
  %a = load double, ptr %p
  %r = fptosi double %a to i32
  %q = getelementptr i32, ptr %to, i32 %i
  store i32 %r, ptr %q"""
    x = np.array([2.0**31, np.nan, -np.inf, -(2.0**31) - 0.5, 2.0**31 - 0.5])
    assert one(body, np.int32, x).tolist() == [-1, -1, -1, -(2**31), 2**31 - 1]


def test_a_switch_parts_threads():
    body = """switch i32 %i, label %other [
    i32 1, label %one
    i32 5, label %five
    i32 7, label %five ]
one:
  br label %end
five:
  br label %end
other:
  br label %end
end:
  %r = phi i32 [ 10, %one ], [ 50, %five ], [ %i, %other ]
  %q = getelementptr i32, ptr %to, i32 %i
  store i32 %r, ptr %q"""
    expected = [0, 10, 2, 3, 4, 50, 6, 50]
    assert one(body, np.int32, np.zeros(8)).tolist() == expected
