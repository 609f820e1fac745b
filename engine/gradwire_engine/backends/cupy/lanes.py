"""Work that a GPU does in order, by one thread at a time, and copies from and to the host."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from concurrent.futures import Executor, Future, wait
from itertools import count
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll

#: Bytes that are copied at a time, and pieces of page-locked memory that copies go through.
_PIECE, _PIECES = 2 << 20, 16
#: Looks at the GPU without pause, which take some milliseconds in all, and seconds between others.
_BUSY, _PAUSE = 4000, 5e-5
_DONE = Future[None]()
_DONE.set_result(None)


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
        filled = deque[tuple[int, int, int, Future[None]]]()

        def send() -> None:
            place, begin, size, done = filled[0]
            done.result()
            filled.popleft()
            to = target.data + begin
            to.copy_from_host_async(_pointer(self._pieces[place]), size, self.stream)
            self._copied[place].record(self.stream)

        try:
            for begin in range(0, flat.nbytes, _PIECE):
                if len(filled) == _PIECES:
                    send()
                piece = flat[begin : begin + _PIECE]
                place, memory = self._piece(piece.nbytes)
                done = self._copy(piece, memory, alone=flat.nbytes <= _PIECE)
                filled.append((place, begin, piece.nbytes, done))
            while filled:
                send()
        finally:
            wait([done for _, _, _, done in filled])

    def copy_from(self, source: Any, poll: Poll) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        target = np.empty(source.shape, source.dtype)
        source = self._cupy.ascontiguousarray(source)
        flat = target.reshape(-1).view(np.uint8)
        begun = deque[tuple[int, int, np.ndarray[Any, Any]]]()
        emptied = deque[Future[None]]()

        def take() -> None:
            place, begin, memory = begun.popleft()
            self._await(self._copied[place], poll)
            piece = flat[begin : begin + _PIECE]
            emptied.append(self._copy(memory, piece, alone=flat.nbytes <= _PIECE))

        try:
            for begin in range(0, flat.nbytes, _PIECE):
                if len(begun) == _PIECES // 2:
                    take()
                if len(emptied) == _PIECES // 2:
                    emptied.popleft().result()
                size = min(_PIECE, flat.nbytes - begin)
                place, memory = self._piece(size)
                to = _pointer(self._pieces[place])
                (source.data + begin).copy_to_host_async(to, size, self.stream)
                self._copied[place].record(self.stream)
                begun.append((place, begin, memory))
            while begun:
                take()
        finally:
            wait(emptied)
        return target

    def _copy(
        self, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any], *, alone: bool
    ) -> Future[None]:
        """Copy by another thread, unless there is nothing else to copy."""
        if not alone:
            return self._copiers.submit(np.copyto, target, source)
        np.copyto(target, source)
        return _DONE

    def _piece(self, size: int) -> tuple[int, np.ndarray[Any, Any]]:
        """Page-locked memory that no copy is using any more."""
        place = self._next
        self._next = (place + 1) % _PIECES
        self._copied[place].synchronize()
        return place, np.frombuffer(self._pieces[place], np.uint8, size)


def _pointer(memory: Any) -> Any:
    return ctypes.c_void_p(memory.ptr)
