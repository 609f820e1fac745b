"""A GPU as far as it can be without one: memory, streams, graphs, modules and cuBLAS of CuPy's.

    with simulated() as machine:
        backend = CupyBackend(compile_texts=texts_alone)

Nothing is done until somebody waits for it, piece by piece: memory holds 0xFF until then, so what
is read, written again or freed too early gives other numbers. Kernels are run by the interpreter of
GPU code, whatever CuPy computes by the double.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from gradwire_gpu.cupy.products import Products

from tests.engine.gpu.cupy.cublas import Cublas
from tests.engine.gpu.cupy.double import Array, on_device, working
from tests.engine.gpu.cupy.memory import (
    MEMORY,
    CudaError,
    OutOfMemoryError,
    Pointer,
    Pool,
    alloc_pinned_memory,
    root_of,
)
from tests.engine.gpu.cupy.modules import doubled
from tests.engine.gpu.nvptx.simt.program import Program

#: CUDA's number of what a stream does not do while it is captured.
_CAPTURING = 900


class Stream:
    """CuPy's ``Stream``: work in order, which is done when somebody waits for it."""

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self._waiting = deque[Callable[[], None]]()
        self._captured: list[Callable[[], None]] | None = None
        self._lock = threading.RLock()
        self.asked = self.finished = 0
        self.ptr = id(self)

    def __enter__(self) -> Stream:
        MACHINE.here.streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        MACHINE.here.streams.pop()

    def add(self, work: Callable[[], None]) -> None:
        """Do something later, or note it for a graph."""
        MACHINE.check()
        with self._lock:
            if self._captured is not None:
                self._captured.append(work)
                return
            self._waiting.append(work)
            self.asked += 1

    @property
    def capturing(self) -> bool:
        """True while work is noted for a graph."""
        return self._captured is not None

    def finish(self, number: int | None = None) -> None:
        """Do what was asked for, or only as much of it."""
        with self._lock:
            if self._captured is not None:
                raise CudaError(_CAPTURING, "nothing may wait while a stream is captured")
            end = self.asked if number is None else number
            while self.finished < end:
                work = self._waiting.popleft()
                self.finished += 1
                work()

    def synchronize(self) -> None:
        """Wait for everything."""
        self.finish()

    def wait_event(self, event: Event) -> None:
        """Do what comes later after what another stream was asked for before the event."""
        self.add(event.synchronize)

    def begin_capture(self, mode: int | None = None) -> None:
        """Note what is asked for from here on."""
        self._captured = []

    def end_capture(self) -> Graph:
        """What was noted."""
        assert self._captured is not None
        graph, self._captured = Graph(self._captured), None
        return graph


class Graph:
    """CuPy's ``Graph``: work that can be done again."""

    def __init__(self, captured: Sequence[Callable[[], None]]) -> None:
        self._captured = captured

    def launch(self, stream: Stream) -> None:
        """Do all of it again."""
        for work in self._captured:
            stream.add(work)


class Event:
    """CuPy's ``Event``: a place in the work of a stream."""

    def __init__(self, block: bool = False, disable_timing: bool = False) -> None:
        self._stream: Stream | None = None
        self._number = 0

    def record(self, stream: Stream) -> None:
        """Be the place behind what was asked for before."""
        self._stream, self._number = stream, stream.asked

    @property
    def done(self) -> bool:
        """True if what was asked for before has been done; a look lets the device do something."""
        if self._stream is None or self._stream.finished >= self._number:
            return True
        self._stream.finish(self._stream.finished + 1)
        return False

    def synchronize(self) -> None:
        """Wait until that has been done."""
        if self._stream is not None:
            self._stream.finish(self._number)


class Module:
    """CuPy's ``Module``; what it loads is the text that PTX would be made of."""

    def load(self, code: bytes) -> None:
        """Take a text."""
        self._program = _program(code.decode())

    def get_function(self, name: str) -> Callable[..., None]:
        """A function that launches a kernel."""

        def launch(grid: Sequence[int], block: Sequence[int], given: Sequence[Any]) -> None:
            places = sorted({int(x) for x in given if isinstance(x, np.uint64)})
            behind = dict(pairwise(places))
            arguments: list[Any] = []
            for x in given:
                if isinstance(x, np.uint64):
                    # Another argument is not reached by this one.
                    size = behind.get(int(x), sys.maxsize) - int(x)
                    arguments.append(MEMORY.at(int(x))[:size])
                else:
                    arguments.append(x.item())
            MACHINE.stream.add(
                lambda: self._program.launch(name, grid[0], block[0], arguments, races=False)
            )

        return launch


@lru_cache(maxsize=512)
def _program(text: str) -> Program:
    return Program(text)


class Here(threading.local):
    """The streams and allocators that are in use in a thread, the latest last."""

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.pools: list[Pool] = []


