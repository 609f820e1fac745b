"""Calls machine code with NumPy's arrays and scalars, in a tenth of a microsecond.

What Python calls is itself machine code, with the interface that CPython's functions in C have
(METH_FASTCALL). It takes the address of an array's elements, of a scalar that of its value, and
refuses arrays whose elements do not lie one after the other. Sources: CPython, Common Object
Structures; NumPy, Python Types and C-Structures (PyArrayObject, its fields and flags).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gradwire_engine.backends.layout import PLAIN
from gradwire_engine.backends.llvm.compiler import Code, load_text

_FASTCALL = 0x0080

_TEXT = """
declare void @Py_IncRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
define ptr @kernel(ptr %self, ptr %args, i64 %count) {{
entry:
  %pointers = alloca ptr, i64 %count
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %found ]
  %at = getelementptr ptr, ptr %args, i64 %i
  %object = load ptr, ptr %at
  %kind.at = getelementptr i8, ptr %object, i64 8
  %kind = load i64, ptr %kind.at
  %value = getelementptr i8, ptr %object, i64 16
  %array = icmp eq i64 %kind, {array}
  br i1 %array, label %elements, label %found
elements:
  %flags.at = getelementptr i8, ptr %object, i64 64
  %flags = load i32, ptr %flags.at
  %both = and i32 %flags, {plain}
  %plain = icmp eq i32 %both, {plain}
  %data = load ptr, ptr %value
  br i1 %plain, label %found, label %refused
found:
  %pointer = phi ptr [ %value, %next ], [ %data, %elements ]
  %to = getelementptr ptr, ptr %pointers, i64 %i
  store ptr %pointer, ptr %to
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %next, label %call
call:
  %code.at.at = getelementptr i8, ptr %self, i64 16
  %code.at = load ptr, ptr %code.at.at
  %code = load ptr, ptr %code.at
  {before}
  call void %code(ptr %pointers)
  {after}
  %true = inttoptr i64 {true} to ptr
  call void @Py_IncRef(ptr %true)
  ret ptr %true
refused:
  %false = inttoptr i64 {false} to ptr
  call void @Py_IncRef(ptr %false)
  ret ptr %false
}}
"""


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@cache
def _method(*, releases: bool) -> _Method:
    """The function as CPython takes it; one that ``releases`` lets other threads run meanwhile."""
    text = _TEXT.format(
        array=id(np.ndarray),
        plain=PLAIN,
        true=id(True),
        false=id(False),
        before="%thread = call ptr @PyEval_SaveThread()" if releases else "",
        after="call void @PyEval_RestoreThread(ptr %thread)" if releases else "",
    )
    code = load_text(text)
    method = _Method(b"kernel", code.address, _FASTCALL, None)
    method.code = code  # lives as long
    return method


class _Address(np.ndarray[Any, Any]):
    """The address of machine code: what calls it has this, and so all that it needs."""

    code: Code
    method: _Method


def callable_of(code: Code, *, releases: bool = False) -> Callable[..., bool]:
    """A function of arrays and scalars that calls machine code with their addresses.

    It returns False, and calls nothing, where an array is not in row-major order.
    """
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    address = np.array([code.address], np.uint64).view(_Address)
    address.code, address.method = code, _method(releases=releases)
    made: Callable[..., bool] = new(ctypes.addressof(address.method), address, None)
    return made


def warm_up() -> None:
    """Compile what all calls need: processes that are forked from this one then have it."""
    for releases in (False, True):
        _method(releases=releases)
