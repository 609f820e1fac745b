"""Executes kernels of NVPTX's LLVM IR without a GPU, all threads in lockstep, and checks them.

    program = Program(text)
    program.launch("saxpy", 8, 128, [a, x, y, n])

Arrays are what pointers point to, and are written in place. Raised is what a GPU would not report:
see ``faults``. How blocks and warps take turns does not matter to what is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tests.engine.gpu.nvptx.simt.faults import Aliasing
from tests.engine.gpu.nvptx.simt.frames import Active, Machine
from tests.engine.gpu.nvptx.simt.functions import (
    Function,
    Parameter,
    call,
    compile_function,
)
from tests.engine.gpu.nvptx.simt.memory import (
    GLOBAL,
    SHARED,
    Allocation,
    Allocations,
    Memory,
    address_of,
)
from tests.engine.gpu.nvptx.simt.reader import Reader
from tests.engine.gpu.nvptx.simt.types import Array, Pointer
from tests.engine.gpu.nvptx.simt.types import Sequence as SequenceType

GLOBAL_VARIABLE = re.compile(r"(@(?:\"[^\"]*\"|[-\w$.]+)) = (.*?)\b(global|constant) (.*)$")
#: By axis, of every GPU since 2012.
GRID_LIMITS = 2**31 - 1, 65535, 65535
BLOCK_LIMITS = 1024, 1024, 64
MOST_THREADS = re.compile(r'ptr (@[-\w$.]+), !"maxntidx", i32 (\d+)')
Size = int | tuple[int, ...]


class Program:
    """The functions and globals of a text, which LLVM accepts."""

    def __init__(self, text: str) -> None:
        module = llvm.parse_assembly(text)
        module.verify()
        lines = re.sub(r"\[\n((?: +.*\n)*?) +\]", _joined, str(module)).splitlines()
        self.functions: dict[str, Function] = {}
        self._allocations = Allocations()
        self._dynamic: list[int] = []
        for line in lines:
            if match := GLOBAL_VARIABLE.match(line):
                self._add_global(*match.groups())
        bodies = {}
        for at, line in enumerate(lines):
            if line.startswith("define "):
                function = self._declared(line)
                self.functions[function.name] = function
                bodies[function.name] = lines[at + 1 : lines.index("}", at)]
        for name, threads in MOST_THREADS.findall(text):  # which LLVM may write otherwise
            self.functions[name].most_threads = int(threads)
        for name, body in bodies.items():
            compile_function(self.functions[name], body, self._allocations, self.functions)

    def launch(
        self,
        name: str,
        grid: Size,
        block: Size,
        arguments: Sequence[Any],
        *,
        shared_bytes: int = 0,
        races: bool = True,
        most_steps: int = 1_000_000,
    ) -> None:
        """Run a kernel on ``grid`` blocks of ``block`` threads, integers or tuples of up to three.

        Arguments are numbers, arrays, which are contiguous and may overlap, or a list of arrays
        for a pointer to pointers. An array that is not writeable may not be written by the kernel.
        """
        machine = Machine(_axes(grid, GRID_LIMITS), _axes(block, BLOCK_LIMITS))
        machine.steps_left = most_steps
        function = self.functions[f"@{name}"]
        if machine.block_threads > function.most_threads:
            raise ValueError(
                f"a block has at most {function.most_threads} threads, got {machine.block_threads}"
            )
        given = _Arguments(self._allocations)
        for number in self._dynamic:
            sized = replace(given.allocations.all[number], size=shared_bytes)
            given.allocations.all[number] = sized
        values = [given.value(*both) for both in zip(function.parameters, arguments, strict=True)]
        given.check_promises()
        machine.memory = Memory(given.allocations, machine.block, machine.epoch, races)
        everyone = Active(np.ones(machine.threads, np.bool_), whole=True)
        with np.errstate(all="ignore"):
            call(function, values, machine, everyone)
        given.write_back(machine.memory)

    def _add_global(self, name: str, linkage: str, kind: str, rest: str) -> None:
        reader = Reader(rest, self._allocations)
        space = re.search(r"addrspace\((\d+)\)", linkage)
        type = reader.type()
        dynamic = "external" in linkage
        contents = None if dynamic else reader.constant(type)
        if contents is not None:
            contents = np.ascontiguousarray(contents).view(np.uint8).reshape(-1)[: type.size]
        element = (type.innermost if isinstance(type, SequenceType) else type).size
        number = int(space[1]) if space else GLOBAL
        self._allocations.numbers[name] = self._allocations.add(
            Allocation(
                name,
                number or GLOBAL,
                type.size,
                element,
                contents,
                writable=kind == "global",
                watched=kind == "global",
            )
        )
        if number == SHARED:
            self._allocations.all[-1].contents = None  # it has no initial values
            if dynamic:
                self._dynamic.append(len(self._allocations.all) - 1)

    def _declared(self, line: str) -> Function:
        name, rest = re.search(r"(@(?:\"[^\"]*\"|[-\w$.]+))\((.*)$", line).groups()  # type: ignore[union-attr]
        reader, parameters = Reader(rest, self._allocations), []
        while not reader.skip(")"):
            type, depth, tokens = reader.type(), 0, list[str]()
            while depth or reader.peek() not in (",", ")"):
                tokens.append(reader.take())
                depth += {"(": 1, ")": -1}.get(tokens[-1], 0)
            parameters.append(Parameter(type, tokens[-1], frozenset(tokens)))
            reader.skip(",")
        return Function(name, parameters)


class _Arguments:
    """What a launch is given, as allocations beside those of the program."""

    def __init__(self, allocations: Allocations) -> None:
        self.allocations = Allocations(allocations)
        self._roots: dict[int, tuple[Array, int]] = {}
        self._promised: list[tuple[Array, frozenset[str]]] = []

    def value(self, parameter: Parameter, argument: Any) -> Array:
        """The register of an argument."""
        type, promises = parameter.type, parameter.promises
        if not isinstance(type, Pointer):
            return type.register(np.array([argument]))
        if not isinstance(argument, np.ndarray):
            argument = np.array([self._address(one, frozenset()) for one in argument], np.int64)
            argument.flags.writeable = False
        return np.array([self._address(argument, promises)], np.int64)

    def check_promises(self) -> None:
        """Raise ``Aliasing`` if what is ``noalias`` overlaps, and one of both may be written."""
        for (one, of_one), (other, of_other) in permutations(self._promised, 2):
            frozen = "readonly" in of_one & of_other
            if "noalias" in of_one and not frozen and np.may_share_memory(one, other):
                raise Aliasing(f"arguments of {one.dtype}{list(one.shape)} overlap")

    def _address(self, array: Array, promises: frozenset[str]) -> int:
        self._promised.append((array, promises))
        if not array.flags.c_contiguous:
            raise ValueError("pointers point to contiguous arrays")
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        if id(root) not in self._roots:
            if any(np.may_share_memory(root, other) for other, _ in self._roots.values()):
                raise ValueError("arrays that overlap are parts of one array")
            whole = Allocation("an argument", GLOBAL, root.nbytes, contents=_bytes(root))
            self._roots[id(root)] = root, self.allocations.add(whole)
        writable = array.flags.writeable and "readonly" not in promises
        offset = array.ctypes.data - root.ctypes.data
        element = min(array.itemsize, 8)  # a complex number is two
        return address_of(
            self.allocations.add(
                Allocation(
                    f"{array.dtype}{list(array.shape)}",
                    GLOBAL,
                    array.nbytes,
                    element,
                    writable=writable,
                    watched=writable or "noalias" not in promises,
                    within=(self._roots[id(root)][1], offset),
                )
            )
        )

    def write_back(self, memory: Memory) -> None:
        """Copy what the kernel wrote."""
        for root, number in self._roots.values():
            if root.flags.writeable:
                _bytes(root)[:] = memory.bytes_of(number)


def uninitialised(shape: int | tuple[int, ...], dtype: Any = np.float64) -> Array:
    """An array that nobody has written: of NaN, and integers of -1."""
    array = np.empty(shape, dtype)
    _bytes(array)[:] = 0xFF
    return array


def _bytes(root: Array) -> Array:
    return root.ravel(order="K").view(np.uint8)


def _axes(size: Size, limits: tuple[int, ...]) -> tuple[int, ...]:
    given = (size,) if isinstance(size, int) else size
    axes = (*given, 1, 1)[:3]
    if not all(0 < one <= limit for one, limit in zip(axes, limits, strict=True)):
        raise ValueError(f"a launch of {axes}, of at most {limits}")
    return axes


def _joined(match: re.Match[str]) -> str:
    return "[" + match[1].replace("\n", " ") + "]"
