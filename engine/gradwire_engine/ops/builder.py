"""Recording surface: a tape under construction, whose variables derivative rules handle."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine import hints
from gradwire_engine.answer import Limits, Poll
from gradwire_engine.errors import BadArgument, DtypeMismatch, OverBudget, ShapeMismatch
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES, Op
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.promotion import DTYPES, Kind, check_strict, inexact, promoted
from gradwire_engine.ops.var import Scalar, Var
from gradwire_engine.tape import ArrayType, DType, Instruction, Shape, Tape, TupleType, Type

__all__ = ["Builder", "Scalar", "Step", "Var", "check_nesting", "describe", "refuse_too_large"]


class Step(NamedTuple):
    """An instruction to append again; ``pick`` takes its args, or its only one, from slots."""

    op: Op
    pick: Callable[[Sequence[int]], Any]
    alone: bool
    type: Type


#: The deadline is looked at every so many instructions.
_BETWEEN_POLLS = 1000
#: So many variables are let go of at once.
_FREED = 4096
_new_tuple = tuple.__new__
#: Most items, and deepest nesting, of a list that becomes an array.
_MOST_NESTED, _DEEPEST_NESTED = 1_000_000, 100
#: So many elements of a table are made at once: in half a millisecond, within a cache.
_TABLE_PIECE = 1 << 16
#: Programs' dtypes by identity: NumPy has others that are equal.
_OWN_DTYPES = frozenset(map(id, DTYPES.values()))
#: Types of values that stand for arrays by themselves.
_ARRAY = (Var, bool, int, float, complex)


class Builder:
    """A tape under construction. ``origin`` numbers the program node being recorded."""

    def __init__(self, limits: Limits, *, strict: bool = False, poll: Poll = lambda: None) -> None:
        self.limits = limits
        self.poll = poll
        self.strict = strict
        self.origin = 0
        #: Whether a flag is up for the present values, with which the tape holds from then on.
        self.holds: Callable[[Var], bool] = lambda flag: False
        #: Takes warnings: code, detail and origin.
        self.warn: Callable[[str, str, int], None] = lambda code, detail, origin: None
        self.instructions: list[Instruction] = []
        #: The variable of each slot.
        self.vars: list[Var] = []
        self.inputs: list[int] = []
        #: The bodies of loops that are being recorded, the innermost last.
        self.regions: list[Any] = []
        #: What is computed before a loop, though perhaps none of its passes needs it.
        self.early: set[Op] = set()
        #: Equal types as one object, so that comparing them is quick.
        self._types: dict[Type, Any] = {}
        self._next_look = 0
        #: Bytes of the constants that have axes.
        self._constant_bytes = 0
        self._scalars: dict[Hashable, Var] = {}

    def emit(self, op: Op, *operands: Var) -> Var:
        """Append ``op`` applied to ``operands``, checking types and the budget, nothing else."""
        first = operands[0].type
        if len(operands) == 2:  # most have two: in two thirds of the time
            x, y = operands
            args: tuple[int, ...] = (x.slot, y.slot)
            kind = op.infer(first, y.type)
        else:
            args = tuple([v.slot for v in operands])
            kind = op.infer(*[v.type for v in operands])
        if kind is not first:
            if not 0 < kind.nbytes <= self.limits.array_bytes:
                refuse_too_large(kind, self.limits.array_bytes)
            kind = self._types.setdefault(kind, kind)
        return self.again(op, args, kind)

    def again(self, op: Op, args: tuple[int, ...], kind: Any) -> Var:
        """Append an instruction whose type is known, or has been checked before."""
        variables = self.vars
        slot = len(variables)
        if slot >= self._next_look:
            self._look(slot)
        # The named tuple's own constructor is a Python function: twice the time of the tuple's.
        self.instructions.append(_new_tuple(Instruction, (op, args, kind, self.origin)))
        var = Var(self, slot, kind)
        variables.append(var)
        return var

    def follow(self, steps: Iterable[Step], slots: list[int]) -> None:
        """Append instructions whose args are among ``slots``, to which each adds its own."""
        instructions, variables, origin = self.instructions, self.vars, self.origin
        for op, pick, alone, kind in steps:
            slot = len(variables)
            if slot >= self._next_look:
                self._look(slot)
            args = pick(slots)
            if alone:
                args = (args,)
            instructions.append(_new_tuple(Instruction, (op, args, kind, origin)))
            variables.append(Var(self, slot, kind))  # type: ignore[arg-type]
            slots.append(slot)

    def _look(self, slot: int) -> None:
        """Look at the deadline, and whether the tape may grow on."""
        self.poll()
        if slot >= self.limits.instructions:
            raise OverBudget(
                f"the tape grew beyond {self.limits.instructions} instructions",
                hint="shorten loops, or work on whole arrays instead of elements",
            )
        self._next_look = min(slot + _BETWEEN_POLLS, self.limits.instructions)

    def input(self, kind: ArrayType) -> Var:
        """Append the next input."""
        var = self.again(Input(len(self.inputs)), (), self._types.setdefault(kind, kind))
        self.inputs.append(var.slot)
        return var

    def constant(self, value: Any, *, weak: bool = False) -> Var:
        """Append ``value`` as a constant of its own identity; what is large is a ``table``."""
        array = _literal(value)
        if array.shape:
            self._constant_bytes += array.nbytes
            self._check_constants()
        kind = ArrayType(array.dtype, array.shape, weak)
        return self.again(Constant.of(array), (), self._types.setdefault(kind, kind))

    def table(
        self,
        shape: Shape,
        rule: Callable[..., Any],
        dtype: DType = DTYPES["int64"],
        *,
        by: int | None = None,
        weak: bool = False,
    ) -> Var:
        """The constant whose element at ``i, j, …`` is ``rule(i, j, …)``.

        ``rule`` takes and gives arrays that broadcast, each time for some of the indices along the
        axis ``by`` (the longest by default) and all along the others, in their order.
        Raises: ``OverBudget`` before any of it is made.
        """
        kind = ArrayType(dtype, shape)
        self.afford(kind)
        made = np.empty(shape, dtype)
        along = max(range(len(shape)), key=shape.__getitem__) if by is None else by
        grid = [*np.ix_(*map(np.arange, shape))]
        numbers, before = grid[along], (slice(None),) * along
        each = kind.size // max(shape[along], 1)
        piece = max(_TABLE_PIECE // max(each, 1), 1)
        for start in range(0, shape[along] if each else 0, piece):
            part = (*before, slice(start, start + piece))
            grid[along] = numbers[part]
            made[part] = rule(*grid)
            self.poll()
        return self.constant(made, weak=weak)

    def numbers(self, length: int, axis: int = 0, ndim: int = 1) -> Var:
        """The constant that counts from 0 along ``axis`` of ``ndim``, the others of length 1."""
        shape = tuple([length if i == axis else 1 for i in range(ndim)])
        return self.table(shape, lambda *at: at[axis])

    def afford(self, *kinds: ArrayType, hint: str | None = None) -> None:
        """Refuse to make arrays of these types while recording, if there is no room for them.

        Asked before each that is not a ``table``. It looks at the deadline, too.
        """
        for kind in kinds:
            refuse_too_large(kind, self.limits.array_bytes, hint)
        self._check_constants(sum([kind.nbytes for kind in kinds]), hint)
        self.poll()

    def _check_constants(self, more_bytes: int = 0, hint: str | None = None) -> None:
        nbytes = self._constant_bytes + more_bytes
        if nbytes > self.limits.total_bytes:
            most = self.limits.total_bytes
            message = f"recording this takes {nbytes:,} bytes: more than the {most:,} allowed"
            raise OverBudget(message, hint=hint or hints.OF_LIMITS)

    def scalar(self, value: Scalar, dtype: DType) -> Var:
        """A 0-d constant that no program names, so that one slot serves all its uses."""
        key = _scalar_key(value, dtype)
        found = self._scalars.get(key)
        if found is None:
            found = self._scalars[key] = self.constant(_held(value, dtype))
        return found

    def number(self, var: Var) -> Scalar | None:
        """The value of a ``scalar``, of which no program can ask a derivative; else nothing."""
        op = self.instructions[var.slot].op
        if type(op) is not Constant or var.type.shape:
            return None
        value: Scalar = op.value.item()
        return value if self._scalars.get(_scalar_key(value, var.dtype)) is var else None

    def full(self, value: Scalar, kind: ArrayType) -> Var:
        """An array of type ``kind`` filled with ``value``."""
        return self.broadcast(self.scalar(value, kind.dtype), kind.shape)

    def broadcast(self, x: Var, shape: Shape) -> Var:
        """``x`` repeated along new and unit axes to ``shape``."""
        return x if x.type.shape == shape else self.emit(PRIMITIVES["broadcast_to"](shape), x)

    def cast(self, x: Var, dtype: DType, *, weak: bool = False) -> Var:
        """``x`` as ``dtype``."""
        if x.type.dtype == dtype:
            return x
        return self.emit(PRIMITIVES["astype"](dtype, weak), x)

    def array(self, x: Any) -> Var:
        """``x`` as a variable: numbers and lists of numbers become weak constants, lists stack."""
        if isinstance(x, Var):
            return x
        if isinstance(x, _ARRAY):
            return self.constant(x, weak=True)
        if isinstance(x, list | tuple):
            check_nesting(x)
            if _holds_var(x):
                stacked: Var = FUNCTIONS["stack"].record(self, x)
                return stacked
            return self.constant(x, weak=True)
        if isinstance(x, range):
            if len(x) > _MOST_NESTED:
                raise OverBudget(f"a range of {len(x)} items as an array", hint="arange makes one")
            return self.constant(x, weak=True)
        kind = describe(x)
        raise BadArgument(f"expected an array, got {kind}", hint=hints.for_value(x, kind))

    def promote(
        self, *operands: Any, rule: Callable[[tuple[Kind, ...]], Kind] = promoted
    ) -> list[Var]:
        """The operands as variables of the dtype that ``rule`` gives them; literals adopt it."""
        if len(operands) == 2 and rule is promoted:  # most calls are of two arrays of one dtype
            x, y = operands
            if type(x) is Var and type(y) is Var and x.type.dtype is y.type.dtype:
                return [x, y]
        arrays = [x if isinstance(x, _ARRAY) else self.array(x) for x in operands]
        kinds = tuple(dict.fromkeys([_kind(x) for x in arrays]))
        if self.strict:
            check_strict(kinds)
        dtype, weak = rule(kinds)
        return [
            self.cast(self._fitting(x, dtype), dtype, weak=weak)
            if isinstance(x, Var)
            else self.constant(_held(x, dtype), weak=True)
            if weak
            else self.scalar(x, dtype)
            for x in arrays
        ]

    def _fitting(self, x: Var, dtype: DType) -> Var:
        """``x`` itself, unless it is a list of literals with an integer that ``dtype`` lacks."""
        if x.type.weak and dtype.kind in "iu" and dtype != x.type.dtype:
            op = self.instructions[x.slot].op
            if isinstance(op, Constant) and (np.asarray(op.value).astype(dtype) != op.value).any():
                raise DtypeMismatch(f"{dtype.name} cannot hold these literals")
        return x

    def inexact(self, x: Any) -> Var:
        """``x`` as a variable of a floating or complex dtype."""
        var = self.array(x)
        dtype, weak = inexact((var.type.dtype, var.type.weak))
        return self.cast(var, dtype, weak=weak)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Forget afterwards what is appended meanwhile."""
        length, inputs, scalars = len(self.vars), len(self.inputs), dict(self._scalars)
        constant_bytes = self._constant_bytes
        try:
            yield
        finally:
            self._constant_bytes = constant_bytes
            del self.instructions[length:], self.vars[length:], self.inputs[inputs:]
            self._scalars, self._next_look = scalars, length

    def forget(self) -> None:
        """Let go of what has been recorded: variables refer to it, and it refers to them."""
        for made in (self.vars, self.instructions):
            while made:  # in pieces: nothing else runs while much is freed at once
                del made[-_FREED:]
        self._scalars.clear()
        del self.holds, self.warn

    def tape(self, outputs: Sequence[Var]) -> Tape:
        """The recording so far as a tape that returns ``outputs``."""
        return Tape(tuple(self.instructions), tuple(self.inputs), tuple(v.slot for v in outputs))


