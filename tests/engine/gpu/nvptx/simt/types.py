"""Types of LLVM's IR, and the NumPy arrays that hold their values.

A register is an array with an axis of threads, of length 1 where all threads have the same value; a
vector's register has a second axis, that of a structure is a tuple. bfloat16, which NumPy does not
know, is held as its 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Register = Array | tuple[Array, ...]

NATIVE = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


@dataclass(frozen=True)
class Type:
    """A first-class type."""

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of one element in a register."""
        raise NotImplementedError(f"values of type {self}")

    @cached_property
    def size(self) -> int:
        """How many bytes it takes in memory."""
        if self.dtype.kind in "bO":
            raise NotImplementedError(f"{self} in memory")
        return self.dtype.itemsize

    @property
    def alignment(self) -> int:
        """The alignment of accesses that state none."""
        return self.size

    @property
    def scalar(self) -> Type:
        """The type of an element of a vector, of anything else itself."""
        return self

    def numbers(self, register: Array) -> Array:
        """A register's values as NumPy computes with them."""
        return register

    def register(self, numbers: Array) -> Array:
        """Computed values as a register holds them: rounded, wrapped around."""
        return numbers.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class Void(Type):
    """Nothing."""


@dataclass(frozen=True)
class Integer(Type):
    """``iN``: signed, for widths that NumPy lacks Python's integers."""

    bits: int

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(NATIVE.get(self.bits, np.object_))

    def unsigned(self, register: Array) -> Array:
        """The same bits read as a number from zero on."""
        if self.dtype.kind == "O":
            return np.asarray(register & ((1 << self.bits) - 1))
        if self.bits == 1:
            return register
        return register.view(f"u{self.dtype.itemsize}")

    def register(self, numbers: Array) -> Array:
        if self.dtype.kind == "O":
            half = 1 << self.bits - 1
            return np.asarray(((numbers.astype(object) + half) & (2 * half - 1)) - half)
        if self.bits == 1:
            return (numbers & 1).astype(np.bool_)
        if numbers.dtype.kind == "O":
            low = numbers & ((1 << self.bits) - 1)
            return low.astype(f"u{self.dtype.itemsize}").view(self.dtype)
        return numbers.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class Float(Type):
    """``half``, ``float`` or ``double``."""

    name: str

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype({"half": np.float16, "float": np.float32, "double": np.float64}[self.name])

    def bits(self, bits: int) -> Array:
        """The register of these bits."""
        return np.array([bits], f"u{self.dtype.itemsize}").view(self.dtype)


@dataclass(frozen=True)
class BFloat(Float):
    """``bfloat``: the upper half of a ``float``."""

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.uint16)

    def numbers(self, register: Array) -> Array:
        return (register.astype(np.uint32) << 16).view(np.float32)

    def register(self, numbers: Array) -> Array:
        """To the nearest, at ties to even: of a double by a float rounded to odd."""
        single = numbers.astype(np.float32)
        rest = numbers.astype(np.float64) - single
        inexact = np.isfinite(rest) & (rest != 0) & (single.view(np.uint32) & 1 == 0)
        odd = np.nextafter(single, np.where(rest > 0, np.inf, -np.inf).astype(np.float32))
        bits = np.where(inexact, odd, single).view(np.uint32)
        rounded = ((bits.astype(np.uint64) + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(numbers), np.uint16(0x7FFF), rounded)


@dataclass(frozen=True)
class Pointer(Type):
    """``ptr addrspace(N)``."""

    space: int = 0

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64)


@dataclass(frozen=True)
class Vector(Type):
    """``<N x T>``."""

    count: int
    element: Type

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return self.element.dtype

    @cached_property
    def size(self) -> int:
        return self.count * self.element.size

    @property
    def scalar(self) -> Type:
        return self.element

    def numbers(self, register: Array) -> Array:
        return self.element.numbers(register)

    def register(self, numbers: Array) -> Array:
        return self.element.register(numbers)


@dataclass(frozen=True)
class Struct(Type):
    """``{ T, U }``: only in registers, as a tuple of those of its elements."""

    elements: tuple[Type, ...]


@dataclass(frozen=True)
class Sequence(Type):
    """``[N x T]``: only in memory."""

    count: int
    element: Type

    @cached_property
    def size(self) -> int:
        return self.count * self.element.size

    @property
    def alignment(self) -> int:
        return self.element.alignment

    @property
    def innermost(self) -> Type:
        """What it is a sequence of, through all axes."""
        element = self.element
        return element.innermost if isinstance(element, Sequence) else element
