"""All passes of a loop as one instruction: the body, recorded for stand-ins instead of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DeadlineExceeded, EngineError
from gradwire_engine.loops.loop import MustUnroll
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.loops.regions import MOST_PATHS, Region, planned, region
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.carries import Carry, Fit, Unsettled, carried, described
from gradwire_engine.record.emission import in_segments, whole
from gradwire_engine.record.integers import MOST_POWERS, MOST_RUN, Integers
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Scope
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors

if TYPE_CHECKING:
    from gradwire_engine.record.loops import Iterations

#: Instructions that may be recorded to find all paths through the bodies of a program's loops: if
#: there are more, all passes are recorded by themselves.
MOST_EXPLORED = 300_000
#: Most times that the carries of a body are given other types.
_MOST_TRIES = 20
#: Carries that no program can name: how the loop ended, and what it returned.
_ENDING, _RETURNED = "%ending", "%returned"
_CODES = {"over": 0, "break": 1, "return": 2}


@dataclass(frozen=True, slots=True)
class _TracedPath:
    """A path through the body, None of one that could not be recorded, and how it ends."""

    trace: Trace | None
    ending: str


class LoopTrace:
    """All passes from number ``first`` on, as one instruction."""

    def __init__(self, r: Recorder, passes: Iterations, first: int, written: list[Any]) -> None:
        self.r = r
        self.b = r.b
        self.passes = passes
        self.first = first
        self.written = written
        self.left = None if passes.length is None else passes.length - first
        #: What functions that passes call bind elsewhere: carries that ``passes`` do not know.
        self.outer: dict[str, tuple[Scope, str]] = {}
        self.scope = Scope()
        self.start: dict[str, Any] = rebuild(passes.carry(), carried)
        self.rebound, self.saved = len(r.rebound), passes.save()
        self.origin = r.b.origin
        #: The arrays of whose rows passes take one, and the paths through the body.
        self.arrays: list[Var] = []
        self.paths: list[_TracedPath] = []
        #: The values that passes write beside the carry, nested as they are.
        self.beside: Any = None
        #: What a pass made of numbers that became arrays: it has to make the same of these.
        self.narrow: Sequence[Any] | None = None
        #: Derivatives that paths took, as regions note them.
        self.asked: set[tuple[int, int]] = set()
        #: Whether the paths have to be recorded once more, for what was found meanwhile.
        self.again = False

    def restore(self) -> None:
        """Go back to where passes begin."""
        self.r.undo(self.rebound)
        self.saved()

    def _carry(self) -> dict[str, Any]:
        found = {key: scope.names[name] for key, (scope, name) in self.outer.items()}
        return self.passes.carry() | found

    def _put(self, carry: dict[str, Any]) -> None:
        self.passes.put({key: x for key, x in carry.items() if key[:1] != "%"})
        for key, (scope, name) in self.outer.items():
            self.r.rebind(name, carry[key], scope)

    def _learn(self) -> None:
        """Carry what was bound elsewhere, too, from the next try on."""
        for scope, name, before in self.r.rebound[self.rebound :]:
            known = (scope, name) in self.outer.values() or self.passes.owns(scope, name)
            if scope.age < self.scope.age and not known:
                key = f"%{len(self.outer)}"
                self.outer[key], self.again = (scope, name), True
                self.start[key] = rebuild(before, carried)

    def settle(self) -> None:
        """Record the body until its carries keep their types."""
        self.arrays = self.passes.arrays(self.first)
        rows = [ArrayType(x.dtype, x.shape[1:], x.type.weak) for x in self.arrays]
        for _ in range(_MOST_TRIES):
            self.again = False
            self.paths = self._paths(rows)
            if not self.again:
                return self._check_integers()
        raise MustUnroll("the types of the carries do not settle")

    def _check_integers(self) -> None:
        """Refuse passes whose integers are Python's: too large, fractions, or all they compute."""
        carries = [x.first for x in leaves(self.start) if isinstance(x, Carry)]
        firsts = [int(x) if isinstance(x, int) else None for x in carries]
        traces = [path.trace for path in self.paths if path.trace]
        integers = Integers(self.b, traces, firsts)
        if integers.are_all and self.left is not None and self.left <= MOST_RUN:
            raise MustUnroll("passes compute nothing but integers that are known")
        if integers.are_exponents and self.left is not None and self.left <= MOST_POWERS:
            raise MustUnroll("powers are products where exponents are known")
        if integers.outgrow(self.passes.length):
            raise MustUnroll("an integer of a pass may have more than 64 bits")

    def emit(self) -> tuple[str, Any]:
        """Emit the loop. How it ended, and what it returns, or what all passes wrote."""
        self.restore()
        self.b.origin = self.origin
        firsts = [self._first(x) for x in leaves(self.start) if isinstance(x, Carry)]
        traces, counted = [path.trace for path in self.paths], self.left is not None
        plan = planned(
            self.b, traces, len(firsts), len(self.arrays), counted=counted, passes=self.left
        )
        given = self.b, plan, firsts, self.arrays, self.left
        finals, written = in_segments(*given) if self.r.checkpoints else whole(*given)
        return self._after(finals, written, {path.ending for path in self.paths})

    def _first(self, carry: Carry) -> Var:
        if carry.first is None:
            return self.b.full(0, carry.kind)
        first = self.b.cast(self.b.array(carry.first), carry.kind.dtype)
        return self.b.broadcast(first, carry.kind.shape)

    def _after(
        self, finals: Sequence[Var], written: Sequence[Var], endings: set[str]
    ) -> tuple[str, Any]:
        """Go on with what the loop gives; how it ended."""
        results = iter(finals)
        after = rebuild(self.start, lambda x: next(results) if isinstance(x, Carry) else x)
        returned, code = after.pop(_RETURNED, None), after.pop(_ENDING, None)
        self._put(after)
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
        """The values that all passes wrote, stacked, with those recorded by themselves."""
        if self.beside is None:
            return None
        parts = iter(written)
        made = rebuild(self.beside, lambda _: next(parts))
        return self.passes.joined(self.written, made, self.left or 0)

    # Paths through the body

    def _paths(self, rows: Sequence[ArrayType]) -> list[_TracedPath]:
        """Record the body for all decisions that can be made in it."""
        kinds = [x.kind for x in leaves(self.start) if isinstance(x, Carry)]
        paths: list[_TracedPath] = []
        pending: list[Sequence[bool]] = [()]
        while pending and not self.again:
            forced = pending.pop()
            self.restore()
            self.r.poll()
            with region(self.b, kinds, rows) as opened:
                opened.forced, opened.explores = forced, self.passes.explores
                paths.append(self._path(opened))
                self.r.explored += len(self.b.vars) - opened.start
            if self.r.explored > MOST_EXPLORED:
                raise MustUnroll("the bodies of loops have too many paths in all")
            made = opened.decisions
            pending += [(*made[:i], not made[i]) for i in range(len(forced), len(made))]
            if len(paths) + len(pending) > MOST_PATHS:
                raise MustUnroll("there are too many paths through the body")
        endings = {path.ending for path in paths}
        goes_on = any(path.trace for path in paths if path.ending == "on")
        if not self.again and (not goes_on or (endings == {"on"} and self.left is None)):
            raise MustUnroll("there is no second pass, or there are passes without end")
        if self._must_tell(endings) and _ENDING not in self.start:
            self.start[_ENDING] = 0
            self.again = True
        return paths

    def _must_tell(self, endings: set[str]) -> bool:
        """True if what follows has to know how the loop ended, and cannot."""
        left = (endings if self.left is None else endings | {"over"}) - {"on"}
        return len(left) > 1 and ("return" in left or self.passes.tells_endings)

    def _path(self, opened: Region) -> _TracedPath:
        """Record the body once, with the decisions that the region forces."""
        following = iter(opened.carries)
        before = rebuild(self.start, lambda x: next(following) if isinstance(x, Carry) else x)
        self._put(before)
        number = self.r.operation("add", opened.number, self.first) if self.first else opened.number
        try:
            ending, value = self.passes.turn(number, opened.items)
            self._learn()
            if self.again:
                return _TracedPath(None, ending)
            if ending == "over":
                return _TracedPath(opened.trace(opened.carries, ends=True, counted=False), ending)
            after = before | self._carry()
            if ending == "return":
                after[_RETURNED] = value
            if _ENDING in before:
                after[_ENDING] = _CODES.get(ending, 0)
            return self._fitting(opened, before, after, ending, value)
        except DeadlineExceeded:
            raise
        except EngineError:
            if not opened.decisions:
                raise
            return _TracedPath(None, "on")  # as executed, this path may never be taken

    def _fitting(
        self, opened: Region, before: dict[str, Any], after: dict[str, Any], ending: str, value: Any
    ) -> _TracedPath:
        """The path with what it gives as carries of the types that they had before."""
        fit = Fit(self.b, opened)
        start = {name: fit.fit(self.start[name], after[name]) for name in self.start}
        new = sorted(after.keys() - self.start.keys())
        start |= {name: rebuild(after[name], lambda x: carried(x, first=False)) for name in new}
        self.start, given = start, fit.given
        if fit.widened:
            self.narrow = described(self.b, opened)
        elif self.narrow not in (None, described(self.b, opened)) and not (fit.again or new):
            raise Unsettled  # of a number a pass makes something else
        if fit.again or new:
            self.again = True
            self.asked.clear()  # it has slots of carries, which will be others
            return _TracedPath(None, ending)
        self._check_derivatives(opened, given)
        if ending == "on" and value is not None:
            self.beside = rebuild(value, self.b.array)
            given += leaves(self.beside)
        return _TracedPath(opened.trace(given, ends=ending != "on"), ending)

    def _check_derivatives(self, opened: Region, given: Sequence[Var]) -> None:
        """Refuse derivatives in the body that go back through earlier passes.

        They took the stand-ins on their way as constant.  That is right for a carry whose value was
        not computed from the source's.
        """
        b, stand_ins = self.b, {var.slot: i for i, var in enumerate(opened.carries)}
        if not opened.asked <= self.asked:
            self.asked |= opened.asked  # paths recorded before have to be looked at, too
            self.again = True
        if not self.asked:
            return
        firsts = [self._first_value(x) for x in leaves(self.start) if isinstance(x, Carry)]
        pairs = zip(opened.items, self.arrays, strict=True)
        rows = {item.slot: array.slot for item, array in pairs}
        joined = {item: b.instructions[slot] for item, slot in rows.items()}
        listed = {item: made.args for item, made in joined.items() if isinstance(made.op, Stack)}
        made_of = [ancestors(b.instructions, [new.slot]) for new in given]
        begun_of = [ancestors(b.instructions, [x.slot]) if x else set() for x in firsts]
        for source, reached in self.asked:
            target, own = stand_ins.get(reached), stand_ins.get(source)
            if target is None:  # an item of a stack, the number of the pass, or from outside
                behind = ancestors(b.instructions, [rows.get(reached, reached)])
                old = None if own is None else firsts[own]
                if old and old.slot in behind:
                    raise Unsettled  # only the first pass reads what its carry begins with
                if not behind.isdisjoint(listed.get(source, ())):
                    raise MustUnroll("a derivative is in an item of a list")
                if reached in rows and source in behind:
                    raise MustUnroll("a derivative goes through rows")
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
                raise MustUnroll("a derivative goes back through earlier passes")

    def _first_value(self, carry: Carry) -> Var | None:
        return carry.first if isinstance(carry.first, Var) else None


def stacked(r: Recorder, written: Sequence[Any]) -> Any:
    """The values that passes wrote by themselves, stacked; None where they wrote nothing."""
    if not written or written[0] is None:
        return None
    rows = [leaves(wrote) for wrote in written]
    if len({len(row) for row in rows}) != 1:
        raise BadArgument("what passes write differs in structure")
    columns = zip(*rows, strict=True)
    return rebuild(written[0], lambda _: r.operation("stack", list(next(columns))))