def check_nesting(x: Any) -> None:
    """Refuse lists in lists that are too deep or, sharing their parts, too many to go through.

    A range counts as the list of its items.
    """
    count, depth, level = 0, 0, [x]
    while level:
        count, depth = count + len(level), depth + 1
        if count > _MOST_NESTED or depth > _DEEPEST_NESTED:
            raise OverBudget(f"lists nested beyond {_MOST_NESTED} items or {_DEEPEST_NESTED} deep")
        inner: list[Any] = []
        for item in level:
            if isinstance(item, list | tuple):
                inner += item
            elif isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, range):
                count += len(item)
            if len(inner) > _MOST_NESTED:
                break
        level = inner
    if count > _MOST_NESTED:
        raise OverBudget(f"lists of more than {_MOST_NESTED} items")


def describe(x: Any) -> str:
    """A description of ``x`` for an error message."""
    if isinstance(x, Var):
        return str(x.type)
    if isinstance(x, Composite):
        return str(x)
    if x is None or isinstance(x, bool):
        return str(x)
    names = {int: "an integer", float: "a number", complex: "a complex number", str: "a string"}
    names |= {list: "a list", tuple: "a tuple", dict: "a nested variable", slice: "a slice"}
    names |= {range: "a range", type(...): "an ellipsis"}
    return names.get(type(x), "a dtype" if isinstance(x, np.dtype) else "a function")


