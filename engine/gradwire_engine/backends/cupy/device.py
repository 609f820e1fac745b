"""A GPU: its memory, the stream of work that it does in order, and copies from and to the host."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from weakref import ref

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.devices import GpuLost, GpuUnavailable, OutOfGpuMemory
from gradwire_engine.locks import locked

#: Bytes that are copied at a time, and pieces of page-locked memory that copies go through.
_PIECE, _PIECES = 8 << 20, 4
#: Looks at the GPU without pause, which take some milliseconds in all, and seconds between others.
_BUSY, _PAUSE = 4000, 5e-5
#: CUDA's errors after which nothing works: lost devices, and contexts that faults have ended.
_FATAL = frozenset((46, 100, 101, 201, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999))


class Residents:
    """The copies of arrays that nobody can write to and that come again, as long as these live."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def find(self, x: np.ndarray[Any, Any], upload: Any) -> Any | None:
        """The copy of an array that came before; none when it first comes."""
        if not _is_constant(x):
            return None
        number = id(x)
        known = self._known.get(number)
        if known is None or known[0]() is not x:
            forget = self._known.pop
            self._known[number] = ref(x, lambda _: forget(number, None)), None
            return None
        alive, copy = known
        if copy is None:
            copy = upload(x)
            self._known[number] = alive, copy
        return copy

    def forget(self) -> None:
        """Free all copies."""
        self._known.clear()


def _is_constant(x: Any) -> bool:
    """True if nobody can write to an array, nor to what it is a view of."""
    while isinstance(x, np.ndarray):
        if x.flags.writeable:
            return False
        x = x.base
    return x is None or isinstance(x, bytes) or (isinstance(x, memoryview) and x.readonly)


class Device:
    """The GPU that CuPy finds, of whose memory at most ``memory_bytes`` are taken.

    Raises: ``GpuUnavailable``.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        try:
            import cupy
        except ImportError as error:
            raise GpuUnavailable(f"CuPy cannot be imported: {error}") from error
        self.cupy = cupy
        try:
            if not cupy.cuda.runtime.getDeviceCount():
                raise GpuUnavailable("CUDA finds no GPU")
            properties = cupy.cuda.runtime.getDeviceProperties(0)
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise GpuUnavailable(f"CUDA finds no GPU: {error}") from error
        self.name: str = properties["name"].decode()
        self.capability = int(properties["major"]), int(properties["minor"])
        self.total_bytes = int(properties["totalGlobalMem"])
        self.pool = cupy.cuda.MemoryPool()
        if memory_bytes is not None:
            self.pool.set_limit(memory_bytes)
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.residents = Residents()
        self.lost = False
        self._lock = threading.Lock()
        self._paused = threading.Event()  # which nobody sets: waiting for it is a pause
        self._pieces = [cupy.cuda.alloc_pinned_memory(_PIECE) for _ in range(_PIECES)]
        self._copied = [cupy.cuda.Event(block=False, disable_timing=True) for _ in range(_PIECES)]
        self._next = 0

    @property
    def free_bytes(self) -> int:
        """Bytes that neither this process nor another has."""
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        return int(free)

    @contextmanager
    def working(self, poll: Poll) -> Iterator[None]:
        """Work of one thread at a time, on the stream, with memory of the pool.

        Raises: ``OutOfGpuMemory``, ``GpuLost``.
        """
        with locked(self._lock, poll):
            if self.lost:
                raise GpuLost("the GPU was lost before")
            cuda = self.cupy.cuda
            try:
                with cuda.using_allocator(self.pool.malloc), self.stream:
                    yield
            except cuda.memory.OutOfMemoryError as error:
                self.residents.forget()
                self.pool.free_all_blocks()
                raise OutOfGpuMemory(str(error)) from error
            except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
                if error.status not in _FATAL:
                    raise
                self.lost = True
                raise GpuLost(str(error)) from error

    def wait(self, poll: Poll) -> None:
        """Wait until all is done, looking at the deadline meanwhile."""
        event = self.cupy.cuda.Event(block=False, disable_timing=True)
        event.record(self.stream)
        self._await(event, poll)

    def _await(self, event: Any, poll: Poll) -> None:
        for looks in count():
            if event.done:
                return
            poll()
            if looks > _BUSY:
                self._paused.wait(_PAUSE)

    # Copies

    def given(self, x: Any) -> Any | None:
        """An array on the device, if it is there already: it is one, or a copy is kept."""
        if isinstance(x, self.cupy.ndarray):
            return x
        return self.residents.find(x, self.copied) if isinstance(x, np.ndarray) else None

    def copied(self, x: Any) -> Any:
        """A copy of an array on the device."""
        copy = self.cupy.empty(x.shape, x.dtype)
        self.copy_to(x, copy)
        return copy

    def copy_to(self, source: np.ndarray[Any, Any], target: Any) -> None:
        """Copy from the host; what is copied may be changed when this returns."""
        flat = np.asarray(source, order="C").reshape(-1).view(np.uint8)
        for begin in range(0, flat.nbytes, _PIECE):
            piece = flat[begin : begin + _PIECE]
            place, memory = self._piece()
            np.frombuffer(memory, np.uint8, piece.nbytes)[:] = piece
            to = target.data + begin
            to.copy_from_host_async(_pointer(memory), piece.nbytes, self.stream)
            self._copied[place].record(self.stream)

    def copy_from(self, source: Any, poll: Poll) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        target = np.empty(source.shape, source.dtype)
        source = self.cupy.ascontiguousarray(source)
        flat = target.reshape(-1).view(np.uint8)
        begun: list[tuple[int, int, Any]] = []

        def finish() -> None:
            place, begin, memory = begun.pop(0)
            self._await(self._copied[place], poll)
            piece = flat[begin : begin + _PIECE]
            piece[:] = np.frombuffer(memory, np.uint8, piece.nbytes)

        for begin in range(0, flat.nbytes, _PIECE):
            if len(begun) == _PIECES - 1:
                finish()
            place, memory = self._piece()
            size = min(_PIECE, flat.nbytes - begin)
            (source.data + begin).copy_to_host_async(_pointer(memory), size, self.stream)
            self._copied[place].record(self.stream)
            begun.append((place, begin, memory))
        while begun:
            finish()
        return target

    def _piece(self) -> tuple[int, Any]:
        """Page-locked memory that no copy is using any more."""
        place = self._next
        self._next = (place + 1) % _PIECES
        self._copied[place].synchronize()
        return place, self._pieces[place]


def _pointer(memory: Any) -> Any:
    import ctypes

    return ctypes.c_void_p(memory.ptr)
