"""Instructions that read and write memory, and those that compute addresses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.engine.gpu.nvptx.simt.frames import Active, Execute, Frame
from tests.engine.gpu.nvptx.simt.memory import LOCAL, Allocation, Site, address_of
from tests.engine.gpu.nvptx.simt.races import Kind
from tests.engine.gpu.nvptx.simt.reader import Reader, strides
from tests.engine.gpu.nvptx.simt.types import Array, BFloat, Integer, Pointer, Sequence

UPDATES: dict[str, np.ufunc] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "add": np.add,
    "sub": np.subtract,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "umax": np.maximum,
    "umin": np.minimum,
}


def load(reader: Reader, _opcode: str) -> Execute:
    """``load``, also ``load atomic``."""
    kind: Kind = "atomic" if reader.skip("atomic") else "read"
    reader.flags()
    type = reader.type()
    reader.expect(",")
    pointer, address = reader.typed()
    assert isinstance(pointer, Pointer)
    if kind == "atomic":
        reader.take()  # how it is ordered with other memory: races are found without
    site = Site(type, reader.alignment(type.alignment), pointer.space)

    def execute(frame: Frame, active: Active) -> Array:
        memory = frame.machine.memory
        places = memory.located(kind, site, active.of(address(frame)), active.threads)
        return active.spread(memory.view(type)[places])

    return execute


def store(reader: Reader, _opcode: str) -> Execute:
    """``store``, also ``store atomic``."""
    kind: Kind = "atomic" if reader.skip("atomic") else "write"
    reader.flags()
    type, value = reader.typed()
    reader.expect(",")
    pointer, address = reader.typed()
    assert isinstance(pointer, Pointer)
    if kind == "atomic":
        reader.take()
    site = Site(type, reader.alignment(type.alignment), pointer.space)

    def execute(frame: Frame, active: Active) -> None:
        memory = frame.machine.memory
        places = memory.located(kind, site, active.of(address(frame)), active.threads)
        memory.view(type)[places] = active.of(value(frame))

    return execute


def atomicrmw(reader: Reader, _opcode: str) -> Execute:
    """``atomicrmw``: thread by thread, in the order of their numbers."""
    reader.flags()
    operation = reader.take()
    pointer, address = reader.typed()
    reader.expect(",")
    type, value = reader.typed()
    if reader.skip("syncscope"):
        raise NotImplementedError(reader.text)
    reader.take()
    assert isinstance(pointer, Pointer)
    site = Site(type, reader.alignment(type.alignment), pointer.space)
    update = UPDATES.get(operation)
    if (update is None and operation != "xchg") or isinstance(type, BFloat):
        raise NotImplementedError(reader.text)
    is_used = reader.text.split(" ", 1)[0] in reader.used

    def execute(frame: Frame, active: Active) -> Array | None:
        memory, threads = frame.machine.memory, active.threads
        places = memory.located("atomic", site, active.of(address(frame)), threads)
        elements, values = memory.view(type), active.of(value(frame))
        if operation in ("umax", "umin"):
            assert isinstance(type, Integer)
            elements, values = type.unsigned(elements), type.unsigned(np.ascontiguousarray(values))
        if update is not None and not is_used:
            update.at(elements, places, values)
            return None
        before = np.empty(len(threads), elements.dtype)
        for thread, place in enumerate(places):
            before[thread] = elements[place]
            new = values[thread]
            elements[place] = new if update is None else update(before[thread], new)
        return active.spread(before.view(type.dtype))

    return execute


def cmpxchg(reader: Reader, _opcode: str) -> Execute:
    """``cmpxchg``: what was there, and whether it was the expected and is replaced."""
    reader.skip("weak")
    reader.flags()
    pointer, address = reader.typed()
    reader.expect(",")
    type, expected = reader.typed()
    reader.expect(",")
    _, new = reader.typed()
    for _ in ("success", "failure"):
        reader.take()  # how it is ordered then
    assert isinstance(pointer, Pointer)
    site = Site(type, reader.alignment(type.alignment), pointer.space)

    def execute(frame: Frame, active: Active) -> tuple[Array, Array]:
        memory, threads = frame.machine.memory, active.threads
        places = memory.located("atomic", site, active.of(address(frame)), threads)
        elements, wanted, values = (
            memory.view(type),
            active.of(expected(frame)),
            active.of(new(frame)),
        )
        before = np.empty(len(threads), elements.dtype)
        for thread, place in enumerate(places):
            before[thread] = elements[place]
            if before[thread] == wanted[thread]:
                elements[place] = values[thread]
        return active.spread(before), active.spread(before == wanted)

    return execute


def getelementptr(reader: Reader, _opcode: str) -> Execute:
    """``getelementptr``: an address, which only an access checks."""
    reader.flags()
    type = reader.type()
    reader.expect(",")
    _, pointer = reader.typed()
    steps, sizes = [], iter(strides(type))
    while reader.skip(","):
        steps.append((reader.typed()[1], next(sizes)))

    def execute(frame: Frame, _: Active) -> Array:
        address = pointer(frame)
        for index, size in steps:
            address = address + index(frame).astype(np.int64, copy=False) * size
        return address

    return execute


def alloca(reader: Reader, _opcode: str) -> Execute:
    """``alloca``: local memory of each thread, uninitialised each time."""
    name, type = reader.text.split(" ", 1)[0], reader.type()
    element = (type.innermost if isinstance(type, Sequence) else type).size
    reader.alignment(1)  # allocations are aligned to more
    if reader.skip(","):
        reader.space()
    number = reader.allocations.add(Allocation(name, LOCAL, type.size, element))
    address = np.array([address_of(number)])

    def execute(frame: Frame, active: Active) -> Array:
        frame.machine.memory.forget(number, active.threads)
        return address

    return execute


INSTRUCTIONS: dict[str, Callable[[Reader, str], Execute]] = {
    "load": load,
    "store": store,
    "atomicrmw": atomicrmw,
    "cmpxchg": cmpxchg,
    "getelementptr": getelementptr,
    "alloca": alloca,
}
