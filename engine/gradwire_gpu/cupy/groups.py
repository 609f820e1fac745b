"""Groups of instructions that are computed by code of our own on a GPU."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Line
from gradwire_engine.backends.kernel_group import KernelGroup
from gradwire_engine.kernels.form import dtype_of
from gradwire_engine.kernels.partition import Part, Partition, partition
from gradwire_engine.kernels.scope import is_kernel
from gradwire_engine.ops.arrays.indexing import SetItem
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.sequences.cumulative import CumProd, CumSum
from gradwire_engine.tape import ArrayType, Tape, Type

from gradwire_gpu.cupy.device import Device
from gradwire_gpu.cupy.lanes import device_dtype
from gradwire_gpu.cupy.products import Products
from gradwire_gpu.nvptx.compiler import Compile
from gradwire_gpu.nvptx.launches import Launch, Passes, Program, program_of

#: Threads that have code compiled.
_COMPILERS = 8
#: Temporaries begin at addresses that this divides.
_LINE = 256
#: Elements for each thread of a running sum, from which on CuPy shares them among threads.
_LONG_SCAN = 64


def kernels_of(tape: Tape, poll: Poll) -> list[GpuKernel]:
    """The kernels of a tape."""
    found = partition(tape, poll, _is_kernel, on_device=True)
    return [GpuKernel(found, part, {*tape.outputs}) for part in found.parts]


def _is_kernel(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """True if threads compute an instruction side by side, or there is no other way."""
    if isinstance(op, SetItem) and ARRAY in op.pattern:  # of several for one place the last counts
        return False
    if isinstance(op, CumSum | CumProd) and isinstance(kind, ArrayType):
        length = kind.shape[op.axis]
        if length > _LONG_SCAN and kind.size // length < length * _LONG_SCAN:
            return False
    return is_kernel(op, kind, types)


class _Function:
    """A function on the device."""

    def __init__(self, module: Any, function: Any) -> None:
        self._module = module  # it lives as long
        self.launch = function


class _Call(NamedTuple):
    """A launch: the buffers that it takes, and what it takes beside them."""

    function: _Function
    grid: tuple[int]
    block: tuple[int]
    buffers: tuple[int, ...]
    given: tuple[Any, ...]
    counted: bool

    @classmethod
    def of(cls, launch: Launch, function: _Function) -> _Call:
        given = *map(np.int64, launch.integers), *map(np.float64, launch.numbers)
        grid, block = (launch.blocks,), (launch.threads,)
        return cls(function, grid, block, launch.buffers, given, launch.counted)

    def __call__(self, pointers: Mapping[int, int], turn: int) -> None:
        places = [np.uint64(pointers[number]) for number in self.buffers]
        last = (np.int64(turn),) if self.counted else ()
        self.function.launch(self.grid, self.block, (*places, *self.given, *last))


class Library:
    """A tenant's functions, each loaded once, which programs of one structure share.

    Beside them cuBLAS, whose memory all tenants share.
    """

    def __init__(
        self, device: Device, compile_texts: Compile, products: Products, whose: str = ""
    ) -> None:
        self.device, self._compile, self._whose = device, compile_texts, whose
        self.products = products
        self._functions: WeakValueDictionary[str, _Function] = WeakValueDictionary()

    def functions(self, texts: Iterable[str]) -> dict[str, _Function]:
        """The functions of launches: the driver compiles several at once."""
        found = {text: self._functions.get(text) for text in texts}
        missing = [text for text, known in found.items() if not known]
        if missing:
            codes = self._compile(missing, self._whose)
            with ThreadPoolExecutor(_COMPILERS) as pool:
                loaded = pool.map(self._loaded, codes)
                for text, function in zip(missing, loaded, strict=True):
                    found[text] = self._functions[text] = function
        return {text: function for text, function in found.items() if function is not None}

    def _loaded(self, code: bytes) -> _Function:
        with self.device.cupy.cuda.Device(0):
            module = self.device.cupy.cuda.function.Module()
            module.load(code)
            return _Function(module, module.get_function("kernel"))


class Zeroed(NamedTuple):
    """Where in the memory that begins with zeros the flags, faults and statuses of kernels are."""

    flags: Sequence[int]
    faults: Sequence[int]
    statuses: Sequence[int]
    end: int


class GpuKernel(KernelGroup):
    """Launches for the instructions of a part of a tape."""

    name = "gpu"

    def __init__(self, of: Partition, part: Part, outputs: Collection[int]) -> None:
        super().__init__(of, part, outputs)
        self.program: Program = program_of(self.form._replace(local=0))
        self.form = self.program.kernel
        self._dtypes = [device_dtype(dtype_of(buffer.char)) for buffer in self.form.buffers]
        self._known: list[Any] = []
        #: Launches that are made in each of some turns.
        self._calls: list[tuple[Sequence[_Call], range]] = []

    @property
    def nbytes(self) -> int:
        """Bytes of temporaries."""
        return sum([self.program.buffers[k].nbytes for k in self._temporary])

    @property
    def launches(self) -> list[Launch]:
        """All launches, those of passes once."""
        found: list[Launch] = []
        for order in self.program.orders:
            found += order.launches if isinstance(order, Passes) else [order]
        return found

    @property
    def launched(self) -> int:
        """The number of launches that compute it."""
        return sum([len(calls) * len(turns) for calls, turns in self._calls])

    @cached_property
    def _zeroed(self) -> list[int]:
        form = self.form
        return [*form.flags, *form.statuses, *form.faults]

    @cached_property
    def _made(self) -> list[int]:
        """The buffers of results."""
        given = {*range(len(self.operands) + len(self._constants)), *self._zeroed}
        return sorted({place.buffer for place in self.form.results} - given)

    @cached_property
    def _room(self) -> tuple[Mapping[int, int], int]:
        """Where temporaries begin in the memory of all, and how large that is."""
        begin, room = 0, dict[int, int]()
        for number in self._temporary:
            room[number] = begin
            begin += self.program.buffers[number].nbytes
            begin += -begin % _LINE
        return room, begin

    @property
    def _temporary(self) -> list[int]:
        """The buffers that are of no use after the launches."""
        given = {*range(self.form.operands), *self._zeroed}
        given |= {place.buffer for place in self.form.results}
        return [k for k in range(len(self.program.buffers)) if k not in given]

    def load(self, library: Library, functions: Mapping[str, _Function]) -> None:
        """Take the functions of its launches, and load constants."""
        for order in self.program.orders:
            made = order if isinstance(order, Passes) else Passes((order,), 1, False)
            turns = range(made.passes)
            calls = [_Call.of(launch, functions[launch.text]) for launch in made.launches]
            self._calls.append((calls, turns[::-1] if made.backward else turns))
        self._known = [library.device.copied(np.asarray(value)) for value in self._constants]

    def zeroed(self, begin: int) -> Zeroed:
        """The places of its flags and such, from ``begin`` on."""
        places: list[int] = []
        for number in self._zeroed:
            size = self.form.buffers[number].nbytes
            begin += -begin % 8
            places.append(begin)
            begin += size
        f, s = len(self.form.flags), len(self.form.statuses)
        return Zeroed(places[:f], places[f + s :], places[f : f + s], begin)

    def launch(self, device: Device, operands: Sequence[Any], zeros: Any, at: Zeroed) -> list[Any]:
        """Compute the results; ``zeros`` is memory with its flags and such ``at`` their places."""
        xp, form = device.cupy, self.form
        arrays = {k: self._operand(xp, k, x) for k, x in enumerate(operands)}
        arrays |= dict(enumerate(self._known, len(self.operands)))
        for number in self._made:
            arrays[number] = xp.empty(form.buffers[number].shape, self._dtypes[number])
        pointers = {number: x.data.ptr for number, x in arrays.items()}
        places = [*at.flags, *at.statuses, *at.faults]
        for number, place in zip(self._zeroed, places, strict=True):
            pointers[number] = zeros.data.ptr + place
        room, size = self._room
        if size:
            temporary = xp.empty(size, np.uint8)
            pointers |= {k: temporary.data.ptr + offset for k, offset in room.items()}
        for calls, turns in self._calls:
            for turn in turns:
                for call in calls:
                    call(pointers, turn)
        found: list[Any] = []
        for (buffer, element), shape in zip(form.results, self._shapes, strict=True):
            array = arrays[buffer]
            found.append(array.reshape(shape) if shape else array.reshape(-1)[element])
        return found

    def _operand(self, xp: Any, number: int, x: Any) -> Any:
        """An operand as the launches take it."""
        dtype = self._dtypes[number]
        if isinstance(x, xp.ndarray) and x.dtype == dtype and x.flags.c_contiguous:
            return x
        return xp.ascontiguousarray(xp.asarray(x, dtype))

    @property
    def lines(self) -> Sequence[Line]:
        """The text of the launches."""
        return [(line, None) for launch in self.launches for line in launch.text.splitlines()]
