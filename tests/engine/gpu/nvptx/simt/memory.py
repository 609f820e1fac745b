"""The memory of a launch: allocations with bounds, in global, shared, constant and local memory.

An address is the number of an allocation and an offset, so that every access can be checked
against the allocation that its pointer was made from. All bytes are in one array: shared memory has
a copy for each block, local memory one for each thread. What nobody has written is 0xFF, a NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.engine.gpu.nvptx.simt.faults import Misaligned, OutOfBounds, WrongAddressSpace
from tests.engine.gpu.nvptx.simt.races import Kind, Races
from tests.engine.gpu.nvptx.simt.types import Array, Type

SHIFT = 40
GLOBAL, SHARED, CONSTANT, LOCAL = 1, 3, 4, 5
NAMES = {GLOBAL: "global", SHARED: "shared", CONSTANT: "constant", LOCAL: "local"}
PAGE = 256  # what allocations are aligned to, as CUDA's are


def address_of(number: int) -> int:
    """The address of an allocation's first byte."""
    return number << SHIFT


@dataclass
class Allocation:
    """So many bytes of an address space, that hold elements of so many bytes each."""

    name: str
    space: int
    size: int
    element: int = 8
    contents: Array | None = None
    writable: bool = True
    watched: bool = True  # for races: others may write what this one is
    within: tuple[int, int] | None = None  # the bytes of an earlier one, from an offset on

    @property
    def stride(self) -> int:
        """How many bytes behind each other its copies are."""
        return _rounded(self.size, 16 if self.space == LOCAL else PAGE)

    def copies(self, blocks: int, threads: int) -> int:
        """How many times it exists."""
        return {SHARED: blocks, LOCAL: threads}.get(self.space, 1)


class Allocations:
    """Allocations by their numbers; that of number 0 is what null points to."""

    def __init__(self, others: Allocations | None = None) -> None:
        null = Allocation("null", GLOBAL, 0)
        self.all: list[Allocation] = [null] if others is None else [*others.all]
        #: The numbers of named globals.
        self.numbers: dict[str, int] = {}

    def add(self, allocation: Allocation) -> int:
        """Add one and return its number."""
        self.all.append(allocation)
        return len(self.all) - 1


class Site(NamedTuple):
    """What an instruction accesses: of a type, aligned, in an address space or, if 0, in any."""

    type: Type
    align: int
    space: int


