"""Calls machine code with NumPy's arrays and scalars, in a tenth of a microsecond.

What Python calls is itself machine code, with the interface that CPython's functions in C have
(METH_FASTCALL). It takes the address of an array's elements, of a scalar that of its value, none of
``None``. Arrays whose elements do not lie one after the other are copied before. It makes the
results, and memory for what is computed on the way. Sources: CPython, Common Object Structures;
NumPy, Python Types and C-Structures (PyArrayObject, its fields and flags), Array API.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.llvm import entry
from gradwire_engine.backends.llvm.compiler import Code, load_text
from gradwire_engine.errors import InternalError
from gradwire_engine.kernels.form import dtype_of, real_char
from gradwire_engine.tape import Shape


class Argument(NamedTuple):
    """Python's object at this place of the arguments."""

    number: int


class Scratch(NamedTuple):
    """A place, in bytes, in the memory that a call has while it runs."""

    offset: int


class Result(NamedTuple):
    """The elements of a result, by its number."""

    number: int


#: Objects whose address machine code is given; a constant array is given as it is.
Pointer: TypeAlias = "Argument | Scratch | Result | Array"


class Made(NamedTuple):
    """A result that a call makes: an array, or a scalar of what is at a place in ``scratch``.

    A ``checked`` one is looked through for elements that are not finite.
    """

    char: str
    shape: Shape
    checked: bool = False
    scratch: int | None = None


class Frame(NamedTuple):
    """The arguments of machine code: its pointers, results to be made, and scratch memory.

    That begins with so many ``flags``, which begin with 0 and end with NaN where their result
    is not finite. The first ``operands`` of the arguments are only read.
    """

    pointers: Sequence[Pointer]
    results: Sequence[Made] = ()
    scratch_bytes: int = 0
    flags: int = 0
    operands: int = 0


_FASTCALL = 0x0080
_KINDS: dict[type, int] = {
    Argument: entry.ARGUMENT,
    Scratch: entry.SCRATCH,
    Result: entry.RESULT,
}


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@cache
def _method() -> _Method:
    """The function as CPython takes it."""
    code = load_text(entry.text())
    method = _Method(b"kernel", code.address, _FASTCALL, None)
    method.code = code  # lives as long
    return method


class _Table(np.ndarray[Any, Any]):
    """A table that callers of machine code hold, and that keeps all that it needs alive."""

    code: Code
    method: _Method
    kept: Sequence[Any]


def callable_of(code: Code, frame: Frame, *, releases: bool = False) -> Callable[..., Any]:
    """A function of arrays and scalars that calls machine code with their addresses.

    It returns a tuple: the results, and a number that is finite if all are that it looked at.
    Operands that are arrays, and not in row-major order, are copied; nothing else of another layout
    is taken. One that ``releases`` lets other threads run meanwhile.
    """
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    copying = _Copying(frame.operands)
    integers, kept = _rows(code, frame, copying, releases=releases)
    table = np.array(integers, np.int64).view(_Table)
    table.code, table.method, table.kept = code, _method(), kept
    made: Callable[..., Any] = new(ctypes.addressof(table.method), table, None)
    copying.of = ref(made)
    return made


class _Copying:
    """Calls the same function once more, with copies of the operands that it refuses."""

    of: ref[Callable[..., Any]]

    def __init__(self, operands: int) -> None:
        self._operands = operands

    def __call__(self, *given: Any) -> Any:
        """Call it with arrays in row-major order, each element at a place that its size divides."""
        called, operands = self.of(), given[: self._operands]
        copies = [
            np.require(x, requirements=("C", "A", "E")) if isinstance(x, np.ndarray) else x
            for x in operands
        ]
        if called is None or all(x is copy for x, copy in zip(operands, copies, strict=True)):
            raise InternalError("machine code refused an array in row-major order")
        return called(*copies, *given[self._operands :])


def _rows(
    code: Code, frame: Frame, copying: _Copying, *, releases: bool
) -> tuple[list[int], list[Any]]:
    """The integers of a table, and the objects whose addresses are among them."""
    length, made = len(frame.pointers), len(frame.results)
    rows = entry.HEAD + entry.PER_POINTER * length
    found = [code.address, frame.flags, frame.scratch_bytes, length, made, rows, releases]
    found.append(id(copying))
    kept: list[Any] = [copying]
    for pointer in frame.pointers:
        if isinstance(pointer, np.ndarray):
            kept.append(pointer)
            found += [entry.ADDRESS, pointer.ctypes.data]
        else:
            found += [_KINDS[type(pointer)], *pointer]
    for char, shape, checked, scratch in frame.results:
        dtype, lengths = dtype_of(char), np.array(shape, np.int64)
        kept += [dtype, lengths]
        axes, place = (len(shape), lengths.ctypes.data) if scratch is None else (-1, scratch)
        check = entry.CHECKS.get(real_char(char), 0) if checked else 0
        numbers = prod(shape) * (2 if dtype.kind == "c" else 1)
        found += [axes, dtype.num, place, id(dtype), numbers, check]
    return found, kept


def warm_up() -> None:
    """Compile what all calls need: processes that are forked from this one then have it."""
    _method()
