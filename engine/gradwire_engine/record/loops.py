"""Loops while recording: pass by pass where they are short, else one instruction for all passes.

The body is then recorded once for each way that decisions in it may go, for stand-ins instead of
values.  What cannot be recorded so (a shape that changes with each pass, say) is recorded pass by
pass as it is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.autodiff.paths import ancestors
from gradwire_engine.errors import BadArgument, EngineError
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.loops import Rows, Stacked, Unrollable
from gradwire_engine.ops.promotion import promoted
from gradwire_engine.ops.regions import (
    MOST_WAYS,
    Piece,
    Plan,
    Region,
    item,
    of_stack,
    planned,
    region,
)
from gradwire_engine.record.calculus import leaves, rebuild
from gradwire_engine.record.fission import parted
from gradwire_engine.record.scope import Closure, Transformed
from gradwire_engine.record.segments import SEGMENTS, Segments
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Instructions up to which a loop of known length is recorded pass by pass, and passes up to which
#: it is if decisions on values part its ways.
_SHORT_INSTRUCTIONS, _SHORT_PASSES = 2000, 8
#: Instructions after which a loop that is only counted, to an end not known before, is long.
_COUNTED_INSTRUCTIONS = 256
#: Most times that the carries of a body are given other types.
_MOST_TRIES = 20
#: Passes that are always recorded one by one.
_FEW = 2
#: Passes by themselves, after which a loop whose types do not settle is recorded pass by pass.
_MOST_PEELED = 3
#: Carries that no program can name: how the loop ended, and what it returned.
_ENDING, _RETURNED = "%ending", "%returned"
_CODES = {"over": 0, "break": 1, "return": 2}
_NUMBERS = bool | int | float | complex


class Passes:
    """What is gone through again and again: each kind of loop is a class of these."""

    #: How many passes there are, where that is known.
    length: int | None = None
    #: Whether a condition is looked at before each, and whether it is known while recording.
    conditional = False
    counts = False
    #: Whether it matters to the program how the loop ended.
    tells_endings = False

    def __init__(self, r: Recorder) -> None:
        self.r = r

    def holds(self) -> Any:
        """What decides whether there is another pass."""
        return True

    def begins(self) -> bool:
        """Decide on the first pass as values do, unless these are of many passes or examples."""
        if not self.conditional or self.r.b.regions or self.r.concrete.levels:
            return True
        value = self.holds()
        self.counts = not isinstance(value, Var)
        return self.r.truth(value)

    def arrays(self, first: int) -> list[Var]:
        """The arrays of whose rows each pass takes one, from pass ``first`` on."""
        return []

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Make a pass.  It goes "on" or how it ends ("over" before the body), and a value:
        what it writes beside the carry, or returns.

        The ``rows`` are for a number that is not known yet.
        """
        raise NotImplementedError

    def carry(self) -> dict[str, Any]:
        """What a pass leaves to the next, by name."""
        raise NotImplementedError

    def put(self, carry: dict[str, Any]) -> None:
        """Go on with this carry."""
        raise NotImplementedError

    def save(self) -> Callable[[], None]:
        """What brings the present state back."""
        return partial(self.put, self.carry())

    def count(self) -> None:
        """Find out how many passes there are where values decide it, to record each by itself."""

    def ended(self, *, early: bool) -> None:
        """All passes have been recorded as one; ``early`` if values decide how many."""


def run(r: Recorder, passes: Passes) -> tuple[str, Any]:
    """Record all passes. How the loop ended, and what it returns, or what each pass wrote."""
    start, origin, written = len(r.b.vars), r.b.origin, list[Any]()
    short = r.unroll or (passes.length is not None and passes.length <= _FEW)
    peeled = _MOST_PEELED if short else 0
    if short:
        passes.count()
    for number in count():
        if number == passes.length or (number == 0 and not passes.begins()):
            return "over", _stacked(r, written)
        long = not passes.counts or len(r.b.vars) - start > _COUNTED_INSTRUCTIONS
        if long and peeled < _MOST_PEELED:
            peeled += 1
            restore, warned = passes.save(), len(r.warnings)
            r.b.origin = origin
            try:
                return _One(r, passes, number, written).record()
            except _Unsettled:
                restore()
            except (Unrollable, EngineError):
                restore()
                peeled = _MOST_PEELED
                passes.count()
            del r.warnings[warned:]
        r.poll()
        ending, value = passes.turn(number, ())
        if ending != "on":
            return ending, value if ending == "return" else _stacked(r, written)
        written.append(value)
    raise AssertionError


