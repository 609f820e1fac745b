"""Calls elementary functions of all forms on arrays, and draws their arguments."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from gradwire_engine.backends.llvm.compiler import Code, Source, compile_here
from gradwire_engine.backends.llvm.functions.forms import DOUBLES, SINGLES, VECTORS, Form
from gradwire_engine.backends.llvm.functions.library import (
    library,
    operands,
    symbol,
    usual_symbol,
)

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324]
SPECIAL += [2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308]
SPECIAL += [1e-45, 2.0**-126, 3.4028234663852886e38]
SPECIAL += [0.5, -0.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, 1e5, -1e5, 1e300, -1e300, 2.0**53]

#: A form, and the features that its code is compiled without.
Compiled: TypeAlias = tuple[Form, str]
OF_VECTORS: list[Compiled] = [(VECTORS, ""), (VECTORS, "avx512")]
ALL: list[Compiled] = [*OF_VECTORS, (DOUBLES, ""), (SINGLES, "")]


def dtype_of(form: Form) -> type[np.floating[Any]]:
    """NumPy's type of a form's elements."""
    return np.float32 if form.single else np.float64


@cache
def compiled(of: Compiled) -> Code:
    """All functions."""
    form, without = of
    (code,) = compile_here([Source(library(form))], without=without)
    return Code(code, symbol("exp", form))


@cache
def arrays(name: str, of: Compiled = OF_VECTORS[0]) -> Callable[..., np.ndarray]:
    """A function of whole arrays by machine code that calls a form's function for all elements."""
    form, _ = of
    given = ", ".join([f"{form.numbers} %x{k}" for k in range(operands(name))])
    call = f"  %z = call {form.numbers} %function({given})\n"
    return _called(symbol(name, form), operands(name), call, of)


@cache
def usually(name: str, form: Form) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """What a function of one number usually does for all elements, and of which it refuses to."""
    both = f"{{ {form.element}, i1 }}"
    parts = [
        _called(
            usual_symbol(name, form),
            1,
            f"  %both = call {both} %function({form.element} %x0)\n"
            f"  %value = extractvalue {both} %both, 0\n"
            f"  %refused = extractvalue {both} %both, 1\n"
            f"  %z = {given}\n",
            (form, ""),
        )
        for given in (
            f"fadd {form.element} %value, -0.0",
            f"uitofp i1 %refused to {form.element}",
        )
    ]
    return lambda x: (parts[0](x), parts[1](x) != 0)


def _called(function: str, count: int, call: str, of: Compiled) -> Callable[..., np.ndarray]:
    """Machine code that calls a ``%function`` of ``%x0``, ... for ``%z`` of all elements."""
    form, without = of
    kind, arguments = form.numbers, range(count)
    loads = [
        f"  %p{k} = getelementptr ptr, ptr %pointers, i64 {k}\n  %q{k} = load ptr, ptr %p{k}\n"
        f"  %a{k} = getelementptr {form.element}, ptr %q{k}, i64 %i\n"
        f"  %x{k} = load {kind}, ptr %a{k}, align 4\n"
        for k in arguments
    ]
    address = compiled(of).address_of(function)
    text = (
        f"define void @kernel(ptr %pointers, i64 %n) {{\nentry:\n  br label %next\nnext:\n"
        f"  %i = phi i64 [ 0, %entry ], [ %j, %next ]\n{''.join(loads)}"
        f"  %function = inttoptr i64 {address} to ptr\n{call}"
        f"  %to = getelementptr ptr, ptr %pointers, i64 {len(arguments)}\n"
        f"  %out = load ptr, ptr %to\n  %at = getelementptr {form.element}, ptr %out, i64 %i\n"
        f"  store {kind} %z, ptr %at, align 4\n  %j = add i64 %i, {form.lanes}\n"
        "  %more = icmp slt i64 %j, %n\n  br i1 %more, label %next, label %done\n"
        "done:\n  ret void\n}\n"
    )
    loaded = Code(compile_here([Source(text)], without=without)[0], "kernel")
    code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(loaded.address)
    dtype = dtype_of(form)

    def compute(*xs: np.ndarray) -> np.ndarray:
        if not xs[0].size:
            return np.empty(0, dtype)
        n = -(-xs[0].size // form.lanes) * form.lanes
        padded = [
            np.concatenate([x, np.repeat(x[-1:], n - x.size)]).astype(dtype, casting="no")
            for x in xs
        ]
        z = np.empty(n, dtype)
        pointers = np.array([x.ctypes.data for x in [*padded, z]], np.uint64)
        assert loaded.address  # it lives as long as this function
        code(pointers.ctypes.data, n)
        return z[: xs[0].size]

    return compute


def held(x: np.ndarray, form: Form) -> np.ndarray:
    """Numbers of a form: those that floats do not have get a share of their exponents."""
    if not form.single:
        return x
    digits, exponents = np.frexp(x)
    share_of = np.where(exponents > 0, exponents * 127 // 1024, exponents * 149 // 1074)
    inside = (np.abs(x) < 3.4e38) & (np.abs(x) > 1e-38) | ~np.isfinite(x)
    return np.where(inside, x, np.ldexp(digits, share_of)).astype(np.float32)


def of_all_exponents(count: int, seed: int = 0) -> np.ndarray:
    """Numbers of either sign with random digits, some of each exponent, subnormal ones too."""
    rng = np.random.default_rng(seed)
    exponents = rng.permutation(np.resize(np.arange(2047, dtype=np.uint64), count))
    digits = rng.integers(0, 1 << 52, count, dtype=np.uint64)
    signs = rng.integers(0, 2, count, dtype=np.uint64)
    return ((signs << np.uint64(63)) | (exponents << np.uint64(52)) | digits).view(np.float64)


def of_moderate_size(count: int, seed: int = 1) -> np.ndarray:
    """Numbers where functions are neither linear nor constant."""
    rng = np.random.default_rng(seed)
    near = rng.normal(size=count) * rng.choice([1e-3, 0.3, 1.0, 5.0, 40.0, 300.0], count)
    return np.concatenate([near, np.nextafter(near, np.inf)])
