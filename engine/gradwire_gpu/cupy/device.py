"""A GPU: its memory, what stays there, and the lanes on which it computes and inputs arrive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from gradwire_engine.answer import Poll
from gradwire_engine.backends.devices import GpuLost, GpuUnavailable, OutOfGpuMemory
from gradwire_engine.locks import locked
from gradwire_engine.tape import DType

from gradwire_gpu.cupy.lanes import Lane

#: Bytes of a result that are worth keeping.
KEPT_BYTES = 1 << 20
#: Threads that copy from and to page-locked memory.
_COPIERS = 4
#: CUDA's errors after which nothing works: lost devices, and contexts that faults have ended.
_FATAL = frozenset((46, 100, 101, 201, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999))


class ResidentCopies:
    """Copies of arrays that nobody can write to and that come again, as long as these live.

    What was computed here is kept at once, other arrays when they come a second time.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}
        self._results: dict[int, tuple[Any, Any]] = {}

    def find(self, x: np.ndarray[Any, Any], upload: Any) -> Any | None:
        """The copy of an array that came before; none when it first comes."""
        if not _is_constant(x):
            return None
        number = id(x)
        known = self._known.get(number)
        if known is None or known[0]() is not x:
            self._remember(self._known, x, None)
            return None
        alive, copy = known
        if copy is None:
            copy = upload(x)
            self._known[number] = alive, copy
        return copy

    def keep(self, result: np.ndarray[Any, Any], copy: Any) -> None:
        """Keep what was computed here for the array that it was copied to."""
        result.flags.writeable = False
        self._remember(self._results, result, copy)

    def result(self, x: np.ndarray[Any, Any]) -> Any | None:
        """The array computed here that an array was copied from, be it reshaped since."""
        root = x
        while isinstance(root.base, np.ndarray):
            root = root.base
        alive, copy = self._results.get(id(root), (None, None))
        if alive is None or alive() is not root or not _is_constant(x):
            return None
        if x.dtype != root.dtype or x.size != root.size or not x.flags.c_contiguous:
            return None
        return copy.reshape(x.shape)

    def forget(self) -> bool:
        """Free all copies; false if there are none."""
        # of copies of the dictionaries, which other threads change
        held = [copy for kept in (self._known, self._results) for _, copy in kept.copy().values()]
        self._known.clear()
        self._results.clear()
        return any(copy is not None for copy in held)

    @staticmethod
    def _remember(kept: dict[int, tuple[Any, Any]], x: np.ndarray[Any, Any], copy: Any) -> None:
        number = id(x)
        kept[number] = ref(x, lambda _: kept.pop(number, None)), copy


def _is_constant(x: Any) -> bool:
    """True if nobody can write to an array, nor to what it is a view of."""
    while isinstance(x, np.ndarray):
        if x.flags.writeable:
            return False
        x = x.base
    return x is None or isinstance(x, bytes) or (isinstance(x, memoryview) and x.readonly)


class Staged(NamedTuple):
    """Inputs on the device, and which of them later replays find in the same place.

    They may be read once ``arrived`` has been waited for, if there is such an event, and must be
    held until the replay ends.
    """

    arrays: Sequence[Any]
    stay: Sequence[bool]
    arrived: Any | None


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
        self.memory_bytes = self.total_bytes if memory_bytes is None else memory_bytes
        self.pool = cupy.cuda.MemoryPool()
        if memory_bytes is not None:
            self.pool.set_limit(memory_bytes)
        self.residents = ResidentCopies()
        self.lost = False
        self._errors = cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError
        #: Where everything is computed, and where inputs come while others are.
        copiers = ThreadPoolExecutor(_COPIERS, "gradwire-copies")
        self._computing, self._arriving = Lane(cupy, copiers), Lane(cupy, copiers)
        self.stream = self._computing.stream
        self.copied, self.copy_from = self._computing.copied, self._computing.copy_from
        self.copies_from, self.wait = self._computing.copies_from, self._computing.wait

    @property
    def free_bytes(self) -> int:
        """Bytes that neither this process nor another has.

        Raises: ``GpuLost``.
        """
        try:
            free, _ = self.cupy.cuda.runtime.memGetInfo()
        except self._errors as error:
            self.end_if_lost(error)
            raise
        return int(free)

    @contextmanager
    def working(self, poll: Poll) -> Iterator[None]:
        """Work of one thread at a time, on the stream, with memory of the pool.

        Raises: ``OutOfGpuMemory``, ``GpuLost``.
        """
        with self._using(self._computing, poll):
            try:
                yield
            except BaseException:
                # the inputs are freed now, which the device may still read: nothing arrives there
                # before it is done
                self._arriving.follow(self._computing)
                raise

    def staged(self, inputs: Sequence[Any], poll: Poll) -> Staged:
        """Inputs on the device, copied while others compute.

        Raises: ``OutOfGpuMemory``, ``GpuLost``.
        """
        if all(isinstance(x, self.cupy.ndarray) for x in inputs):
            return Staged(inputs, [True] * len(inputs), None)
        with self._using(self._arriving, poll):
            known = [self._known(x) for x in inputs]
            sent = [number for number, (place, _) in enumerate(known) if place is None]
            arrays = [place for place, _ in known]
            copies = self._arriving.copies([np.asarray(inputs[number]) for number in sent])
            for number, copy in zip(sent, copies, strict=True):
                arrays[number] = copy
            arrived = self.cupy.cuda.Event(block=False, disable_timing=True)
            arrived.record(self._arriving.stream)
        return Staged(arrays, [stays for _, stays in known], arrived)

    def _known(self, x: Any) -> tuple[Any, bool]:
        """An input that is on the device, and whether later replays find it in the same place."""
        if isinstance(x, self.cupy.ndarray):
            return x, True
        if isinstance(x, np.ndarray) and not x.flags.writeable:
            computed = self.residents.result(x)
            if computed is not None:
                return computed, False
            resident = self.residents.find(x, self._arriving.copied)
            if resident is not None:
                return resident, True
        return None, False

    def brought(self, x: Any, poll: Poll, dtype: DType | None = None) -> np.ndarray[Any, Any]:
        """A result on the host; what is large is kept here, too, until the host forgets it."""
        copy = None
        if x.nbytes >= KEPT_BYTES:
            with suppress(self.cupy.cuda.memory.OutOfMemoryError):  # then it is not kept
                copy = x.copy()
        result = self.copy_from(x, poll, dtype)
        if copy is not None:
            self.residents.keep(result, copy)
        return result

    @contextmanager
    def _using(self, lane: Lane, poll: Poll) -> Iterator[None]:
        with locked(lane.lock, poll):
            if self.lost:
                raise GpuLost("the GPU was lost before")
            cuda = self.cupy.cuda
            try:
                with cuda.using_allocator(self.pool.malloc), lane.stream:
                    yield
            except self._errors as error:
                self.end_if_lost(error)
                raise
            except cuda.memory.OutOfMemoryError as error:
                freed = self.residents.forget()
                self.pool.free_all_blocks()
                raise OutOfGpuMemory(str(error), freed=freed) from error

    def end_if_lost(self, error: Exception) -> None:
        """Say of an error whether it is one of CUDA's after which nothing works.

        Raises: ``GpuLost``.
        """
        if isinstance(error, self._errors) and error.status in _FATAL:
            self.lost = True
            raise GpuLost(str(error)) from error
