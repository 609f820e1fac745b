"""Calls of kernels on memory between pages that nobody may touch."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np
from gradwire_engine.backends.llvm.calls import tables
from gradwire_engine.backends.llvm.compiler import load_text
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.kernels.form import COMPLEX, Buffer, Kernel, Repeat

_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def is_callable(kernel: Kernel) -> bool:
    """Whether one call is all that it takes: not where passes are made some at a time."""
    return not any(isinstance(step, Repeat) and step.passes is None for step in kernel.nests)


def ends_well(kernel: Kernel, rng: Any) -> bool:
    """Whether a child process lives on after the kernel was called on random numbers.

    Its buffers end at a page that may not be touched, then they begin behind one. What was in
    memory before is 0, then NaN or -1: it must not matter.
    """
    code = load_text(Printer(kernel, "kernel").text())
    values = [_values(buffer, rng) for buffer in kernel.buffers[: kernel.operands]]
    child = os.fork()
    if not child:
        found = [_call(kernel, code.address, values, at_end=at_end) for at_end in (True, False)]
        os._exit(found[0] != found[1])
    _, status = os.waitpid(child, 0)
    return status == 0


def _values(buffer: Buffer, rng: Any) -> np.ndarray:
    """Some of them huge, or far from what an index may be."""
    dtype = np.dtype(buffer.char)
    if dtype.kind == "b":
        return np.asarray(rng.random(buffer.shape) < 0.5)
    if dtype.kind == "i":
        far = rng.random() < 0.3
        return np.asarray(
            rng.integers(-(2**31) if far else -3, 2**31 - 1 if far else 3, buffer.shape), dtype
        )
    usual = rng.normal(size=buffer.shape)
    special = rng.choice([np.nan, np.inf, -1e300, 0.0], buffer.shape)
    found = np.where(rng.random(buffer.shape) < 0.02, special, usual)
    with np.errstate(over="ignore"):
        return np.asarray(found * (1 + 1j) if buffer.char in COMPLEX else found, dtype)


def _call(kernel: Kernel, address: int, values: list[np.ndarray], *, at_end: bool) -> list[bytes]:
    """The results and what flags tell; nothing if an index is out of range."""
    begun = {*kernel.flags, *kernel.faults, *kernel.statuses}
    pointers: list[int] = []
    sizes: list[int] = []
    for number, buffer in enumerate(kernel.buffers[: kernel.passed]):
        if number < kernel.operands:
            given = values[number].tobytes()
        else:
            size = np.zeros(buffer.shape, buffer.char).nbytes
            given = (b"\0" if at_end or number in begun else b"\xff") * size
        sizes.append(len(given))
        pointers.append(_guarded(given, at_end=at_end))
    pointers += [_guarded(table.tobytes(), at_end=at_end) for table in tables(kernel)]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)((ctypes.c_void_p * len(pointers))(*pointers))
    if any(ctypes.string_at(pointers[number], 1) != b"\0" for number in kernel.faults):
        return []
    told = [*{place.buffer for place in kernel.results}, *kernel.flags, *kernel.statuses]
    return [
        _without_signs(ctypes.string_at(pointers[k], sizes[k]), kernel.buffers[k].char)
        for k in told
    ]


def _without_signs(given: bytes, char: str) -> bytes:
    """The same with all NaN alike."""
    array = np.frombuffer(given, char).copy()
    if array.dtype.kind in "fc":
        parts = array.view(array.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return array.tobytes()


def _guarded(given: bytes, *, at_end: bool) -> int:
    """The address of a copy of these bytes."""
    room = -(-max(len(given), 1) // _PAGE) * _PAGE
    first: int = _LIBC.mmap(None, room + 2 * _PAGE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for page in (first, first + _PAGE + room):
        assert not _LIBC.mprotect(page, _PAGE, 0)
    at = first + _PAGE + (room - len(given) if at_end else 0)
    ctypes.memmove(at, given, len(given))
    return at
