"""Instructions that kernels may use, one by one: for the interpreter, LLVM and the assembler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

RNG = np.random.default_rng(29)
DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "float": np.float32,
    "double": np.float64,
}
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("float", "double")
BITS = {"float": "f32", "double": "f64"}


class Case(NamedTuple):
    """Instructions that compute ``%r`` from ``%a``, ``%b`` and ``%c``."""

    operands: str
    result: str
    body: str
    kind: str = "any"  # which operands: any, divisors, or those of which i32 has the whole part

    @property
    def name(self) -> str:
        return f"{self.body} of {self.operands}".replace("\n  ", "; ")


def cases() -> Iterator[Case]:
    for t in INTEGERS:
        for opcode in "add sub mul and or xor".split():
            yield Case(t, t, f"%r = {opcode} {t} %a, %b")
        for opcode in "sdiv srem udiv urem".split():
            yield Case(t, t, f"%r = {opcode} {t} %a, %b", "divisors")
        for opcode in "shl lshr ashr".split():
            count = f"%n = and {t} %b, {int(t[1:]) - 1}"
            yield Case(t, t, f"{count}\n  %r = {opcode} {t} %a, %n")
        for predicate in "eq ne sgt sge slt sle ugt uge ult ule".split():
            yield Case(t, "i1", f"%r = icmp {predicate} {t} %a, %b")
        for name in "smax smin umax umin".split():
            yield Case(t, t, f"%r = call {t} @llvm.{name}.{t}({t} %a, {t} %b)")
        for name in "abs ctlz cttz".split():
            yield Case(t, t, f"%r = call {t} @llvm.{name}.{t}({t} %a, i1 false)")
        yield Case(t, t, f"%r = call {t} @llvm.ctpop.{t}({t} %a)")
        for name in ("fshl", "fshr"):
            yield Case(t, t, f"%r = call {t} @llvm.{name}.{t}({t} %a, {t} %b, {t} %c)")
        for other in INTEGERS:
            if int(other[1:]) < int(t[1:]):
                yield Case(t, other, f"%r = trunc {t} %a to {other}")
                yield Case(other, t, f"%r = sext {other} %a to {t}")
                yield Case(other, t, f"%r = zext {other} %a to {t}")
        yield Case(t, t, f"%n = trunc {t} %a to i1\n  %r = sext i1 %n to {t}")
        yield Case(t, t, f"%n = trunc {t} %a to i1\n  %r = zext i1 %n to {t}")
        yield Case(t, t, f"%n = icmp slt {t} %a, %b\n  %r = select i1 %n, {t} %a, {t} %c")
        for f in FLOATS:
            yield Case(t, f, f"%r = sitofp {t} %a to {f}")
            yield Case(t, f, f"%r = uitofp {t} %a to {f}")
            for sign in "su":
                call = f"call {t} @llvm.fpto{sign}i.sat.{t}.{BITS[f]}({f} %a)"
                yield Case(f, t, f"%r = {call}")
    for f in FLOATS:
        for opcode in "fadd fsub fmul fdiv".split():
            yield Case(f, f, f"%r = {opcode} {f} %a, %b")
        yield Case(f, f, f"%r = fneg {f} %a")
        for (
            predicate
        ) in "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true false".split():
            yield Case(f, "i1", f"%r = fcmp {predicate} {f} %a, %b")
        for name in "fabs floor ceil trunc rint nearbyint roundeven sqrt".split():
            yield Case(f, f, f"%r = call {f} @llvm.{name}.{BITS[f]}({f} %a)")
        for name in "copysign maximum minimum".split():
            yield Case(f, f, f"%r = call {f} @llvm.{name}.{BITS[f]}({f} %a, {f} %b)")
        for name in ("maxnum", "minnum"):  # of two zeros hosts take either
            call = f"%m = call {f} @llvm.{name}.{BITS[f]}({f} %a, {f} %b)"
            yield Case(f, f, f"{call}\n  %r = fadd {f} %m, 0.0")
        yield Case(f, f, f"%r = call {f} @llvm.fma.{BITS[f]}({f} %a, {f} %b, {f} %c)")
        for t in ("i32", "i64"):
            yield Case(f, t, f"%r = fptosi {f} %a to {t}", "i32")
            yield Case(
                f,
                t,
                f"%n = call {f} @llvm.fabs.{BITS[f]}({f} %a)\n  %r = fptoui {f} %n to {t}",
                "i32",
            )
    yield Case("float", "double", "%r = fpext float %a to double")
    yield Case("double", "float", "%r = fptrunc double %a to float")
    yield Case("double", "i64", "%r = bitcast double %a to i64")
    yield Case("i32", "float", "%r = bitcast i32 %a to float")
    for place in (0, 1):
        halves = "%n = bitcast double %a to <2 x i32>"
        yield Case("double", "i32", f"{halves}\n  %r = extractelement <2 x i32> %n, i64 {place}")
    pair = (
        "%n = insertelement <2 x i32> poison, i32 %a, i32 1\n  "
        "%m = insertelement <2 x i32> %n, i32 %b, i32 0"
    )
    yield Case("i32", "i64", f"{pair}\n  %r = bitcast <2 x i32> %m to i64")
    yield Case(
        "i32",
        "i32",
        f"{pair}\n  %s = add <2 x i32> %m, <i32 7, i32 -9>\n  "
        "%k = and i32 %c, 1\n  %r = extractelement <2 x i32> %s, i32 %k",
    )
    high = (
        "%u = {0} i64 %a to i128\n  %v = {0} i64 %b to i128\n  %m = mul i128 %u, %v\n  "
        "%q = {1} i128 %m, 64\n  %r = trunc i128 %q to i64"
    )
    yield Case("i64", "i64", high.format("zext", "lshr"))
    yield Case("i64", "i64", high.format("sext", "ashr"))


ALL = list(cases())


def stored(result: str) -> str:
    return "i8" if result == "i1" else result


def text(number: int, case: Case) -> str:
    """``%to[i]`` of an instruction's operands ``%x[i]``, ``%y[i]`` and ``%z[i]``."""
    t, r = case.operands, stored(case.result)
    loads = "".join(
        f"  %p{v} = getelementptr {t}, ptr %{p}, i64 %i\n  %{v} = load {t}, ptr %p{v}\n"
        for v, p in zip("abc", "xyz", strict=True)
    )
    widened = f"%w = {'zext i1 %r to i8' if case.result == 'i1' else f'freeze {r} %r'}"
    return f"""
define void @case{number}(ptr %x, ptr %y, ptr %z, ptr %to, i64 %i) {{
{loads}  {case.body}
  {widened}
  %p = getelementptr {r}, ptr %to, i64 %i
  store {r} %w, ptr %p
  ret void
}}"""


