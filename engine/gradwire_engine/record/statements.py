"""``for``, ``while`` and ``if`` as loops: their passes bind names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.loops.loop import Loop, MustUnroll
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.program import Block, Target, flat_names, rebound_names, stored_names
from gradwire_engine.record import loops
from gradwire_engine.record.loops import Counter, Iterations, RowsOf
from gradwire_engine.record.scope import MISSING, Scope

if TYPE_CHECKING:
    from gradwire_engine.record.recording import Recording


#: Carries that no program can name: what an ``if`` decides by, and the value that it chooses.
_CONDITION, _CHOSEN = "?condition", "?chosen"


class Statement(Iterations):
    """A loop whose carry are the names that its body binds."""

    r: Recording

    def __init__(self, r: Recording, body: Block, otherwise: Block, names: frozenset[str]) -> None:
        super().__init__(r)
        self.body = body
        self.blocks = [body]
        self.tells_endings = bool(otherwise.nodes)
        self._stored = stored_names(body) | names
        self._changed = rebound_names(body)

    def arrays(self, first: int) -> list[Var]:
        """None; a body that assigns elements of a variable gives it a new leaf in each pass."""
        owners = self.r.state.owners
        for name in self._changed:
            value = self.r.scope.find(name)
            if isinstance(value, Var) and value.slot in owners:
                raise MustUnroll("elements of a variable are assigned")
        return []

    def carry(self) -> dict[str, Any]:
        """The names that are bound already."""
        find = self.r.scope.find
        found = {name: find(name) for name in sorted(self._stored | self._changed)}
        return {name: value for name, value in found.items() if value is not MISSING}

    def put(self, carry: dict[str, Any]) -> None:
        """Bind the names where the body does."""
        scope = self.r.scope
        for name, value in carry.items():
            if name in self._stored:
                scope.names[name] = value
            else:
                self.r.rebind(name, value)

    def owns(self, scope: Scope, name: str) -> bool:
        """True for names that the body binds, or of which it assigns elements."""
        return name in self._stored | self._changed and self.r.scope.owner(name) is scope

    def save(self) -> Callable[[], None]:
        """Names that were not bound are so no more, either."""
        scope, outer = self.r.scope, self.carry()
        names = dict(scope.names)

        def restore() -> None:
            scope.names.clear()
            scope.names.update(names)
            self.put(outer)

        return restore

    def run(self) -> tuple[str, Any]:
        """Run the body."""
        signal = self.r.run(self.body)
        if signal is None or signal.kind == "continue":
            return "on", None
        return signal.kind, signal.value


class If(Statement):
    """One pass through one of two blocks: so both are recorded, and values choose.

    Blocks that bind other names or kinds of numbers, leave the block around them, give warnings or
    loop as values decide are recorded as these do.
    """

    length = 1
    always_traced = explores = True

    def __init__(
        self, r: Recording, condition: Any, blocks: Sequence[Block], *, chooses: bool = False
    ) -> None:
        names = [stored_names(block) | rebound_names(block) for block in blocks]
        super().__init__(r, blocks[0], Block(()), names[1])
        self._changed |= rebound_names(blocks[1])
        self.blocks = blocks
        self._condition = condition
        #: Whether it chooses a value, and this once it has.
        self._chooses = chooses
        self.chosen: Any = MISSING
        new = [{name for name in each if r.scope.find(name) is MISSING} for each in names]
        self._alike = new[0] == new[1]
        self._before = super().carry()
        self._kinds: list[str] | None = None

    def carry(self) -> dict[str, Any]:
        """The names, and the condition: what is decided has to be the pass's."""
        own = {_CONDITION: self._condition}
        if self.chosen is not MISSING:
            own[_CHOSEN] = self.chosen
        return super().carry() | own

    def put(self, carry: dict[str, Any]) -> None:
        """Bind the names."""
        self._condition, self.chosen = carry[_CONDITION], carry.get(_CHOSEN, MISSING)
        names = {name: x for name, x in carry.items() if name not in (_CONDITION, _CHOSEN)}
        for name, old in self._before.items():
            if [*map(_kind, leaves(old))] != [*map(_kind, leaves(names[name]))]:
                raise MustUnroll("a number is whole by one branch alone")
        super().put(names)

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Run one of the blocks."""
        warned, recorded = len(self.r.warnings), isinstance(number, int)
        block, signal = self.blocks[0 if self.r.truth(self._condition) else 1], None
        if self._chooses:
            self.chosen = self.r.value(block)
        else:
            signal = self.r.run(block)
        if recorded:
            return ("on", None) if signal is None else (signal.kind, signal.value)
        kinds = [*map(_kind, leaves(self.carry()))]
        self._kinds = self._kinds or kinds
        alike = self._alike and kinds == self._kinds and len(self.r.warnings) == warned
        made = self.r.b.instructions[self.r.b.regions[-1].first :]
        decides = any(isinstance(i.op, Loop) and not i.op.is_straight for i in made)
        if signal is not None or decides or not alike:
            raise MustUnroll("the branches differ in more than values")
        return "on", None


def _kind(x: Any) -> str:
    """The kind of a number or an array: floating-point numbers, integers or others."""
    if isinstance(x, Var):
        return x.dtype.kind
    return np.asarray(x).dtype.kind if isinstance(x, bool | int | float | complex) else ""


class While(Statement):
    """Passes as long as a condition holds."""

    def __init__(self, r: Recording, condition: Block, body: Block, otherwise: Block) -> None:
        super().__init__(r, body, otherwise, stored_names(condition))
        self.condition = condition
        self.conditional = [node.kind for node in condition.nodes] != ["literal"]

    def holds(self) -> Any:
        """The present value of the condition."""
        return self.r.value(self.condition)

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Look at the condition, then run the body."""
        return self.run() if self.r.truth(self.holds()) else ("over", None)