def refuse_too_large(kind: Type, most_bytes: int, hint: str | None = None) -> None:
    """Raise ``OverBudget`` for an array that is too large, even if one of its axes is empty."""
    items = kind.items if isinstance(kind, TupleType) else (kind,)
    lengths = [[length or 1 for length in item.shape] for item in items]
    size = sum(math.prod(n) * i.dtype.itemsize for n, i in zip(lengths, items, strict=True))
    if size > most_bytes:
        message = f"this would make {kind}: {size:,} bytes, more than the {most_bytes:,} allowed"
        raise OverBudget(message, hint=hint or hints.OF_LIMITS)


def _kind(x: Var | Scalar) -> Kind:
    if isinstance(x, Var):
        return x.type.dtype, x.type.weak
    return np.dtype(type(x)), True


def _held(value: Scalar, dtype: DType) -> Any:
    try:
        return np.asarray(value, dtype=dtype)
    except (OverflowError, TypeError):
        raise DtypeMismatch(f"{dtype.name} cannot hold this literal") from None


def _scalar_key(value: Scalar, dtype: DType) -> Hashable:
    """Equal for what is the same number in this dtype, written as a float or as an integer."""
    return dtype, value if value and type(value) is not complex else _held(value, dtype).tobytes()


def _literal(x: Any) -> Any:
    """``x`` as an array of a dtype that programs know; NumPy has two for large integers."""
    try:
        array = np.asarray(x)
    except ValueError:
        raise ShapeMismatch("the rows of this list differ in length") from None
    if id(array.dtype) in _OWN_DTYPES:
        return array
    known = DTYPES.get(array.dtype.name)
    if known is None:
        large = array.dtype.kind == "O" and all(isinstance(item, int) for item in array.flat)
        hint = "integers have at most 64 bits" if large else None
        raise BadArgument("this is not a list of numbers", hint=hint)
    return array.astype(known)


def _holds_var(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(_holds_var(item) for item in x)
    return isinstance(x, Var)
