"""The recurrences of a loop: strongly connected components of the dependences of its carries.

Values are nodes of a graph whose edges lead from operands to results, and from what a pass gives to
the carry that the next one begins with.  What is in a component is computed pass by pass, all else
for all passes at once.  Source: Allen and Kennedy, Optimizing Compilers for Modern Architectures
(2001), section 2.4: loop distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.pointwise.arithmetic import Add, Subtract
from gradwire_engine.tape import Tape

#: A slot that is added up, and whether it is subtracted instead.
Term = tuple[int, bool]
#: NumPy's characters of the dtypes that sums have, too: smaller integers add up in larger ones.
_SUMMED = "efdFDlq"


class Recurrences:
    """The graph of a body with one path; sets of carries are the bits of integers."""

    def __init__(self, op: Loop, tape: Tape) -> None:
        self.op = op
        self.tape = tape
        (path,) = op.paths
        #: The slots that carries have when a pass begins, and when it ends; and what it writes.
        self.begins = tape.inputs[1 : 1 + op.carries]
        given = [tape.outputs[output] for output in path.outputs]
        self.ends, self.writes = given[: op.carries], given[op.carries :]
        self.reached = self._reached()
        self._components = self._find_components()
        #: Of each slot the carries of the component that it is in, else none.
        self.component, self.live = self._in_components()

    def _reached(self) -> list[int]:
        """The carries that each slot depends on in its pass."""
        reached: list[int] = []
        carries = self.op.carries
        for op, args, _, _ in self.tape.instructions:
            found = 0
            if type(op) is Input and 1 <= op.index <= carries:
                found = 1 << op.index - 1
            for arg in args:
                found |= reached[arg]
            reached.append(found)
        return reached

    @cached_property
    def needs(self) -> list[int]:
        """The carries that each carry depends on in later passes; none if it never changes."""
        ends, begins, reached = self.ends, self.begins, self.reached
        needs = [reached[e] if e != b else 0 for e, b in zip(ends, begins, strict=True)]
        for middle, through in enumerate(needs):
            for carry, found in enumerate(needs):
                if found >> middle & 1:
                    needs[carry] |= through
        return needs

    def _find_components(self) -> list[int]:
        """Of each carry those that depend on it and it on them."""
        needs, components = self.needs, []
        for carry, found in enumerate(needs):
            component = 0
            for other in bits(found):
                if needs[other] >> carry & 1:
                    component |= 1 << other
            components.append(component)
        return components

    def _in_components(self) -> tuple[list[int], bytearray]:
        """The component of each slot, and marks of those that results are made of."""
        made, leads = self.tape.instructions, [0] * len(self.tape.instructions)
        live = bytearray(len(made))
        for slot in self.writes:
            live[slot] = 1
        for carry, slot in enumerate(self.ends):
            live[slot] = 1
            leads[slot] |= self._components[carry]
        for slot in range(len(made) - 1, -1, -1):
            if live[slot]:
                for arg in made[slot].args:
                    live[arg] = 1
                    leads[arg] |= leads[slot]
        both = [found & led for found, led in zip(self.reached, leads, strict=True)]
        return [own and self._components[own.bit_length() - 1] for own in both], live

    @cached_property
    def read(self) -> set[int]:
        """Slots that are in a component, and read from elsewhere."""
        of, found = self.component, {slot for slot in self.writes if self.component[slot]}
        ends = zip(self.ends, self._components, strict=True)
        found.update([slot for slot, own in ends if of[slot] and of[slot] != own])
        for slot, (_, args, _, _) in enumerate(self.tape.instructions):
            if self.live[slot]:
                found.update([a for a in args if of[a] and of[a] != of[slot]])
        return found

    @cached_property
    def sums(self) -> dict[int, list[Term]]:
        """The terms added to carries that nothing reads but the sum itself."""
        found: dict[int, list[Term]] = {}
        for carry, (begin, end) in enumerate(zip(self.begins, self.ends, strict=True)):
            alone = self._components[carry] == 1 << carry
            read = self.op.wants(self.op.saved(carry))
            if alone and not read and (terms := self._terms(begin, end)):
                found[carry] = terms
        return found

    def _terms(self, begin: int, end: int) -> list[Term]:
        """The terms of the sum ``end``, none if it is something else or read on its way."""
        made, of, terms = self.tape.instructions, self.component, list[Term]()
        if made[end].type.dtype.char not in _SUMMED:  # type: ignore[union-attr]
            return []
        slot = end
        while slot != begin:
            op, args, kind, _ = made[slot]
            if type(op) not in (Add, Subtract) or slot in self.read:
                return []
            own = [of[arg] == of[slot] for arg in args]
            if all(own) or (type(op) is Subtract and own[1]) or kind[:2] != made[end].type[:2]:
                return []
            slot, term = args if own[0] else args[::-1]
            terms.append((term, type(op) is Subtract))
        return [] if begin in self.read else terms

    @cached_property
    def levels(self) -> list[tuple[list[int], list[int]]]:
        """Carries in an order in which each level needs only earlier ones.

        The first of a level are in no component: what another pass gave. Then those that are,
        together in one loop, but sums.
        """
        depth: dict[int, int] = {}
        levels: dict[int, tuple[list[int], list[int]]] = {}
        needs, components = self.needs, self._components
        for carry in sorted(range(len(needs)), key=lambda c: (needs[c] | 1 << c).bit_count()):
            before = [depth[other] for other in bits(needs[carry] & ~components[carry])]
            depth[carry] = level = max([at + 1 for at in before], default=0)
            if self.changes(carry) and carry not in self.sums:
                levels.setdefault(level, ([], []))[bool(components[carry])].append(carry)
        return [levels[level] for level in sorted(levels)]

    def changes(self, carry: int) -> bool:
        """True if a carry is not the same in all passes."""
        return self.begins[carry] != self.ends[carry]

    def inside(self, group: Sequence[int]) -> list[int]:
        """The slots in the components of a group, but what passes begin with."""
        mask = 0
        for carry in group:
            mask |= 1 << carry
        made = self.tape.instructions
        own = [slot for slot, of in enumerate(self.component) if of & mask and self.live[slot]]
        return [slot for slot in own if type(made[slot].op) is not Input]

    def vectorized(self) -> Iterator[int]:
        """The slots that are computed for all passes at once."""
        varies = bytearray(len(self.tape.instructions))
        last = self.op.carries + self.op.stacks
        for slot, (op, args, _, _) in enumerate(self.tape.instructions):
            row = isinstance(op, Input) and (op.index == 0 or self.op.carries < op.index <= last)
            varies[slot] = bool(row or self.reached[slot] or any(varies[a] for a in args))
            made = self.live[slot] and not isinstance(op, Input | Constant)
            if varies[slot] and made and not self.component[slot]:
                yield slot


def bits(number: int) -> Iterator[int]:
    """The places of the ones in a number."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