class _Unsettled(Exception):
    """The carries have other types after a pass than before; after another they may not."""


@dataclass(frozen=True, slots=True)
class _Carry:
    """A value that differs from pass to pass, and what the first begins with: zeros for None."""

    kind: ArrayType
    first: Any


@dataclass(frozen=True, slots=True)
class _Way:
    """A way through the body, None of one that could not be recorded, and how it ends."""

    piece: Piece | None
    ending: str


class _One:
    """All passes from number ``first`` on, as one instruction."""

    def __init__(self, r: Recorder, passes: Passes, first: int, written: list[Any]) -> None:
        self.r = r
        self.b = r.b
        self.passes = passes
        self.first = first
        self.written = written
        self.left = None if passes.length is None else passes.length - first
        self.start: dict[str, Any] = rebuild(passes.carry(), _carried)
        self.restore = passes.save()
        self.origin = r.b.origin
        #: What passes write beside the carry, nested as it is.
        self.beside: Any = None
        #: Whether values decide on the ways that are taken.
        self.by_values = False
        #: Derivatives that ways took, as regions note them.
        self.asked: set[tuple[int, int]] = set()
        #: Whether the ways have to be recorded once more, for what was found meanwhile.
        self.again = False

    def record(self) -> tuple[str, Any]:
        """Record the body until its carries keep their types, then the loop."""
        arrays = self.passes.arrays(self.first)
        stacks = [Rows(0)(array) for array in arrays]
        for _ in range(_MOST_TRIES):
            self.again = False
            ways = self._ways([of_stack(stack.type) for stack in stacks])
            if not self.again:
                break
        else:
            raise Unrollable("the types of the carries do not settle")
        if self.left is not None and self._is_short(self.left, ways):
            raise Unrollable("it is short")
        self.restore()
        self.b.origin = self.origin
        firsts = [self._first(x) for x in leaves(self.start) if isinstance(x, _Carry)]
        pieces, counted = [way.piece for way in ways], self.left is not None
        plan = planned(self.b, pieces, len(firsts), len(stacks), counted=counted, passes=self.left)
        if self.left is not None and not self.r.checkpoints:
            plan, arrays = parted(self.b, plan, arrays, self.left)
            stacks = [Rows(0)(array) for array in arrays]
        segments = self._segments(plan, arrays)
        if segments is not None:
            finals, written = segments.emit(firsts, arrays)
        else:
            count = [] if self.left is None else [self.b.constant(self.left)]
            made = plan.emit(self.b, firsts, stacks, *count)
            numbers = range(len(firsts), len(firsts) + (plan.op.written if counted else 0))
            finals = [item(made, number) for number in range(len(firsts))]
            written = [Stacked(self.left or 0, 0)(item(made, number)) for number in numbers]
        return self._after(finals, written, {way.ending for way in ways})

    def _segments(self, plan: Plan, arrays: Sequence[Var]) -> Segments | None:
        """What parts the loop into segments, if a derivative is to keep little of it."""
        if not self.r.checkpoints or (self.left is not None and self.left <= 2 * SEGMENTS):
            return None
        segments = Segments(self.b, plan, self.left)
        return None if arrays and segments.ends else segments

    def _is_short(self, left: int, ways: Sequence[_Way]) -> bool:
        """Whether passes are better recorded one by one, by their number and what they record."""
        if self.by_values and left > _SHORT_PASSES:
            return False
        return left * sum(len(w.piece.instructions) for w in ways if w.piece) <= _SHORT_INSTRUCTIONS

    def _first(self, carry: _Carry) -> Var:
        if carry.first is None:
            return self.b.full(0, carry.kind)
        return self.b.cast(self.b.array(carry.first), carry.kind.dtype)

    def _after(
        self, finals: Sequence[Var], written: Sequence[Var], endings: set[str]
    ) -> tuple[str, Any]:
        """Go on with what the loop gives; how it ended."""
        results = iter(finals)
        after = rebuild(self.start, lambda x: next(results) if isinstance(x, _Carry) else x)
        returned, code = after.pop(_RETURNED, None), after.pop(_ENDING, None)
        self.passes.put(after)
        self.passes.ended(early=self.left is None or endings != {"on"})
        if self.left is not None:
            endings = endings | {"over"}
        if isinstance(code, Var):
            decided = self.r.concrete.integer(code)
            ending = next(name for name, number in _CODES.items() if number == decided)
        else:
            ending = max(endings - {"on"}, key=lambda name: _CODES[name])
        if ending == "return":
            return ending, returned
        return ending, self._joined(written)

    def _joined(self, written: Sequence[Var]) -> Any:
        """What all passes wrote, stacked: also those that were recorded by themselves."""
        if self.beside is None:
            return None
        r, parts = self.r, iter(written)
        stacked = rebuild(self.beside, lambda _: next(parts))
        if not self.written:
            return stacked
        before = iter(leaves(_stacked(r, self.written)))
        return rebuild(stacked, lambda x: r.operation("concatenate", [next(before), x]))

    # Ways through the body

    def _ways(self, rows: Sequence[ArrayType]) -> list[_Way]:
        """Record the body for all decisions that can be made in it."""
        kinds = [x.kind for x in leaves(self.start) if isinstance(x, _Carry)]
        ways: list[_Way] = []
        pending: list[Sequence[bool]] = [()]
        while pending and not self.again:
            forced = pending.pop()
            self.restore()
            self.r.poll()
            with region(self.b, kinds, rows) as opened:
                opened.forced = forced
                ways.append(self._way(opened))
            self.by_values |= opened.by_values
            made = opened.decisions
            pending += [(*made[:i], not made[i]) for i in range(len(forced), len(made))]
            if len(ways) + len(pending) > MOST_WAYS:
                raise Unrollable("there are too many ways through the body")
        endings = {way.ending for way in ways}
        goes_on = any(way.piece for way in ways if way.ending == "on")
        if not self.again and (not goes_on or (endings == {"on"} and self.left is None)):
            raise Unrollable("there is no second pass, or there are passes without end")
        if self._must_tell(endings) and _ENDING not in self.start:
            self.start[_ENDING] = 0
            self.again = True
        return ways

    def _must_tell(self, endings: set[str]) -> bool:
        """Whether what follows has to know how the loop ended, and cannot."""
        left = (endings if self.left is None else endings | {"over"}) - {"on"}
        return len(left) > 1 and ("return" in left or self.passes.tells_endings)

    def _way(self, opened: Region) -> _Way:
        """Record the body once, with the decisions that the region forces."""
        following = iter(opened.carries)
        before = rebuild(self.start, lambda x: next(following) if isinstance(x, _Carry) else x)
        self.passes.put({k: v for k, v in before.items() if k not in (_ENDING, _RETURNED)})
        number = self.r.operation("add", opened.number, self.first) if self.first else opened.number
        try:
            ending, value = self.passes.turn(number, opened.items)
            if ending == "over":
                return _Way(opened.piece(opened.carries, ends=True, counted=False), ending)
            after = before | self.passes.carry()
            if ending == "return":
                after[_RETURNED] = value
            if _ENDING in before:
                after[_ENDING] = _CODES.get(ending, 0)
            return self._fitting(opened, before, after, ending, value)
        except EngineError:
            if not opened.decisions:
                raise
            return _Way(None, "on")  # as executed, this way may never be taken

    def _fitting(
        self, opened: Region, before: dict[str, Any], after: dict[str, Any], ending: str, value: Any
    ) -> _Way:
        """The way with what it gives as carries of the types that they had before."""
        given: list[Var] = []
        start = {name: self._fit(self.start[name], after[name], given) for name in self.start}
        for name in sorted(after.keys() - self.start.keys()):
            start[name] = rebuild(after[name], lambda x: _carried(x, first=False))
            self.again = True
        self.start = start
        if self.again:
            self.asked.clear()  # it has slots of carries, which will be others
            return _Way(None, ending)
        self._check_derivatives(opened, given)
        if ending == "on" and value is not None:
            self.beside = rebuild(value, self.b.array)
            given += leaves(self.beside)
        return _Way(opened.piece(given, ends=ending != "on"), ending)

    def _fit(self, start: Any, after: Any, given: list[Var]) -> Any:
        """``start`` as it has to be for ``after`` to follow it; gathers the values of carries."""
        if isinstance(start, Composite):
            if type(after) is not type(start) or after.shape != start.shape:
                raise _Unsettled
            return start.of(**{name: self._fit(x, after[name], given) for name, x in start.items()})
        if isinstance(start, dict):
            if not isinstance(after, dict) or after.keys() != start.keys():
                raise _Unsettled
            return {key: self._fit(x, after[key], given) for key, x in start.items()}
        if isinstance(start, list | tuple):
            if type(after) is not type(start) or len(after) != len(start):
                raise _Unsettled
            return type(start)([self._fit(*x, given) for x in zip(start, after, strict=True)])
        if isinstance(start, _Carry):
            return self._fit_carry(start, after, given)
        if _same(start, after):
            return start
        if isinstance(start, _NUMBERS) and isinstance(after, Var | _NUMBERS):
            self.again = True
            return _carried(self.b.array(start), first=False, value=start)
        raise _Unsettled

    def _fit_carry(self, start: _Carry, after: Any, given: list[Var]) -> _Carry:
        if not isinstance(after, Var | _NUMBERS):
            raise _Unsettled
        kind, var = start.kind, self.b.array(after)
        if var.shape != kind.shape:
            raise _Unsettled
        weak = var.type.weak and kind.weak
        dtype, _ = promoted(((kind.dtype, kind.weak), (var.dtype, var.type.weak)))
        if dtype != var.dtype:
            if not var.type.weak:
                raise _Unsettled
            var = self.b.cast(var, dtype)
        if (dtype, weak) != (kind.dtype, kind.weak):
            if not kind.weak:
                raise _Unsettled
            self.again = True
            return replace(start, kind=ArrayType(dtype, kind.shape, weak))
        given.append(var)
        return start

    def _check_derivatives(self, opened: Region, given: Sequence[Var]) -> None:
        """Refuse derivatives in the body that go back through earlier passes.

        They took the stand-ins on their way as constant.  That is right for a carry whose value was
        not computed from the source's.
        """
        b, stand_ins = self.b, {var.slot: i for i, var in enumerate(opened.carries)}
        if not opened.asked <= self.asked:
            self.asked |= opened.asked  # ways recorded before have to be looked at, too
            self.again = True
        if not self.asked:
            return
        firsts = [self._first_value(x) for x in leaves(self.start) if isinstance(x, _Carry)]
        made_of = [ancestors(b, [new]) for new in given]
        begun_of = [ancestors(b, [x]) if x else set() for x in firsts]
        for source, reached in self.asked:
            target, own = stand_ins.get(reached), stand_ins.get(source)
            if target is None:  # an item of a stack, the number of the pass, or from outside
                old = None if own is None else firsts[own]
                if reached < opened.start and old and old.slot in ancestors(b, [b.vars[reached]]):
                    raise _Unsettled  # only the first pass reads what its carry begins with
                continue
            on_the_way, pending = set[int](), [target]
            while pending:
                i = pending.pop()
                if i not in on_the_way:
                    on_the_way.add(i)
                    pending += [stand_ins[slot] for slot in made_of[i] if slot in stand_ins]
            if own is None:
                tied = any(source in made_of[i] or source in begun_of[i] for i in on_the_way)
            else:
                new, old = given[own].slot, firsts[own]
                unchanged = new == source and own in on_the_way
                begun = old is not None and old.slot in begun_of[target]
                tied = unchanged or begun or new in made_of[target]
            if tied:
                raise Unrollable("a derivative goes back through earlier passes")

    def _first_value(self, carry: _Carry) -> Var | None:
        return carry.first if isinstance(carry.first, Var) else None


