"""Instructions of a tape as a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gradwire_engine.kernels.complex_parts import by_parts
from gradwire_engine.kernels.enclosing_scope import EnclosingScope
from gradwire_engine.kernels.form import Affine, Kernel, Load, Node, Step, Value
from gradwire_engine.kernels.groups import Group
from gradwire_engine.kernels.loops import repeated
from gradwire_engine.kernels.maps import Index, flat
from gradwire_engine.kernels.memory import Key, Memory, Operand
from gradwire_engine.kernels.views import Views
from gradwire_engine.tape import ArrayType, Instruction, StackType


class KernelBuilder(EnclosingScope):
    """Builds the kernel of the instructions at ``slots``, of which ``results`` are read outside.

    ``checked`` are the results that are checked to be finite in all elements.
    ``order_of`` a slot outside is that of its axes in memory.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        views: Views,
        slots: Sequence[int],
        results: Sequence[int],
        checked: Iterable[int] = (),
        order_of: Callable[[int], tuple[int, ...] | None] = lambda _: None,
    ) -> None:
        self._made, self._results, self._order_of = instructions, results, order_of
        self.memory = Memory()
        self._group = group = Group(instructions, views, slots, results, self.memory, self)
        #: The flags of results that are checked to be finite.
        self._flags: dict[int, Key] = {
            slot: self.memory.own((), "d") for slot in checked if group.is_stored_whole(slot)
        }

    @property
    def checked(self) -> list[int]:
        """The slots whose results the flags of the kernel check."""
        return [*self._flags]

    def kernel(self) -> Kernel:
        """The kernel."""
        steps = self._group.steps()
        results = [self._group.key(slot) for slot in self._results]
        kernel = self.memory.laid_out(steps, results, [*self._flags.values()])
        return by_parts(kernel)

    # What the group asks

    def flag(self, slot: int) -> Key | None:
        """The flag of a result that is checked to be finite."""
        return self._flags.get(slot)

    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Node:
        """An element of an operand."""
        kind = self._kind(slot)
        order, shape = self._order_of(slot), kind.shape
        if order is not None:
            shape = tuple([shape[axis] for axis in order])
            index = tuple([index[axis] for axis in order])
        key = self.memory.operand(Operand(slot, order), kind.shape, kind.dtype.char)
        return Load(key, flat(index, shape, loops), guard, kind.dtype.char)

    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Node:
        """The same, by its place in row-major order."""
        kind = self._kind(slot)
        key = self.memory.operand(Operand(slot), kind.shape, kind.dtype.char)
        return Load(key, at, guard, kind.dtype.char)

    def repeated(self, group: Group, loop: int, results: Mapping[int, int]) -> Sequence[Step]:
        """A loop of the tape."""
        return repeated(group, loop, results)

    def _kind(self, slot: int) -> ArrayType:
        kind = self._made[slot].type
        if isinstance(kind, StackType):  # an array of as many items as there are
            return ArrayType(kind.dtype, (1, *kind.shape))
        assert isinstance(kind, ArrayType)
        return kind
