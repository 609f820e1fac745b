"""The scope that encloses a group of instructions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradwire_engine.kernels.form import Affine, Node, Step, Value
from gradwire_engine.kernels.maps import Index
from gradwire_engine.kernels.memory import Key

if TYPE_CHECKING:
    from gradwire_engine.kernels.groups import Group


class EnclosingScope(ABC):
    """The scope around a group: where it reads what it does not compute, and stores results."""

    @abstractmethod
    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Node:
        """An element of a slot outside."""

    @abstractmethod
    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Node:
        """The same, by its place in row-major order."""

    @abstractmethod
    def repeated(self, group: Group, loop: int, results: Mapping[int, int]) -> Sequence[Step]:
        """A loop of ``group``, of which slots are ``results``, by their numbers."""

    def target(self, slot: int, index: Index, loops: int) -> tuple[Key, Affine] | None:
        """The place of an element of a result, if that is not the group's memory."""
        return None

    def flag(self, slot: int) -> Key | None:
        """The flag of a result that is checked to be finite."""
        return None
