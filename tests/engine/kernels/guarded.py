"""Calls of kernels on memory between pages that nobody may touch."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
from typing import Any

import numpy as np
from gradwire_engine.backends.llvm.calls import tables
from gradwire_engine.backends.llvm.compiler import load_text
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.kernels.form import COMPLEX, Buffer, For, Kernel

_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def is_callable(kernel: Kernel) -> bool:
    """True if one call is all that it takes: not where passes are made some at a time."""
    return not any(isinstance(step, For) and step.passes is None for step in kernel.nests)


def ends_well(kernel: Kernel, rng: Any) -> bool:
    """True if a child process lives on after the kernel was called on random numbers.

    Its buffers end at a page that may not be touched, then they begin behind one. What was in
    memory before is 0, then NaN or -1: it must not matter.
    """
    code = load_text(Printer(kernel, "kernel").text())
    values = [_values(buffer, rng) for buffer in kernel.buffers[: kernel.operands]]
    calls = [_Call(kernel, values, at_end=at_end) for at_end in (True, False)]
    child = os.fork()
    if not child:
        faulthandler.disable()
        for each in calls:
            each.make(code.address)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = [each.end() for each in calls]
    return not status and found[0] == found[1]


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


class _Call:
    """A call of a kernel that a child process makes: its memory is shared with its parent."""

    def __init__(self, kernel: Kernel, values: list[np.ndarray], *, at_end: bool) -> None:
        self._kernel = kernel
        begun = {*kernel.flags, *kernel.faults, *kernel.statuses}
        given = [value.tobytes() for value in values]
        for number, buffer in enumerate(kernel.buffers[kernel.operands : kernel.passed]):
            is_begun = at_end or number + kernel.operands in begun
            size = np.zeros(buffer.shape, buffer.char).nbytes
            given.append((b"\0" if is_begun else b"\xff") * size)
        self._buffers = [_Guarded(each, at_end=at_end) for each in given]
        self._tables = [_Guarded(table.tobytes(), at_end=at_end) for table in tables(kernel)]
        pointers = [room.address for room in (*self._buffers, *self._tables)]
        self._pointers = (ctypes.c_void_p * len(pointers))(*pointers)

    def make(self, address: int) -> None:
        """Call the kernel, which is at this address."""
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(self._pointers)

    def end(self) -> list[bytes]:
        """The results and what flags tell, none if an index is out of range; free the memory."""
        found = [room.bytes() for room in self._buffers]
        for room in (*self._buffers, *self._tables):
            room.free()
        kernel = self._kernel
        if any(found[number][:1] != b"\0" for number in kernel.faults):
            return []
        told = [*{place.buffer for place in kernel.results}, *kernel.flags, *kernel.statuses]
        return [_without_signs(found[number], kernel.buffers[number].char) for number in told]


def _without_signs(given: bytes, char: str) -> bytes:
    """The same with all NaN alike."""
    array = np.frombuffer(given, char).copy()
    if array.dtype.kind in "fc":
        parts = array.view(array.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return array.tobytes()


class _Guarded:
    """A copy of bytes in memory that child processes share, between pages not to be touched."""

    def __init__(self, given: bytes, *, at_end: bool) -> None:
        self._length = len(given)
        room = -(-max(len(given), 1) // _PAGE) * _PAGE
        self._whole = room + 2 * _PAGE
        shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
        self._first: int = _LIBC.mmap(None, self._whole, 3, shared, -1, 0)
        for page in (self._first, self._first + _PAGE + room):
            assert not _LIBC.mprotect(page, _PAGE, 0)
        self.address = self._first + _PAGE + (room - len(given) if at_end else 0)
        ctypes.memmove(self.address, given, len(given))

    def bytes(self) -> bytes:
        """The present contents."""
        return ctypes.string_at(self.address, self._length)

    def free(self) -> None:
        """Give the memory back."""
        _LIBC.munmap(self._first, self._whole)