class Comprehension(Iterations):
    """A pass for each item of a list that is made of others: it carries nothing."""

    r: Recording

    def __init__(self, r: Recording, target: Target, items: Sequence[Any], element: Block) -> None:
        super().__init__(r)
        self.blocks = [element]
        self.length = len(items)
        self._target, self._items, self._element = target, items, element

    def arrays(self, first: int) -> list[Var]:
        """The arrays whose rows the items are."""
        return loops.arrays(self.r, self._items, first)

    def carry(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def put(self, carry: dict[str, Any]) -> None:
        """Nothing is to be bound."""

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Bind the item, then compute the element: in the list, each is a value of its own."""
        if isinstance(number, int):
            self.r.bind(self._target, self._items[number])
            return "on", self.r.value(self._element)
        self.r.bind(self._target, loops.item(self.r, self._items, number, iter(rows)))
        made, first = self.r.value(self._element), self.r.b.regions[-1].first
        if not all(isinstance(x, Var) and x.slot >= first for x in leaves(made) or [None]):
            raise MustUnroll("elements of the list are known, or are what they are made of")
        return "on", made

    def together(self, written: list[Any]) -> list[Any]:
        """The list."""
        return written

    def joined(self, written: list[Any], made: Any, count: int) -> list[Any]:
        """The list, its elements taken from the stacks."""
        rows = rebuild(made, RowsOf)
        return [*written, *[rebuild(rows, itemgetter(number)) for number in range(count)]]


class For(Statement):
    """A pass for each item."""

    def __init__(
        self,
        r: Recording,
        target: Target,
        items: Sequence[Any] | Counter,
        body: Block,
        otherwise: Block,
    ) -> None:
        super().__init__(r, body, otherwise, frozenset(flat_names(target)))
        self.target = target
        self.items = items
        self.conditional = isinstance(items, Counter)
        if not isinstance(items, Counter):
            self.length = len(items)

    def holds(self) -> Any:
        """True if there is a first pass, where values decide how many there are."""
        return self._is_within(0)

    def arrays(self, first: int) -> list[Var]:
        """The arrays whose rows the items are."""
        items = () if isinstance(self.items, Counter) else self.items
        return [*super().arrays(first), *(loops.arrays(self.r, items, first) if items else ())]

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Bind the item, then run the body."""
        if isinstance(self.items, Counter):
            if not self.r.truth(self._is_within(number)):
                return "over", None
            item = self.items.item(self.r, number)
        elif isinstance(number, int):
            item = self.items[number]
        else:
            item = loops.item(self.r, self.items, number, iter(rows))
        self.r.bind(self.target, item)
        return self.run()

    def count(self) -> None:
        """The bounds of the range are known from here on."""
        if isinstance(self.items, Counter):
            self.items = self.items.known(self.r)
            self.length, self.conditional = len(self.items), False

    def _is_within(self, number: int | Var) -> Any:
        """True if a range that values decide on has this number of items and more."""
        if not isinstance(self.items, Counter):
            return True
        return self.r.operation("less", number, self.items.count)

    def ended(self, *, early: bool) -> None:
        """The counter of a range keeps its last value, known as before."""
        if isinstance(self.items, range) and not early:
            self.r.bind(self.target, self.items[-1])
