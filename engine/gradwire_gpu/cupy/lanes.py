"""Work that a GPU does in order, by one thread at a time, and copies from and to the host."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from itertools import count
from typing import Any

import numpy as np
from gradwire_engine.answer import Poll
from gradwire_engine.ops.promotion import BFLOAT16
from gradwire_engine.tape import DType

#: Bytes that are copied at a time, and pieces of page-locked memory that copies go through.
_PIECE, _PIECES = 2 << 20, 16
#: In a piece with several arrays each begins at a place that this divides.
_ALIGNMENT = 16
#: Looks at the GPU without pause, which take some milliseconds in all, and seconds between others.
_BUSY, _PAUSE = 4000, 5e-5


def device_dtype(dtype: DType) -> DType:
    """The dtype of arrays on a device: CuPy has no bfloat16, whose bits are held instead."""
    return np.dtype(np.uint16) if dtype == BFLOAT16 else dtype


class Lane:
    """A stream, who may use it, and page-locked memory that its copies go through.

    Several threads, the ``copiers``, fill and empty that memory: one is slower than the bus.
    """

    def __init__(self, cupy: Any, copiers: Executor) -> None:
        self._cupy, self._copiers = cupy, copiers
        self.lock = threading.Lock()
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self._paused = threading.Event()  # which nobody sets: waiting for it is a pause
        self._pieces = [cupy.cuda.alloc_pinned_memory(_PIECE) for _ in range(_PIECES)]
        self._copied = [cupy.cuda.Event(block=False, disable_timing=True) for _ in range(_PIECES)]
        self._next = 0

    def wait(self, poll: Poll) -> None:
        """Wait until all is done, looking at the deadline meanwhile."""
        event = self._cupy.cuda.Event(block=False, disable_timing=True)
        event.record(self.stream)
        self._await(event, poll)

    def follow(self, other: Lane) -> None:
        """Let the device do what comes here once it has done what it was given in the other."""
        event = self._cupy.cuda.Event(block=False, disable_timing=True)
        event.record(other.stream)
        self.stream.wait_event(event)

    def _await(self, event: Any, poll: Poll) -> None:
        for looks in count():
            if event.done:
                return
            poll()
            if looks > _BUSY:
                self._paused.wait(_PAUSE)

    def copied(self, x: Any) -> Any:
        """A copy of an array on the device."""
        (copy,) = self.copies([x])
        return copy

    def copies(self, arrays: Sequence[Any]) -> list[Any]:
        """Copies on the device; small ones pass through page-locked memory together."""
        made = [self._cupy.empty(x.shape, device_dtype(x.dtype)) for x in arrays]
        for group in _groups(made):
            if len(group) == 1:
                self.copy_to(arrays[group[0]], made[group[0]])
                continue
            place, memory = self._piece(_PIECE)
            begin = 0
            for number in group:
                x = made[number]
                memory[begin : begin + x.nbytes] = _bytes(arrays[number])
                pointer = _pointer(self._pieces[place], begin)
                x.data.copy_from_host_async(pointer, x.nbytes, self.stream)
                begin += _aligned(x.nbytes)
            self._copied[place].record(self.stream)
        return made

    def copies_from(
        self, sources: Sequence[tuple[Any, DType | None]], poll: Poll
    ) -> list[np.ndarray[Any, Any]]:
        """Copies on the host, of these dtypes if any; small ones are waited for together."""
        found = [np.empty(x.shape, x.dtype if dtype is None else dtype) for x, dtype in sources]
        for group in _groups(found):
            if len(group) == 1:
                x, dtype = sources[group[0]]
                found[group[0]] = self.copy_from(x, poll, dtype)
                continue
            place, memory = self._piece(_PIECE)
            begin, begins = 0, list[int]()
            for number in group:
                x, _ = sources[number]
                if not x.flags.c_contiguous:
                    x = self._cupy.ascontiguousarray(x)
                pointer = _pointer(self._pieces[place], begin)
                x.data.copy_to_host_async(pointer, x.nbytes, self.stream)
                begins.append(begin)
                begin += _aligned(x.nbytes)
            self._copied[place].record(self.stream)
            self._await(self._copied[place], poll)
            for number, begin in zip(group, begins, strict=True):
                target = _bytes(found[number])
                target[:] = memory[begin : begin + target.nbytes]
        return found

    def copy_to(self, source: np.ndarray[Any, Any], target: Any) -> None:
        """Copy from the host; what is copied may be changed when this returns."""
        flat = _bytes(source)
        if not flat.nbytes:
            return
        if flat.nbytes <= _PIECE:
            place, memory = self._piece(flat.nbytes)
            memory[:] = flat
            self._send(place, target.data, flat.nbytes)
            return
        filled = deque[tuple[int, int, int, Future[None]]]()

        def send() -> None:
            place, begin, size, done = filled[0]
            done.result()
            filled.popleft()
            self._send(place, target.data + begin, size)

        try:
            for begin in range(0, flat.nbytes, _PIECE):
                if len(filled) == _PIECES:
                    send()
                piece = flat[begin : begin + _PIECE]
                place, memory = self._piece(piece.nbytes)
                done = self._copiers.submit(np.copyto, memory, piece)
                filled.append((place, begin, piece.nbytes, done))
            while filled:
                send()
        finally:
            wait([done for _, _, _, done in filled])

    def copy_from(
        self, source: Any, poll: Poll, dtype: DType | None = None
    ) -> np.ndarray[Any, Any]:
        """A copy on the host, of what is of the ``dtype``."""
        target = np.empty(source.shape, source.dtype if dtype is None else dtype)
        if not target.nbytes:
            return target
        if not source.flags.c_contiguous:
            source = self._cupy.ascontiguousarray(source)
        flat = target.reshape(-1).view(np.uint8)
        if flat.nbytes <= _PIECE:
            place, memory = self._piece(flat.nbytes)
            self._fetch(place, source.data, flat.nbytes)
            self._await(self._copied[place], poll)
            flat[:] = memory
            return target
        begun = deque[tuple[int, int, np.ndarray[Any, Any]]]()
        emptied = deque[Future[None]]()

        def take() -> None:
            place, begin, memory = begun.popleft()
            self._await(self._copied[place], poll)
            piece = flat[begin : begin + _PIECE]
            emptied.append(self._copiers.submit(np.copyto, piece, memory))

        try:
            for begin in range(0, flat.nbytes, _PIECE):
                if len(begun) == _PIECES // 2:
                    take()
                if len(emptied) == _PIECES // 2:
                    emptied.popleft().result()
                size = min(_PIECE, flat.nbytes - begin)
                place, memory = self._piece(size)
                self._fetch(place, source.data + begin, size)
                begun.append((place, begin, memory))
            while begun:
                take()
        finally:
            wait(emptied)
        return target

    def _send(self, place: int, to: Any, size: int) -> None:
        to.copy_from_host_async(_pointer(self._pieces[place]), size, self.stream)
        self._copied[place].record(self.stream)

    def _fetch(self, place: int, of: Any, size: int) -> None:
        of.copy_to_host_async(_pointer(self._pieces[place]), size, self.stream)
        self._copied[place].record(self.stream)

    def _piece(self, size: int) -> tuple[int, np.ndarray[Any, Any]]:
        """Page-locked memory that no copy is using any more."""
        place = self._next
        self._next = (place + 1) % _PIECES
        self._copied[place].synchronize()
        return place, np.frombuffer(self._pieces[place], np.uint8, size)


def _pointer(memory: Any, begin: int = 0) -> Any:
    return ctypes.c_void_p(memory.ptr + begin)


def _bytes(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(x, order="C").reshape(-1).view(np.uint8)


def _aligned(nbytes: int) -> int:
    return nbytes + -nbytes % _ALIGNMENT


def _groups(arrays: Sequence[Any]) -> Iterator[list[int]]:
    """The numbers of arrays that go through one piece together; none without elements."""
    group, room = list[int](), _PIECE
    for number, x in enumerate(arrays):
        nbytes = _aligned(x.nbytes)
        if group and nbytes > room:
            yield group
            group, room = [], _PIECE
        if nbytes:
            group.append(number)
            room -= nbytes
    if group:
        yield group