class Machine:
    """The device: what CuPy's arrays are computed on while it is simulated."""

    def __init__(self) -> None:
        self.here, self.cublas = Here(), Cublas(MEMORY.at)
        #: CUDA fails with this status from now on.
        self.fails: int | None = None
        self.copies = 0

    @property
    def stream(self) -> Stream:
        """The one that is in use."""
        return self.here.streams[-1]

    def check(self) -> None:
        """Fail if that was asked for."""
        if self.fails is not None:
            raise CudaError(self.fails)

    # What the double asks for

    def result(self, compute: Callable[[], Any]) -> Any:
        """Arrays for what will be computed."""
        with np.errstate(all="ignore"):
            made = on_device(compute())
        new = [x for x in _arrays(made) if not MEMORY.has(x.on_device)]
        if not new:
            return made
        for x in new:
            if not x.on_device.flags.writeable:
                x.on_device = x.on_device.copy()
        fresh = [x.on_device for x in new]
        for root in {id(root): root for root in map(root_of, fresh)}.values():
            self._take(root)

        def again() -> None:
            with np.errstate(all="ignore"):
                new = on_device(compute())
            for old, x in zip(_arrays(made), _arrays(new), strict=True):
                if any(old.on_device is array for array in fresh):
                    np.copyto(old.on_device, x.on_device)

        self.stream.add(again)
        return made

    def change(self, write: Callable[[], Any]) -> None:
        """Write later."""
        self.stream.add(write)

    def wait(self) -> None:
        """Wait for the device."""
        self.stream.finish()

    def pointer(self, array: np.ndarray[Any, Any]) -> Pointer:
        """The address of an array."""
        return Pointer(array, array.ctypes.data)

    # What CuPy's modules have

    @property
    def _pool(self) -> Pool | None:
        return self.here.pools[-1] if self.here.pools else None

    def empty(self, shape: Any, dtype: Any = float) -> Array:
        """An array that nobody has written."""
        array = np.empty(shape, dtype)
        self._take(array)
        return Array(array)

    def _take(self, root: np.ndarray[Any, Any]) -> None:
        """Take an array as memory, of which work that is waiting still holds some here alone."""
        try:
            MEMORY.add(root, self._pool)
        except OutOfMemoryError:
            if self.stream.capturing:
                raise
            self.stream.finish()
            MEMORY.add(root, self._pool)

    def alloc(self, size: int) -> Pointer:
        """Memory of the allocator in use."""
        return (self._pool or Pool()).malloc(size)

    @contextmanager
    def using_allocator(self, malloc: Callable[[int], Any]) -> Iterator[None]:
        """Take memory of a pool."""
        self.here.pools.append(malloc.__self__)  # type: ignore[attr-defined]
        try:
            yield
        finally:
            self.here.pools.pop()

    @property
    def cuda(self) -> Any:
        """``cupy.cuda``."""
        properties = {"name": b"Simulated", "major": 8, "minor": 0, "totalGlobalMem": 1 << 30}
        return SimpleNamespace(
            Device=lambda _: _Nothing(),
            Event=Event,
            MemoryPool=Pool,
            Stream=Stream,
            alloc=self.alloc,
            alloc_pinned_memory=alloc_pinned_memory,
            device=SimpleNamespace(get_cublas_handle=lambda: 1),
            driver=SimpleNamespace(CUDADriverError=CudaError),
            function=SimpleNamespace(Module=Module),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=SimpleNamespace(
                CUDARuntimeError=CudaError,
                getDeviceCount=lambda: 1,
                getDeviceProperties=lambda _: properties,
                memGetInfo=self._memory,
                runtimeGetVersion=lambda: 13000,
            ),
            using_allocator=self.using_allocator,
        )

    def _memory(self) -> tuple[int, int]:
        self.check()
        return 1 << 29, 1 << 30


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _arrays(made: Any) -> Iterator[Array]:
    if isinstance(made, Array):
        yield made
    elif isinstance(made, list | tuple):
        for each in made:
            yield from _arrays(each)


MACHINE = Machine()


def texts_alone(texts: Sequence[str], _whose: str = "") -> Sequence[bytes]:
    """No PTX: the interpreter takes the texts themselves."""
    return [text.encode() for text in texts]


@contextmanager
def simulated() -> Iterator[Machine]:
    """A GPU for ``gpu_backend``, with CuPy's modules replaced by doubles."""
    MACHINE.fails = None
    library = Products._library
    with doubled(), working(MACHINE):
        cupy = sys.modules["cupy"]
        cupy.cuda, cupy.empty = MACHINE.cuda, MACHINE.empty  # type: ignore[attr-defined]
        Products._library = property(lambda _: MACHINE.cublas)  # type: ignore[assignment, method-assign]
        try:
            yield MACHINE
        finally:
            Products._library = library  # type: ignore[method-assign]
