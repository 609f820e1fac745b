"""Expressions of one structure, recorded one by one, as a single expression over arrays.

``stack([f(x[0]), f(x[1]), …])`` and ``f(x[0]) + f(x[1]) + …``, in whatever loop, comprehension or
text they were written, become ``f(x)`` and its sum. Expressions have one structure if they apply
the same operations; they may differ in constants and in the elements that they read. Compilers
call this superword-level parallelism (Larsen and Amarasinghe, 2000).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.errors import BadArgument, EngineError
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.batching import transposed
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.patterns import ARRAY, Pattern, Span
from gradwire_engine.ops.pointwise.arithmetic import Add, Power, Subtract
from gradwire_engine.record.reroll import OPAQUE, exponent
from gradwire_engine.tape import ArrayType, DType
from gradwire_engine.traversal import ancestors

#: Fewer expressions are computed as quickly one by one.
_FEWEST = 8
#: The most bytes of an array of all expressions' values: larger ones leave the processor's cache,
#: and computing them takes longer than calling a function for each.
_MOST_BYTES = 1 << 20
_SUMS = (Add, Subtract)
_JOINS = (Stack, Concatenate)


def vectorized(b: Builder, outputs: Sequence[Var]) -> dict[Var, Var]:
    """Replacements that make expressions of one structure one; the outermost only."""
    return _Vectorizer(b, outputs).replaced()


class _Many(NamedTuple):
    """The values of expressions along a new first axis, or the single value of all."""

    value: Var
    differ: bool


class _Vectorizer:
    """Looks for expressions of one structure among what outputs are computed from."""

    def __init__(self, b: Builder, outputs: Sequence[Var]) -> None:
        self._b = b
        self._outputs = [out.slot for out in outputs]
        self._codes: dict[int, int] = {}
        self._many: dict[tuple[int, ...], _Many] = {}

    def replaced(self) -> dict[Var, Var]:
        """Replacements of the outermost expressions only."""
        b = self._b
        made = b.instructions
        if not self._may_roll():
            return {}
        slots = sorted(ancestors(made, self._outputs))
        self._number(slots)
        readers = Counter([arg for slot in slots for arg in made[slot].args] + self._outputs)
        replaced: dict[Var, Var] = {}
        needed, within = {*self._outputs}, set[int]()
        for slot in reversed(slots):
            if slot not in needed:
                continue
            rolled = None
            if slot not in within:
                op = made[slot].op
                try:
                    if type(op) in _JOINS:
                        rolled = self._joined(slot)
                    elif type(op) in _SUMS and _keeps(b.vars[slot].dtype):
                        rolled = self._summed(slot, readers, within)
                except EngineError:  # it cannot be batched, or all at once are too large
                    rolled = None
            if rolled is None:
                needed.update(made[slot].args)
            else:
                replaced[b.vars[slot]] = rolled
        return replaced

    def _may_roll(self) -> bool:
        """True if anything has enough operands or terms: most programs have not."""
        made = self._b.instructions
        kinds = [*map(type, map(itemgetter(0), made))]
        if not {*kinds}.isdisjoint(_JOINS) and any(
            len(made[slot].args) >= _FEWEST for slot, kind in enumerate(kinds) if kind in _JOINS
        ):
            return True
        sums = [slot for slot, kind in enumerate(kinds) if kind in _SUMS]
        if not self._are_many(sums, {}):  # even if no term is read elsewhere
            return False
        return self._are_many(sums, Counter(chain.from_iterable(map(itemgetter(1), made))))

    def _are_many(self, sums: Sequence[int], readers: Mapping[int, int]) -> bool:
        """True if a sum has enough terms, a sum within it counting as one if others read it."""
        made, terms = self._b.instructions, dict[int, int]()
        for slot in sums:
            x, y = made[slot].args
            left = terms.get(x, 1) if readers.get(x, 1) == 1 else 1
            terms[slot] = left + (terms.get(y, 1) if readers.get(y, 1) == 1 else 1)
            if terms[slot] >= _FEWEST:
                return True
        return False

    def _number(self, slots: Iterable[int]) -> None:
        """Give expressions of one structure the same number."""
        numbers: dict[Hashable, int] = {}
        b, codes = self._b, self._codes
        for i, slot in enumerate(slots):
            if not i % 1024:
                b.poll()
            op, args, kind, _ = b.instructions[slot]
            key: Hashable
            if type(op) is Constant:
                key = kind
            elif isinstance(op, OPAQUE) or not isinstance(kind, ArrayType):
                key = (None, slot)
            elif type(op) is GetItem and len(args) == 1:
                key = (_without_places(op.pattern), kind, codes[args[0]])
            elif len(args) == 1:
                key = (op, codes[args[0]])
            elif type(op) is Power:
                key = (op, codes[args[0]], exponent(b, args[1]) or codes[args[1]])
            else:
                key = (op, *[codes[arg] for arg in args])
            codes[slot] = numbers.setdefault(key, len(numbers))

    def _joined(self, slot: int) -> Var | None:
        """A stack or concatenation, its runs of operands of one structure computed at once."""
        op, args, _, origin = self._b.instructions[slot]
        assert isinstance(op, Stack | Concatenate)
        parts: list[Var] = []
        lone: list[Var] = []
        count = 0
        for _, run in groupby(args, self._codes.__getitem__):
            members = tuple(run)
            many = self._vector(members) if len(members) >= _FEWEST else None
            if many is None:
                lone += [self._b.vars[arg] for arg in members]
                continue
            count += 1
            if lone:
                parts.append(op(*lone))
                lone = []
            self._b.origin = origin
            parts.append(self._laid_out(op, many, len(members)))
        if not count:
            return None
        if lone:
            parts.append(op(*lone))
        return parts[0] if len(parts) == 1 else Concatenate(op.axis)(*parts)

    def _laid_out(self, op: Stack | Concatenate, many: _Many, count: int) -> Var:
        """The values of ``count`` expressions, computed at once by ``op``."""
        b = self._b
        value = many.value if many.differ else b.broadcast(many.value, (count, *many.value.shape))
        value = _moved(value, 0, op.axis)
        if isinstance(op, Stack):
            return value
        shape, axis = many.value.shape[many.differ :], op.axis
        joined = (*shape[:axis], count * shape[axis], *shape[axis + 1 :])
        return Reshape(joined)(value)

    def _summed(self, slot: int, readers: Counter[int], within: set[int]) -> Var | None:
        """A sum of many terms, those of one structure added as one array.

        The sums within it, which nothing else reads, are put into ``within``.
        """
        b = self._b
        made, kind = b.instructions, b.instructions[slot].type
        terms: list[tuple[int, bool]] = []
        pending = [(slot, False)]
        while pending:
            at, negative = pending.pop()
            op, args, of, _ = made[at]
            if at != slot and (readers[at] > 1 or of != kind or type(op) not in _SUMS):
                terms.append((at, negative))
                continue
            within.add(at)
            pending.append((args[1], negative ^ isinstance(op, Subtract)))
            pending.append((args[0], negative))
        groups: dict[tuple[int, bool], list[int]] = defaultdict(list)
        for at, negative in terms:
            groups[self._codes[at], negative].append(at)
        total: Var | None = None
        alone: list[tuple[int, bool]] = []
        for (_, negative), members in groups.items():
            many = self._vector(tuple(members)) if len(members) >= _FEWEST else None
            if many is None:
                alone += [(at, negative) for at in members]
                continue
            b.origin = made[slot].origin
            added = PRIMITIVES["sum"]((0,))
            part = added(many.value) if many.differ else many.value * len(members)
            total = _plus(total, part, negative=negative)
        if total is None:
            return None
        for at, negative in alone:
            total = _plus(total, b.vars[at], negative=negative)
        return total

    def _vector(self, slots: tuple[int, ...]) -> _Many | None:
        """The values of these slots, which have one structure; None if they are too large."""
        made, many = self._b.instructions, self._many
        pending = [slots]
        while pending:
            these = pending[-1]
            if these in many:
                pending.pop()
                continue
            first = these[0]
            _, args, kind, origin = made[first]
            if these.count(first) == len(these):
                many[these] = _Many(self._b.vars[first], False)
                continue
            if kind.nbytes * len(these) > _MOST_BYTES:
                return None
            below = [tuple([made[slot].args[i] for slot in these]) for i in range(len(args))]
            unknown = [operands for operands in below if operands not in many]
            if unknown:
                pending += unknown
                continue
            self._b.origin = origin
            many[these] = self._applied(these, [many[operands] for operands in below])
        return many[slots]

    def _applied(self, slots: Sequence[int], operands: Sequence[_Many]) -> _Many:
        """The operations at these slots, applied to their operands."""
        ops: list[Any] = [self._b.instructions[slot].op for slot in slots]
        op, weak = ops[0], self._b.vars[slots[0]].type.weak
        differ = [one.differ for one in operands]
        values = [one.value for one in operands]
        equal = all(one == op for one in ops)
        if type(op) is Constant:
            if equal:
                return _Many(self._b.vars[slots[0]], False)
            return _Many(self._b.constant(np.stack([one.value for one in ops]), weak=weak), True)
        if not equal:
            assert type(op) is GetItem
            return _Many(self._elements([one.pattern for one in ops], *operands), True)
        if not any(differ):
            return _Many(op(*values), False)
        return _Many(op.batch(values, differ), True)

    def _elements(self, patterns: Sequence[Pattern], of: _Many) -> Var:
        """The elements that each expression reads of its array, or of the one that all share."""
        b, first = self._b, patterns[0]
        columns = [*zip(*patterns, strict=True)]
        varying = [i for i, column in enumerate(columns) if column.count(first[i]) < len(column)]
        lengths = of.value.shape[of.differ :]
        axes = [sum([item is not None for item in first[:i]]) for i in varying]
        if len(varying) == 1 and not of.differ and type(first[varying[0]]) is int:
            (place,), (axis,) = varying, axes
            span = _span(columns[place], lengths[axis])
            if span is not None:
                pattern = (*first[:place], span, *first[place + 1 :])
                made = GetItem(pattern)(of.value)
                return _moved(made, sum([type(i) is not int for i in first[:place]]), 0)
        gathered = tuple([ARRAY if i in varying else item for i, item in enumerate(first)])
        if len(varying) > 1 and any(type(first[i]) is Span for i in varying):
            raise BadArgument("slices along several axes differ")
        indices = [
            b.constant(_indices(columns[i], lengths[axis]))
            for i, axis in zip(varying, axes, strict=True)
        ]
        flags = [of.differ, *[True] * len(indices)]
        return GetItem(gathered).batch([of.value, *indices], flags)


def _keeps(dtype: DType) -> bool:
    """True if a sum of an array has its dtype: of small integers it has not."""
    return PRIMITIVES["sum"]((0,)).infer(ArrayType(dtype, (1,))).dtype == dtype  # type: ignore[union-attr]


def _without_places(pattern: Pattern) -> Hashable:
    """A pattern but for the places that integers and slices select."""
    return tuple([type(item) if type(item) in (int, Span) else item for item in pattern])


def _span(indices: Sequence[int], length: int) -> Span | None:
    """The slice that gives the elements at ``indices`` of an axis, if they are evenly spaced."""
    start, second, *_ = [i % length for i in indices]
    step = second - start
    if not step or [i % length for i in indices] != [start + step * k for k in range(len(indices))]:
        return None
    stop = start + step * len(indices)
    return Span(start, stop if stop >= 0 else None, step)


def _indices(items: Sequence[int | Span], length: int) -> Any:
    """The elements that integers, or slices, select along an axis: one row for each slice."""
    if type(items[0]) is int:
        return np.array(items)
    return np.array([range(*slice(*item).indices(length)) for item in items])  # type: ignore[misc]


def _moved(x: Var, source: int, destination: int) -> Var:
    order = [axis for axis in range(x.ndim) if axis != source]
    order.insert(destination, source)
    return transposed(x, tuple(order))


def _plus(total: Var | None, part: Var, *, negative: bool) -> Var:
    if total is None:
        return -part if negative else part
    return total - part if negative else total + part
