"""Fused multiply-add, rounded once: the processor's, since NumPy has none.

The product of two doubles has up to 106 bits, so that no wider type of NumPy holds it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from tests.engine.gpu.nvptx.simt.types import Array

LOOP = """
define void @fused(ptr %x, ptr %y, ptr %z, ptr %to, i64 %sx, i64 %sy, i64 %sz, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %ix = mul i64 %i, %sx
  %iy = mul i64 %i, %sy
  %iz = mul i64 %i, %sz
  %px = getelementptr TYPE, ptr %x, i64 %ix
  %py = getelementptr TYPE, ptr %y, i64 %iy
  %pz = getelementptr TYPE, ptr %z, i64 %iz
  %pt = getelementptr TYPE, ptr %to, i64 %i
  %vx = load TYPE, ptr %px
  %vy = load TYPE, ptr %py
  %vz = load TYPE, ptr %pz
  %v = call TYPE @llvm.fma.fBITS(TYPE %vx, TYPE %vy, TYPE %vz)
  store TYPE %v, ptr %pt
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare TYPE @llvm.fma.fBITS(TYPE, TYPE, TYPE)
"""


@cache
def _loop(type: str, bits: str) -> tuple[Callable[..., None], llvm.ExecutionEngine]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    module = llvm.parse_assembly(LOOP.replace("TYPE", type).replace("BITS", bits))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 4)
    return kind(engine.get_function_address("fused")), engine


def fused(x: Array, y: Array, z: Array) -> Array:
    """``x y + z``, rounded once to the type that all have: of half precision, by doubles."""
    dtype = x.dtype
    if dtype == np.float16:
        return np.asarray(fused(*(one.astype(np.float64) for one in (x, y, z))).astype(dtype))
    operands = [np.ascontiguousarray(one) for one in (x, y, z)]
    result = np.empty_like(max(operands, key=np.size))
    if any(one.size not in (1, result.size) for one in operands):  # vectors, some of all threads
        shape = np.broadcast_shapes(x.shape, y.shape, z.shape)
        operands = [np.ascontiguousarray(np.broadcast_to(one, shape)) for one in operands]
        result = np.empty(shape, dtype)
    strides = [int(one.size > 1) for one in operands]
    call, _ = _loop(*{"f": ("float", "32"), "d": ("double", "64")}[dtype.char])
    call(*[one.ctypes.data for one in (*operands, result)], *strides, result.size)
    return result
