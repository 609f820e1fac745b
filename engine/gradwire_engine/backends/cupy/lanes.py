"""Work that a GPU does in order, by one thread at a time, and copies from and to the host."""

from __future__ import annotations

import ctypes
import threading
from itertools import count
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll

#: Bytes that are copied at a time, and pieces of page-locked memory that copies go through.
_PIECE, _PIECES = 8 << 20, 4
#: Looks at the GPU without pause, which take some milliseconds in all, and seconds between others.
_BUSY, _PAUSE = 4000, 5e-5


class Lane:
    """A stream, who may use it, and page-locked memory that its copies go through."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
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

    def _await(self, event: Any, poll: Poll) -> None:
        for looks in count():
            if event.done:
                return
            poll()
            if looks > _BUSY:
                self._paused.wait(_PAUSE)

    def copied(self, x: Any) -> Any:
        """A copy of an array on the device."""
        copy = self._cupy.empty(x.shape, x.dtype)
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
        source = self._cupy.ascontiguousarray(source)
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
    return ctypes.c_void_p(memory.ptr)