def _stacked(r: Recorder, written: Sequence[Any]) -> Any:
    """What passes wrote by themselves, stacked; None where they wrote nothing."""
    if not written or written[0] is None:
        return None
    rows = [leaves(wrote) for wrote in written]
    if len({len(row) for row in rows}) != 1:
        raise BadArgument("what passes write differs in structure")
    columns = zip(*rows, strict=True)
    return rebuild(written[0], lambda _: r.operation("stack", list(next(columns))))


def _carried(x: Any, *, first: bool = True, value: Any = None) -> Any:
    """A carry of an array, anything else as it is."""
    return _Carry(x.type, x if first else value) if isinstance(x, Var) else x


def _same(x: Any, y: Any) -> bool:
    """Whether two values that are known while recording mean the same."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, Closure):
        return x.body is y.body and x.scope is y.scope and not x.defaults and not y.defaults
    if isinstance(x, Transformed):
        return _same(x.call, y.call)
    if isinstance(x, partial):
        pairs = zip((x.func, *x.args), (y.func, *y.args), strict=False)
        return len(x.args) == len(y.args) and all(_same(*pair) for pair in pairs)
    if isinstance(x, Var):
        return False
    if isinstance(x, float | complex):
        return np.array_equal(x, y, equal_nan=True)
    return bool(x == y)
