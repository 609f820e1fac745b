"""The names that the values of a generated function have, each used again once its value is dead.

Of a function in parts what a part leaves to later ones is in a list that all of them have.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from gradwire_engine.answer import Poll
from gradwire_engine.polling import polled


class Registers:
    """Names for slots: local variables, and items of the list ``v`` for those that ``last``."""

    def __init__(self, last: Set[int]) -> None:
        self._last = last
        self._free: dict[bool, list[str]] = {False: [], True: []}
        self._locals = 0
        #: The length of the list.
        self.length = 0

    def take(self, slot: int) -> str:
        """The name for a slot's value."""
        lasts = slot in self._last
        if self._free[lasts]:
            return self._free[lasts].pop()
        if lasts:
            self.length += 1
            return f"v[{self.length - 1}]"
        self._locals += 1
        return f"r{self._locals - 1}"

    def release(self, names: Sequence[str]) -> None:
        """Let names be taken again."""
        for name in names:
            self._free[name[0] == "v"].append(name)

    def suits(self, slot: int, name: str) -> bool:
        """True if a slot's value may take the place of another that has ``name``."""
        return name[0] == "v" or slot not in self._last


def outlasting(
    dead: Sequence[Sequence[int]], outputs: Sequence[int], part: int, poll: Poll
) -> Set[int]:
    """The slots that a part computes and a later one reads, or returns."""
    if len(dead) <= part:
        return frozenset()
    found = {*outputs}
    for reader, slots in enumerate(polled(dead, poll)):
        found.update([slot for slot in slots if slot // part < reader // part])
    return found
