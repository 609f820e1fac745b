"""Conversions between types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.engine.gpu.nvptx.simt.frames import Active, Execute, Frame
from tests.engine.gpu.nvptx.simt.reader import Reader
from tests.engine.gpu.nvptx.simt.types import Array, Integer, Type, Vector


def truncation_of(element: Integer, signed: bool, saturated: bool) -> Callable[[Array], Array]:
    """From numbers toward zero; what is out of range becomes the nearest, or has all bits set."""
    bits = element.bits
    least = float(-(1 << bits - 1) if signed else 0)
    bound = float(1 << bits - signed)  # the first that is out of range
    dtype = np.dtype(f"{'' if signed else 'u'}int{bits}")
    ends = np.iinfo(dtype)

    def convert(numbers: Array) -> Array:
        whole = np.trunc(numbers.astype(np.float64))
        inside = (whole >= least) & (whole < bound)
        result = np.where(inside, whole, 0).astype(dtype)
        if not inside.all():
            outside = np.where(whole >= bound, ends.max, np.where(whole < least, ends.min, 0))
            poison = np.array(-1).astype(dtype)
            result = np.where(inside, result, outside.astype(dtype) if saturated else poison)
        return result.view(element.dtype)

    return convert


def conversion(reader: Reader, opcode: str) -> Execute:
    """Every conversion that looks at one operand's value."""
    reader.flags()
    source, x = reader.typed()
    reader.expect("to")
    convert = _function(opcode, source.scalar, reader.type().scalar)
    return lambda frame, _: convert(x(frame))


def _function(opcode: str, source: Type, target: Type) -> Callable[[Array], Array]:
    if opcode in ("fptosi", "fptoui"):
        assert isinstance(target, Integer)
        truncated = truncation_of(target, opcode == "fptosi", saturated=False)
        return lambda x: truncated(source.numbers(x))
    if opcode in ("fpext", "fptrunc"):
        return lambda x: target.register(source.numbers(x))
    if opcode in ("inttoptr", "ptrtoint", "addrspacecast"):
        return target.register
    assert isinstance(source, Integer)
    if opcode in ("zext", "uitofp"):
        return lambda x: target.register(source.unsigned(x))
    if opcode == "sext" and source.bits == 1:
        return lambda x: target.register(-x.astype(np.int64))
    if opcode == "sitofp" and source.bits == 1:
        return lambda x: target.register(-x.astype(np.float64))
    return target.register


def bitcast(reader: Reader, _opcode: str) -> Execute:
    """``bitcast``: the same bits, also from or to a vector."""
    source, x = reader.typed()
    reader.expect("to")
    target = reader.type()

    def execute(frame: Frame, _: Active) -> Array:
        register = np.ascontiguousarray(x(frame))
        if not isinstance(source, Vector):
            register = register[:, None]
        bits = register.view(target.dtype)
        return bits if isinstance(target, Vector) else np.asarray(bits[:, 0])

    return execute


INSTRUCTIONS: dict[str, Callable[[Reader, str], Execute]] = {
    **dict.fromkeys(
        (
            "trunc zext sext fptosi fptoui sitofp uitofp fpext fptrunc "
            "inttoptr ptrtoint addrspacecast"
        ).split(),
        conversion,
    ),
    "bitcast": bitcast,
}
