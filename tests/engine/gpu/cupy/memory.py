"""The memory of a simulated GPU: what is allocated, by whom, and copies from and to the host."""

from __future__ import annotations

import ctypes
import threading
from bisect import bisect_right, insort
from collections.abc import Callable
from typing import Any
from weakref import finalize, ref

import numpy as np

_LOST = 700


class CudaError(RuntimeError):
    """An error of CUDA's, by its number."""

    def __init__(self, status: int, message: str = "an error of CUDA's") -> None:
        super().__init__(message)
        self.status = status


class OutOfMemoryError(MemoryError):
    """A pool has no memory left."""


class Memory:
    """All arrays on the device, by their addresses."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._addresses: list[int] = []
        self._roots: dict[int, Any] = {}
        #: Says of each allocation from a pool whether it fails.
        self.refuses: Callable[[], bool] = lambda: False
        #: Bytes that have come from the host.
        self.received = 0

    def add(self, root: np.ndarray[Any, Any], pool: Pool | None) -> None:
        """Take an array as memory of a pool, and leave it uninitialised."""
        if pool is not None:
            if self.refuses():
                raise OutOfMemoryError(f"{root.nbytes} bytes are refused")
            pool.take(root.nbytes)
            finalize(root, pool.give, root.nbytes)
        _bytes(root)[:] = 0xFF
        address = root.ctypes.data
        with self._lock:
            assert address not in self._roots
            insort(self._addresses, address)
            self._roots[address] = ref(root)
        finalize(root, self._forget, address)

    def _forget(self, address: int) -> None:
        with self._lock:
            self._addresses.remove(address)
            del self._roots[address]

    def at(self, address: int) -> np.ndarray[Any, Any]:
        """The bytes from an address to the end of its allocation."""
        with self._lock:
            place = bisect_right(self._addresses, address) - 1
            root = self._roots[self._addresses[place]]() if place >= 0 else None
        if root is None or address >= root.ctypes.data + max(root.nbytes, 1):
            raise CudaError(_LOST, f"nothing is allocated at {address:#x}")
        return _bytes(root)[address - root.ctypes.data :]

    def has(self, array: np.ndarray[Any, Any]) -> bool:
        """True if an array is a view of memory of the device, or of none."""
        if not array.size:
            return True
        try:
            return bool(np.may_share_memory(self.at(array.ctypes.data), array))
        except CudaError:
            return False


MEMORY = Memory()


class Pool:
    """CuPy's ``MemoryPool``: so many bytes at most, perhaps of another pool.

    What it has from another it keeps when that is free, until it is asked for it or ends.
    """

    def __init__(self, allocator: Callable[[int], Any] | None = None) -> None:
        self._parent: Pool | None = getattr(allocator, "__self__", None)
        self._limit: int | None = None
        self._used = self._kept = 0

    def __del__(self) -> None:
        self.free_all_blocks()

    def set_limit(self, size: int) -> None:
        """Take at most so many bytes."""
        self._limit = size

    def malloc(self, size: int) -> Pointer:
        """Memory of its own."""
        root = np.empty(size, np.uint8)
        MEMORY.add(root, self)
        return Pointer(root, root.ctypes.data)

    def free_all_blocks(self) -> None:
        """Give back what is not used."""
        kept, self._kept = self._kept, 0
        if self._parent is not None:
            self._parent.give(kept)

    def used_bytes(self) -> int:
        """Bytes of arrays."""
        return self._used

    def take(self, size: int) -> None:
        """Count bytes as used. Raises: ``OutOfMemoryError``."""
        if self._limit is not None and self._used + size > self._limit:
            raise OutOfMemoryError(f"{self._used} of {self._limit} bytes are used, of {size} more")
        reused = min(size, self._kept)
        if self._parent is not None:
            self._parent.take(size - reused)
        self._kept -= reused
        self._used += size

    def give(self, size: int) -> None:
        """Count bytes as free."""
        self._used -= size
        if self._parent is not None:
            self._kept += size


class Pointer:
    """CuPy's ``MemoryPointer``, which keeps what it points to."""

    def __init__(self, owner: Any, ptr: int) -> None:
        self._owner, self.ptr = owner, ptr

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self._owner, self.ptr + offset)

    def memset_async(self, value: int, size: int, stream: Any) -> None:
        """Fill with a byte."""
        to = MEMORY.at(self.ptr)[:size]
        stream.add(lambda: to.fill(value))

    def copy_from_host_async(self, source: ctypes.c_void_p, size: int, stream: Any) -> None:
        """Copy from page-locked memory."""
        MEMORY.received += size
        to, begin = MEMORY.at(self.ptr)[:size], source.value
        stream.add(lambda: to.__setitem__(slice(None), _host(begin, size)))

    def copy_from_device_async(self, source: Pointer, size: int, stream: Any) -> None:
        """Copy within the device."""
        to, of = MEMORY.at(self.ptr)[:size], MEMORY.at(source.ptr)[:size]
        stream.add(lambda: to.__setitem__(slice(None), of))

    def copy_to_host_async(self, target: ctypes.c_void_p, size: int, stream: Any) -> None:
        """Copy to page-locked memory."""
        of, begin = MEMORY.at(self.ptr)[:size], target.value
        stream.add(lambda: _host(begin, size).__setitem__(slice(None), of))


def _host(begin: int | None, size: int) -> np.ndarray[Any, Any]:
    assert begin is not None
    return np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(begin))


def alloc_pinned_memory(size: int) -> Any:
    """Page-locked memory: a buffer with its address."""
    address = property(ctypes.addressof)
    return type("PinnedMemoryPointer", (ctypes.c_ubyte * size,), {"ptr": address})()


def _bytes(root: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    flat: np.ndarray[Any, Any] = root.ravel(order="K").view(np.uint8)
    assert np.may_share_memory(flat, root) or not root.size
    return flat


def root_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