class Memory:
    """Allocations for threads of these blocks, each of which has passed so many barriers."""

    def __init__(self, allocations: Allocations, block: Array, epoch: Array, races: bool) -> None:
        self._allocations = allocations.all
        self._block = block
        threads, blocks = len(block), int(block[-1]) + 1
        starts, end = list[int](), PAGE
        for one in self._allocations:
            if one.within is None:
                starts.append(end)
                end += _rounded(one.stride * one.copies(blocks, threads))
            else:
                other, offset = one.within
                starts.append(starts[other] + offset)
        self._starts = np.array(starts)
        self._sizes = np.array([one.size for one in self._allocations])
        self._elements = _elements(self._allocations)
        strides = np.array([one.stride for one in self._allocations])
        spaces = np.array([one.space for one in self._allocations])
        self._spaces = spaces
        self._block_strides = strides * (spaces == SHARED)
        self._thread_strides = strides * (spaces == LOCAL)
        self._writable = np.array([one.writable for one in self._allocations])
        watched = np.array([one.watched for one in self._allocations])
        self._watched = watched & (spaces != LOCAL)
        self._bytes = np.full(end, 0xFF, np.uint8)
        self._views: dict[np.dtype[Any], Array] = {}
        self._races = Races(end, block, epoch) if races else None
        for start, one in zip(starts, self._allocations, strict=True):
            if one.contents is not None:
                self._bytes[start : start + one.size] = one.contents

    def bytes_of(self, number: int) -> Array:
        """The bytes of an allocation that exists once."""
        start = self._starts[number]
        return self._bytes[start : start + self._sizes[number]]

    def forget(self, number: int, threads: Array) -> None:
        """Make the local memory of threads uninitialised."""
        stride, start = self._allocations[number].stride, self._starts[number]
        self._bytes[start:][: stride * len(self._block)].reshape(-1, stride)[threads] = 0xFF

    def view(self, type: Type) -> Array:
        """All bytes as elements of a type."""
        dtype = type.dtype
        if dtype not in self._views:
            self._views[dtype] = self._bytes.view(dtype)
        return self._views[dtype]

    def located(self, kind: Kind, site: Site, address: Array, threads: Array) -> Array:
        """Where in ``view(site.type)`` each of the threads may do what it does."""
        type, align, space = site
        size, item = type.size, type.dtype.itemsize
        number = int(address[0]) + (1 << SHIFT - 1) >> SHIFT
        offsets = address - (number << SHIFT)
        if self._is_right(kind, site, number, offsets):
            at = offsets + self._starts[number]
            if stride := self._thread_strides[number]:
                at += stride * threads
            if stride := self._block_strides[number]:
                at += stride * self._block[threads]
            if self._races is not None:
                self._watch(kind, at, size, (np.array([number]), offsets, threads))
            return _places(at, size, item)
        numbers = address + (1 << SHIFT - 1) >> SHIFT
        offsets = address - (numbers << SHIFT)
        known = (numbers >= 0) & (numbers < len(self._sizes))
        numbers = np.where(known, numbers, 0)
        self._check(
            known & (offsets >= 0) & (offsets + size <= self._sizes[numbers]),
            OutOfBounds,
            f"{kind} of {size} bytes",
            (numbers, offsets, threads),
        )
        self._check(
            offsets % align == 0,
            Misaligned,
            f"{kind} aligned to {align} bytes",
            (numbers, offsets, threads),
        )
        right = self._spaces[numbers] == (space or self._spaces[numbers])
        self._check(
            right if kind == "read" else right & self._writable[numbers],
            WrongAddressSpace,
            f"{kind} in {NAMES.get(space, 'generic')} memory",
            (numbers, offsets, threads),
        )
        at = self._starts[numbers] + offsets + self._thread_strides[numbers] * threads
        at += self._block_strides[numbers] * self._block[threads]
        if self._races is not None:
            self._watch(kind, at, size, (numbers, offsets, threads))
        return _places(at, size, item)

    def _is_right(self, kind: Kind, site: Site, number: int, offsets: Array) -> bool:
        """Whether all accesses are of one allocation, and allowed."""
        if not 0 <= number < len(self._allocations):
            return False
        one, (type, align, space) = self._allocations[number], site
        return bool(
            (one.writable or kind == "read")
            and space in (0, one.space)
            and offsets.min() >= 0
            and offsets.max() + type.size <= one.size
            and not (offsets & align - 1).any()
        )

    def _watch(self, kind: Kind, at: Array, size: int, where: tuple[Array, Array, Array]) -> None:
        numbers, offsets, threads = where
        watched = self._watched[numbers]
        if not watched.any():
            return
        if not watched.all():
            numbers, at = numbers[watched], at[watched]
            offsets, threads = offsets[watched], threads[watched]
        elements = self._elements[numbers]
        first = at - offsets % elements
        assert self._races is not None
        for distance in range(0, size, int(elements.min())):
            self._races.access(kind, first + distance, threads)

    def _check(
        self, right: Array, fault: type[Any], what: str, where: tuple[Array, Array, Array]
    ) -> None:
        if right.all():
            return
        numbers, offsets, threads = where
        right = np.broadcast_to(right, threads.shape)
        at = int(np.argmin(right))
        one = self._allocations[np.broadcast_to(numbers, threads.shape)[at]]
        raise fault(
            f"{what} at byte {offsets[at]} of {one.name}, {one.size} bytes of "
            f"{NAMES[one.space]} memory, by thread {threads[at]} of block "
            f"{self._block[threads[at]]} and {np.count_nonzero(~right) - 1} others"
        )


def _elements(allocations: list[Allocation]) -> Array:
    """How many bytes an element has, where several share memory the smallest of them."""
    least: dict[int, int] = {}
    for one in allocations:
        if one.within:
            least[one.within[0]] = min(one.element, least.get(one.within[0], one.element))
    return np.array([least[one.within[0]] if one.within else one.element for one in allocations])


def _places(at: Array, size: int, item: int) -> Array:
    """Where bytes are as elements, of a vector all of its own."""
    first = np.asarray(at // item)
    return first if size == item else first[:, None] + np.arange(size // item)


def _rounded(size: int, to: int = PAGE) -> int:
    return -(-size // to) * to
