"""The C function that CPython calls: it takes addresses, makes results, calls machine code.

It goes by the table of integers that it is bound to, an array: the address of the code, the number
of flags, the bytes of scratch memory, the numbers of pointers and of results, where in the table
results begin, whether other threads run meanwhile, and the function that is called instead where an
argument is refused. Then for each pointer its kind and a value,
and for each result how many axes it has (-1: it is a scalar), its dtype's number, the address of
its lengths or its place in scratch memory, the address of its dtype, how many real numbers it has,
and how they are looked at.
"""

from __future__ import annotations

import numpy as np

from gradwire_engine.backends.layout import NUMBERS, PLAIN, array_api

#: Integers at the beginning of the table, for each pointer, and for each result.
HEAD, PER_POINTER, PER_RESULT = 8, 2, 6
#: Kinds of pointers: to what an argument holds, into scratch memory, to a result, an address.
ARGUMENT, SCRATCH, RESULT, ADDRESS = range(4)
#: Checks of elements, by their dtype.
CHECKS = {"d": 1, "f": 2}

_TEXT = """
declare void @Py_DecRef(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyTuple_New(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyErr_NoMemory()
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare double @llvm.vector.reduce.fadd.v8f64(double, <8 x double>)
define ptr @kernel(ptr %self, ptr %args, i64 %count) {{
entry:
  %table.at = getelementptr i8, ptr %self, i64 16
  %table = load ptr, ptr %table.at
  %code = load ptr, ptr %table
  %flags.at = getelementptr i64, ptr %table, i64 1
  %flags = load i64, ptr %flags.at
  %bytes.at = getelementptr i64, ptr %table, i64 2
  %bytes = load i64, ptr %bytes.at
  %length.at = getelementptr i64, ptr %table, i64 3
  %length = load i64, ptr %length.at
  %made.at = getelementptr i64, ptr %table, i64 4
  %made = load i64, ptr %made.at
  %rows.at = getelementptr i64, ptr %table, i64 5
  %rows = load i64, ptr %rows.at
  %releases.at = getelementptr i64, ptr %table, i64 6
  %releases = load i64, ptr %releases.at
  %given = alloca ptr, i64 %count
  %pointers = alloca ptr, i64 %length
  %elements = alloca ptr, i64 %made
  br label %operands

operands:
  %i = phi i64 [ 0, %entry ], [ %i.next, %found ]
  %i.more = icmp slt i64 %i, %count
  br i1 %i.more, label %operand, label %reserve
operand:
  %object.at = getelementptr ptr, ptr %args, i64 %i
  %object = load ptr, ptr %object.at
  %kind.at = getelementptr i8, ptr %object, i64 8
  %kind = load i64, ptr %kind.at
  %value = getelementptr i8, ptr %object, i64 16
  switch i64 %kind, label %refused [
    i64 {array}, label %array
    i64 {none}, label %absent
    {numbers}
  ]
absent:
  br label %found
array:
  %layout.at = getelementptr i8, ptr %object, i64 64
  %layout = load i32, ptr %layout.at
  %both = and i32 %layout, {plain}
  %plain = icmp eq i32 %both, {plain}
  %data = load ptr, ptr %value
  br i1 %plain, label %found, label %refused
found:
  %pointer = phi ptr {values} [ %data, %array ], [ null, %absent ]
  %given.at = getelementptr ptr, ptr %given, i64 %i
  store ptr %pointer, ptr %given.at
  %i.next = add i64 %i, 1
  br label %operands
refused:
  %instead.at = getelementptr i64, ptr %table, i64 7
  %instead = load ptr, ptr %instead.at
  %other = call ptr @PyObject_Vectorcall(ptr %instead, ptr %args, i64 %count, ptr null)
  ret ptr %other

reserve:
  %scratch = call ptr @PyMem_RawMalloc(i64 %bytes)
  %scratch.none = icmp eq ptr %scratch, null
  br i1 %scratch.none, label %no.memory, label %reserved
no.memory:
  call ptr @PyErr_NoMemory()
  ret ptr null
reserved:
  %items = add i64 %made, 1
  %tuple = call ptr @PyTuple_New(i64 %items)
  %tuple.none = icmp eq ptr %tuple, null
  br i1 %tuple.none, label %failed, label %results

results:
  %r = phi i64 [ 0, %reserved ], [ %r.next, %made.one ]
  %r.more = icmp slt i64 %r, %made
  br i1 %r.more, label %result, label %fill
result:
  %r.row = mul i64 %r, {per_result}
  %r.from = add i64 %rows, %r.row
  %axes.at = getelementptr i64, ptr %table, i64 %r.from
  %axes = load i64, ptr %axes.at
  %lengths.at = getelementptr i64, ptr %axes.at, i64 2
  %is.number = icmp slt i64 %axes, 0
  br i1 %is.number, label %number, label %new
number:
  %offset = load i64, ptr %lengths.at
  %place = getelementptr i8, ptr %scratch, i64 %offset
  br label %made.one
new:
  %dtype.at = getelementptr i64, ptr %axes.at, i64 1
  %dtype = load i64, ptr %dtype.at
  %lengths = load ptr, ptr %lengths.at
  %axes.32 = trunc i64 %axes to i32
  %dtype.32 = trunc i64 %dtype to i32
  %new.array = inttoptr i64 {new_array} to ptr
  %type = inttoptr i64 {array} to ptr
  %fresh = call ptr %new.array(ptr %type, i32 %axes.32, ptr %lengths, i32 %dtype.32,
                               ptr null, ptr null, i32 0, i32 0, ptr null)
  %fresh.none = icmp eq ptr %fresh, null
  br i1 %fresh.none, label %failed, label %kept
kept:
  %item.at.0 = getelementptr i8, ptr %tuple, i64 24
  %item.at = getelementptr ptr, ptr %item.at.0, i64 %r
  store ptr %fresh, ptr %item.at
  %fresh.data.at = getelementptr i8, ptr %fresh, i64 16
  %fresh.data = load ptr, ptr %fresh.data.at
  br label %made.one
made.one:
  %there = phi ptr [ %place, %number ], [ %fresh.data, %kept ]
  %there.at = getelementptr ptr, ptr %elements, i64 %r
  store ptr %there, ptr %there.at
  %r.next = add i64 %r, 1
  br label %results

fill:
  %p = phi i64 [ 0, %results ], [ %p.next, %filled ]
  %p.more = icmp slt i64 %p, %length
  br i1 %p.more, label %point, label %clear
point:
  %p.pair = mul i64 %p, {per_pointer}
  %p.from = add i64 %p.pair, {head}
  %p.kind.at = getelementptr i64, ptr %table, i64 %p.from
  %p.kind = load i64, ptr %p.kind.at
  %p.value.at = getelementptr i64, ptr %p.kind.at, i64 1
  %p.value = load i64, ptr %p.value.at
  switch i64 %p.kind, label %of.constant
    [ i64 0, label %of.argument i64 1, label %of.scratch i64 2, label %of.result ]
of.argument:
  %argument.at = getelementptr ptr, ptr %given, i64 %p.value
  %argument = load ptr, ptr %argument.at
  br label %filled
of.scratch:
  %inside = getelementptr i8, ptr %scratch, i64 %p.value
  br label %filled
of.result:
  %output.at = getelementptr ptr, ptr %elements, i64 %p.value
  %output = load ptr, ptr %output.at
  br label %filled
of.constant:
  %constant = inttoptr i64 %p.value to ptr
  br label %filled
filled:
  %target = phi ptr [ %argument, %of.argument ], [ %inside, %of.scratch ],
                    [ %output, %of.result ], [ %constant, %of.constant ]
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %p
  store ptr %target, ptr %pointer.at
  %p.next = add i64 %p, 1
  br label %fill

clear:
  %f = phi i64 [ 0, %fill ], [ %f.next, %cleared ]
  %f.more = icmp slt i64 %f, %flags
  br i1 %f.more, label %cleared, label %call
cleared:
  %flag.at = getelementptr double, ptr %scratch, i64 %f
  store double 0.0, ptr %flag.at
  %f.next = add i64 %f, 1
  br label %clear

call:
  %alone = icmp eq i64 %releases, 0
  br i1 %alone, label %held, label %released
held:
  call void %code(ptr %pointers)
  br label %flagged
released:
  %thread = call ptr @PyEval_SaveThread()
  call void %code(ptr %pointers)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %flagged

flagged:
  %g = phi i64 [ 0, %held ], [ 0, %released ], [ %g.next, %collect ]
  %flagged.sum = phi double [ 0.0, %held ], [ 0.0, %released ], [ %collect.sum, %collect ]
  %g.more = icmp slt i64 %g, %flags
  br i1 %g.more, label %collect, label %finish
collect:
  %collect.at = getelementptr double, ptr %scratch, i64 %g
  %collect.one = load double, ptr %collect.at
  %collect.sum = fadd double %flagged.sum, %collect.one
  %g.next = add i64 %g, 1
  br label %flagged

finish:
  %s = phi i64 [ 0, %flagged ], [ %s.next, %looked ]
  %sum = phi double [ %flagged.sum, %flagged ], [ %looked.sum, %looked ]
  %s.more = icmp slt i64 %s, %made
  br i1 %s.more, label %last, label %finished
last:
  %s.row = mul i64 %s, {per_result}
  %s.from = add i64 %rows, %s.row
  %s.axes.at = getelementptr i64, ptr %table, i64 %s.from
  %s.axes = load i64, ptr %s.axes.at
  %s.elements.at = getelementptr ptr, ptr %elements, i64 %s
  %x = load ptr, ptr %s.elements.at
  %s.is.number = icmp slt i64 %s.axes, 0
  br i1 %s.is.number, label %scalar, label %look
scalar:
  %dtype.of.at = getelementptr i64, ptr %s.axes.at, i64 3
  %dtype.of = load ptr, ptr %dtype.of.at
  %new.scalar = inttoptr i64 {new_scalar} to ptr
  %one = call ptr %new.scalar(ptr %x, ptr %dtype.of, ptr null)
  %one.none = icmp eq ptr %one, null
  br i1 %one.none, label %failed, label %one.kept
one.kept:
  %one.at.0 = getelementptr i8, ptr %tuple, i64 24
  %one.at = getelementptr ptr, ptr %one.at.0, i64 %s
  store ptr %one, ptr %one.at
  br label %look
look:
  %n.at = getelementptr i64, ptr %s.axes.at, i64 4
  %n = load i64, ptr %n.at
  %check.at = getelementptr i64, ptr %s.axes.at, i64 5
  %check = load i64, ptr %check.at
  switch i64 %check, label %looked [ i64 1, label %double.start i64 2, label %float.start ]
{look_double}
{look_float}
looked:
  %new.sum = phi double [ 0.0, %look ], [ %double.sum, %double.end ], [ %float.sum, %float.end ]
  %looked.sum = fadd double %sum, %new.sum
  %s.next = add i64 %s, 1
  br label %finish

finished:
  %flagged.item = call ptr @PyFloat_FromDouble(double %sum)
  %flagged.none = icmp eq ptr %flagged.item, null
  br i1 %flagged.none, label %failed, label %done
done:
  %flagged.at.0 = getelementptr i8, ptr %tuple, i64 24
  %flagged.at = getelementptr ptr, ptr %flagged.at.0, i64 %made
  store ptr %flagged.item, ptr %flagged.at
  call void @PyMem_RawFree(ptr %scratch)
  ret ptr %tuple
failed:
  %left = phi ptr [ null, %reserved ], [ %tuple, %new ], [ %tuple, %scalar ], [ %tuple, %finished ]
  call void @PyMem_RawFree(ptr %scratch)
  %nothing = icmp eq ptr %left, null
  br i1 %nothing, label %raise, label %drop
drop:
  call void @Py_DecRef(ptr %left)
  br label %raise
raise:
  ret ptr null
}}
"""

