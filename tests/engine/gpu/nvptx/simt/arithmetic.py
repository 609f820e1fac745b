"""Arithmetic, comparisons, and the parts of vectors and structures: what needs registers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from tests.engine.gpu.nvptx.simt.frames import Active, Execute, Frame
from tests.engine.gpu.nvptx.simt.reader import Reader
from tests.engine.gpu.nvptx.simt.types import Array, Integer, Vector


def _remainder(x: Array, y: Array) -> Array:
    """With the sign of the dividend."""
    if x.dtype != object:
        return np.asarray(np.fmod(x, y))
    size = abs(x) % abs(y)
    return np.where(x < 0, -size, size)


FLOATING: dict[str, Callable[[Array, Array], Array]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
}
INTEGER: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}
DIVISIONS: dict[str, Callable[[Array, Array], Array]] = {
    "udiv": lambda x, y: x // y,
    "urem": lambda x, y: x % y,
    "sdiv": lambda x, y: (x - _remainder(x, y)) // y,
    "srem": _remainder,
}
COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
}


def floating(reader: Reader, opcode: str) -> Execute:
    """``fadd fsub fmul fdiv``: rounded to the nearest after each operation."""
    reader.flags()
    type, x = reader.typed()
    reader.expect(",")
    y, compute = reader.operand(type), FLOATING[opcode]

    def execute(frame: Frame, _: Active) -> Array:
        return type.register(compute(type.numbers(x(frame)), type.numbers(y(frame))))

    return execute


def fneg(reader: Reader, _opcode: str) -> Execute:
    """``fneg``: of NaN and zero too it changes the sign."""
    reader.flags()
    type, x = reader.typed()
    return lambda frame, _: type.register(np.negative(type.numbers(x(frame))))


def frem(reader: Reader, _opcode: str) -> Execute:
    """``frem``: NVPTX computes ``x - trunc(x / y) * y``, which is not LLVM's exact remainder."""
    raise NotImplementedError(f"NVPTX has no exact remainder: {reader.text}")


def integer(reader: Reader, opcode: str) -> Execute:
    """``add sub mul and or xor``: wrapped around."""
    reader.flags()
    type, x = reader.typed()
    reader.expect(",")
    y, compute = reader.operand(type), INTEGER[opcode]
    if type.dtype == bool and opcode in ("add", "sub"):
        compute = np.logical_xor  # of one bit

    return lambda frame, _: type.register(compute(x(frame), y(frame)))


def division(reader: Reader, opcode: str) -> Execute:
    """``sdiv udiv srem urem``: by zero undefined, as is the quotient that has no representation."""
    reader.flags()
    type, x = reader.typed()
    reader.expect(",")
    y, compute = reader.operand(type), DIVISIONS[opcode]
    element, unsigned = type.scalar, opcode.startswith("u")
    assert isinstance(element, Integer)
    least = -1 << element.bits - 1

    def execute(frame: Frame, active: Active) -> Array:
        a, b = x(frame), y(frame)
        active.require(b != 0, "division by zero")
        if unsigned:
            a, b = element.unsigned(a), element.unsigned(b)
        else:
            active.require((a != least) | (b != -1), "quotient out of range")
        return _signed(element, compute(a, np.where(b == 0, b.dtype.type(1), b)))

    return execute


def shift(reader: Reader, opcode: str) -> Execute:
    """``shl lshr ashr``: by the width or more, poison: all bits are set."""
    reader.flags()
    type, x = reader.typed()
    reader.expect(",")
    y, element = reader.operand(type), type.scalar
    assert isinstance(element, Integer)
    bits = element.bits
    poison = element.register(np.array([-1], object))

    def execute(frame: Frame, _: Active) -> Array:
        a, count = x(frame), y(frame)
        right = (count >= 0) & (count < bits)
        count = np.where(right, count, np.zeros_like(count))
        if opcode == "shl":
            result = element.register(a << count)
        elif opcode == "ashr":
            result = element.register(a >> count)
        else:
            result = _signed(element, element.unsigned(a) >> element.unsigned(count))
        return result if right.all() else np.where(right, result, poison)

    return execute


def _signed(element: Integer, unsigned: Array) -> Array:
    if unsigned.dtype.kind == "u":
        return unsigned.view(element.dtype)
    return element.register(unsigned)


def icmp(reader: Reader, _opcode: str) -> Execute:
    """``icmp`` of integers or addresses."""
    reader.flags()
    predicate = reader.take()
    type, x = reader.typed()
    reader.expect(",")
    y, compare, element = reader.operand(type), COMPARISONS[predicate[-2:]], type.scalar
    if predicate[0] == "s" and type.dtype == bool:
        raise NotImplementedError(reader.text)
    if predicate[0] != "u":
        return lambda frame, _: compare(x(frame), y(frame)).astype(np.bool_, copy=False)
    of = element if isinstance(element, Integer) else Integer(64)
    return lambda frame, _: compare(of.unsigned(x(frame)), of.unsigned(y(frame))).astype(
        np.bool_, copy=False
    )


