"""Intrinsic functions of LLVM and of NVPTX that need no more than their arguments."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from tests.engine.gpu.nvptx.simt.conversions import truncation_of
from tests.engine.gpu.nvptx.simt.faults import Divergence
from tests.engine.gpu.nvptx.simt.frames import Active, Machine
from tests.engine.gpu.nvptx.simt.fused import fused
from tests.engine.gpu.nvptx.simt.types import Array, Integer, Type

#: Of the machine, the active threads and the arguments.
Intrinsic = Callable[[Machine, Active, list[Array]], Array | None]


def _maxnum(x: Array, y: Array) -> Array:
    """PTX's: the number where the other is NaN; -0 is less than 0."""
    return np.where((x == 0) & (y == 0), x + y, np.fmax(x, y))


def _minnum(x: Array, y: Array) -> Array:
    return -_maxnum(-x, -y)


def _maximum(x: Array, y: Array) -> Array:
    """As ``_maxnum``, but NaN where either is."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def _minimum(x: Array, y: Array) -> Array:
    return -_maximum(-x, -y)


FLOATING: dict[str, Callable[..., Array]] = {
    "fabs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "roundeven": np.rint,
    "sqrt": np.sqrt,
    "copysign": np.copysign,
    "maxnum": _maxnum,
    "minnum": _minnum,
    "maximum": _maximum,
    "minimum": _minimum,
    "fma": fused,
}
SIGNED: dict[str, Callable[..., Array]] = {
    "smax": np.maximum,
    "smin": np.minimum,
    "abs": lambda x, _: np.abs(x),
}
UNSIGNED: dict[str, Callable[..., Array]] = {
    "umax": np.maximum,
    "umin": np.minimum,
    "ctpop": np.bitwise_count,
    "ctlz": lambda x, _: _leading_zeros(x),
    "cttz": lambda x, _: np.bitwise_count((x & -x) - x.dtype.type(1)),
    "bswap": lambda x: x.byteswap(),
    "fshl": lambda x, y, n: _funnel(x, y, n % _bits(x)),
    "fshr": lambda x, y, n: _funnel(x, y, -n % _bits(x), whole=n % _bits(x) == 0),
}


def _bits(x: Array) -> Array:
    return x.dtype.type(8 * x.dtype.itemsize)


def _leading_zeros(x: Array) -> Array:
    for distance in (1, 2, 4, 8, 16, 32):
        if distance < _bits(x):
            x = x | x >> x.dtype.type(distance)
    return np.asarray(np.bitwise_count(~x))


def _funnel(x: Array, y: Array, left: Array, whole: Array | bool = False) -> Array:
    """The upper half of ``x y``, twice as wide, shifted to the left; ``whole``: by its width."""
    right = (_bits(x) - left) % _bits(x)
    shifted = np.where(left == 0, x, x << left | y >> right)
    return np.where(whole, y, shifted)


def intrinsic(name: str, result: Type, arguments: list[Type]) -> Intrinsic:
    """The intrinsic of this name, or ``NotImplementedError``."""
    if name.startswith("llvm.nvvm."):
        return _of_nvptx(name.removeprefix("llvm.nvvm."))
    kind = name.split(".")[1]
    if name.startswith(("llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias")):
        return lambda *_: None
    if kind in FLOATING:
        compute, of = FLOATING[kind], arguments[0]
        return lambda _, __, values: result.register(compute(*map(of.numbers, values)))
    if kind in SIGNED:
        compute = SIGNED[kind]
        return lambda _, __, values: result.register(compute(*values))
    if kind in UNSIGNED:
        compute = UNSIGNED[kind]
        integers = [type.scalar for type in arguments if isinstance(type.scalar, Integer)]
        return lambda _, __, values: result.register(
            compute(*(of.unsigned(value) for of, value in zip(integers, values, strict=True)))
        )
    if match := re.match(r"llvm\.fpto([su])i\.sat\.", name):
        assert isinstance(result.scalar, Integer)
        convert, of = truncation_of(result.scalar, match[1] == "s", saturated=True), arguments[0]
        return lambda _, __, values: convert(
            np.nan_to_num(of.numbers(values[0]), posinf=np.inf, neginf=-np.inf)
        )
    raise NotImplementedError(f"the function {name}")


def _of_nvptx(name: str) -> Intrinsic:
    if name.startswith("read.ptx.sreg."):
        register = name.removeprefix("read.ptx.sreg.")
        return lambda machine, _, __: machine.registers[register]
    if match := re.fullmatch(r"shfl\.sync\.(down|up|bfly|idx)\.[if]32", name):
        kind = match[1]
        return lambda machine, active, values: _shuffled(kind, machine, active, values)
    if name.startswith("membar."):
        return lambda *_: None  # orders what one thread writes, not two threads
    if match := re.fullmatch(r"mulhi\.(i|ui|ll|ull)", name):
        integer = Integer(64 if "l" in match[1] else 32)
        read = integer.unsigned if "u" in match[1] else lambda x: x
        return lambda _, __, values: integer.register(
            read(values[0]).astype(object) * read(values[1]).astype(object) >> integer.bits
        )
    raise NotImplementedError(f"the function llvm.nvvm.{name}")


def _shuffled(kind: str, machine: Machine, active: Active, values: list[Array]) -> Array:
    """``shfl.sync``: PTX ISA, section "Data Movement and Conversion Instructions: shfl.sync"."""
    named, _, distance, limits = (active.of(value).astype(np.int64) for value in values)
    threads = active.threads
    lane = machine.lane[threads].astype(np.int64)
    first = threads - lane
    named &= (1 << 32) - 1
    present = np.zeros(machine.threads, np.int64)
    np.bitwise_or.at(present, first, 1 << lane)
    if (named & ~present[first]).any():
        raise Divergence("lanes named by the mask are not active")
    if not (named >> lane & 1).all():
        raise Divergence("an active lane is not named by the mask")
    segment, clamp, distance = limits >> 8 & 31, limits & 31, distance & 31
    bound = lane & segment | clamp & ~segment
    if kind == "up":
        source = lane - distance
        inside = source >= bound
    else:
        source = {
            "down": lane + distance,
            "bfly": lane ^ distance,
            "idx": lane & segment | distance & ~segment,
        }[kind]
        inside = source <= bound
    source = np.where(inside, source, lane)
    if not (named >> source & 1).all():
        raise Divergence("a lane is read that the mask does not name")
    shared = np.broadcast_to(values[1], machine.threads)
    return active.spread(shared[first + source])