GPU = """
define ptx_kernel void @gpu{0}(ptr %x, ptr %y, ptr %z, ptr %to) {{
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %tid to i64
  call void @case{0}(ptr %x, ptr %y, ptr %z, ptr %to, i64 %i)
  ret void
}}"""


def operands(case: Case) -> list[np.ndarray[Any, Any]]:
    """Pairs of values where something happens, and random ones."""
    dtype = np.dtype(DTYPES[case.operands])
    if dtype.kind == "i":
        ends = np.iinfo(dtype)
        edges = np.array([0, 1, 2, 3, -1, -2, 7, 63, 64, ends.max, ends.min, ends.max - 1], dtype)
        others = RNG.integers(ends.min, ends.max, 112, dtype, endpoint=True)
    elif case.kind == "i32":
        edges = np.array(
            [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -0.99, -1, 2**30, -(2**30), 3.7, 1], dtype
        )
        others = RNG.uniform(-(2**31) + 200, 2**31 - 200, 112).astype(dtype)
    else:
        least = np.finfo(dtype).smallest_subnormal
        edges = np.array([0.0, -0.0, 1, -1.5, 2.5, np.inf, -np.inf, np.nan, least, 3e9, 1e19, 0.1])
        edges = np.append(edges, np.finfo(dtype).max).astype(dtype)
        others = (RNG.normal(size=112) * 2.0 ** RNG.integers(-40, 40, 112)).astype(dtype)
    x, y = (one.ravel() for one in np.meshgrid(edges, edges))
    x, y = np.append(x, others), np.append(y, np.roll(others, 1))
    if case.kind == "divisors":
        x, y = np.where(x == np.iinfo(dtype).min, 5, x), np.where(y == 0, 3, y)
    return [x.astype(dtype), y.astype(dtype), np.roll(x, 7).astype(dtype)]


def kernels_of(cases: list[Case]) -> str:
    """Kernels ``gpu0``, ``gpu1``, …, of which each thread executes a case once."""
    declared = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
    return declared + "".join(text(*one) + GPU.format(one[0]) for one in enumerate(cases))