def fcmp(reader: Reader, _opcode: str) -> Execute:
    """``fcmp``: ``o…`` holds of no NaN, ``u…`` of any."""
    reader.flags()
    predicate = reader.take()
    type, x = reader.typed()
    reader.expect(",")
    y = reader.operand(type)

    def execute(frame: Frame, _: Active) -> Array:
        a, b = type.numbers(x(frame)), type.numbers(y(frame))
        ordered = (a == a) & (b == b)
        if predicate in ("ord", "uno"):
            return ordered if predicate == "ord" else ~ordered
        if predicate in ("true", "false"):
            return np.full(np.broadcast_shapes(a.shape, b.shape), predicate == "true")
        holds = COMPARISONS[predicate[1:]](a, b)
        return holds & ordered if predicate[0] == "o" else holds | ~ordered

    return execute


def select(reader: Reader, _opcode: str) -> Execute:
    """``select``: by thread, or by element of a vector."""
    reader.flags()
    kind, condition = reader.typed()
    reader.expect(",")
    type, x = reader.typed()
    reader.expect(",")
    _, y = reader.typed()
    spread = isinstance(type, Vector) and not isinstance(kind, Vector)

    def execute(frame: Frame, _: Active) -> Array:
        chosen, one, other = (cast(Array, each(frame)) for each in (condition, x, y))
        return np.where(chosen[:, None] if spread else chosen, one, other)

    return execute


def freeze(reader: Reader, _opcode: str) -> Execute:
    """``freeze``: values are never undecided here."""
    _, x = reader.typed()
    return lambda frame, _: x(frame)


def extractelement(reader: Reader, _opcode: str) -> Execute:
    """``extractelement``: an element of a vector."""
    type, x = reader.typed()
    reader.expect(",")
    _, index = reader.typed()
    assert isinstance(type, Vector)

    def execute(frame: Frame, active: Active) -> Array:
        at = index(frame)
        active.require((at >= 0) & (at < type.count), "no such element")
        at = np.clip(at, 0, type.count - 1)[:, None].astype(np.int64)
        vector = x(frame)
        rows = max(len(vector), len(at))
        found = np.take_along_axis(
            np.broadcast_to(vector, (rows, type.count)), np.broadcast_to(at, (rows, 1)), axis=1
        )
        return np.asarray(found[:, 0])

    return execute


def insertelement(reader: Reader, _opcode: str) -> Execute:
    """``insertelement``: a vector with another element."""
    type, x = reader.typed()
    reader.expect(",")
    _, value = reader.typed()
    reader.expect(",")
    _, index = reader.typed()
    assert isinstance(type, Vector)
    places = np.arange(type.count)

    def execute(frame: Frame, active: Active) -> Array:
        at = index(frame)
        active.require((at >= 0) & (at < type.count), "no such element")
        return np.where(places == at[:, None], value(frame)[:, None], x(frame))

    return execute


def shufflevector(reader: Reader, _opcode: str) -> Execute:
    """``shufflevector``: elements of two vectors."""
    _, x = reader.typed()
    reader.expect(",")
    _, y = reader.typed()
    reader.expect(",")
    places = reader.constant(reader.type())[0]

    def execute(frame: Frame, _: Active) -> Array:
        a, b = np.broadcast_arrays(x(frame), y(frame))
        return np.asarray(np.concatenate([a, b], axis=1)[:, places])

    return execute


def extractvalue(reader: Reader, _opcode: str) -> Execute:
    """``extractvalue``: an element of a structure."""
    _, x = reader.typed()
    reader.expect(",")
    place = int(reader.take())
    return lambda frame, _: x(frame)[place]


def insertvalue(reader: Reader, _opcode: str) -> Execute:
    """``insertvalue``: a structure with another element."""
    _, x = reader.typed()
    reader.expect(",")
    _, value = reader.typed()
    reader.expect(",")
    place = int(reader.take())

    def execute(frame: Frame, _: Active) -> tuple[Array, ...]:
        parts = x(frame)
        return (*parts[:place], value(frame), *parts[place + 1 :])

    return execute


INSTRUCTIONS: dict[str, Callable[[Reader, str], Execute]] = {
    **dict.fromkeys(FLOATING, floating),
    **dict.fromkeys(INTEGER, integer),
    **dict.fromkeys(DIVISIONS, division),
    **dict.fromkeys(("shl", "lshr", "ashr"), shift),
    "fneg": fneg,
    "frem": frem,
    "icmp": icmp,
    "fcmp": fcmp,
    "select": select,
    "freeze": freeze,
    "extractelement": extractelement,
    "insertelement": insertelement,
    "shufflevector": shufflevector,
    "extractvalue": extractvalue,
    "insertvalue": insertvalue,
}