#: Adds up the elements ``x`` times 0: the sum is 0 where all ``n`` are finite, else NaN.
_LOOK = """
{type}.start:
  %{type}.whole = and i64 %n, -8
  br label %{type}.eights
{type}.eights:
  %{type}.i = phi i64 [ 0, %{type}.start ], [ %{type}.i.next, %{type}.eight ]
  %{type}.lanes = phi <8 x {type}> [ zeroinitializer, %{type}.start ],
                               [ %{type}.more, %{type}.eight ]
  %{type}.go = icmp slt i64 %{type}.i, %{type}.whole
  br i1 %{type}.go, label %{type}.eight, label %{type}.rest
{type}.eight:
  %{type}.at = getelementptr {type}, ptr %x, i64 %{type}.i
  %{type}.v = load <8 x {type}>, ptr %{type}.at, align {size}
  %{type}.zero = fmul <8 x {type}> %{type}.v, zeroinitializer
  %{type}.more = fadd <8 x {type}> %{type}.lanes, %{type}.zero
  %{type}.i.next = add i64 %{type}.i, 8
  br label %{type}.eights
{type}.rest:
  %{type}.wide = {widen_lanes}
  %{type}.across = call reassoc double @llvm.vector.reduce.fadd.v8f64(double 0.0,
                                                               <8 x double> %{type}.wide)
  br label %{type}.end
{type}.end:
  %{type}.k = phi i64 [ %{type}.whole, %{type}.rest ], [ %{type}.k.next, %{type}.single ]
  %{type}.sum = phi double [ %{type}.across, %{type}.rest ], [ %{type}.next, %{type}.single ]
  %{type}.left = icmp slt i64 %{type}.k, %n
  br i1 %{type}.left, label %{type}.single, label %looked
{type}.single:
  %{type}.y.at = getelementptr {type}, ptr %x, i64 %{type}.k
  %{type}.y = load {type}, ptr %{type}.y.at
  %{type}.y.wide = {widen}
  %{type}.y.zero = fmul double %{type}.y.wide, 0.0
  %{type}.next = fadd double %{type}.sum, %{type}.y.zero
  %{type}.k.next = add i64 %{type}.k, 1
  br label %{type}.end
"""


def text() -> str:
    """The function ``kernel``."""
    double = _LOOK.format(
        type="double",
        size=8,
        widen_lanes="select i1 true, <8 x double> %double.lanes, <8 x double> %double.lanes",
        widen="select i1 true, double %double.y, double %double.y",
    )
    single = _LOOK.format(
        type="float",
        size=4,
        widen_lanes="fpext <8 x float> %float.lanes to <8 x double>",
        widen="fpext float %float.y to double",
    )
    return _TEXT.format(
        array=id(np.ndarray),
        none=id(type(None)),
        numbers="\n    ".join(f"i64 {id(kind)}, label %found" for kind in NUMBERS),
        values="[ %value, %operand ], " * len(NUMBERS),
        plain=PLAIN,
        new_array=array_api("PyArray_New"),
        new_scalar=array_api("PyArray_Scalar"),
        head=HEAD,
        per_pointer=PER_POINTER,
        per_result=PER_RESULT,
        look_double=double,
        look_float=single,
    )
