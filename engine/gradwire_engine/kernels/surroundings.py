"""What a group of instructions is in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradwire_engine.kernels.form import Affine, Node, Step, Value
from gradwire_engine.kernels.maps import Index
from gradwire_engine.kernels.memory import Key

if TYPE_CHECKING:
    from gradwire_engine.kernels.groups import Group


class Surroundings(ABC):
    """What a group is in: where it reads what it does not compute, and where its results go."""

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
        """Where an element of a result is stored, if that is not the group's memory."""
        return None

    def flag(self, slot: int) -> Key | None:
        """The buffer that tells whether a result is finite, if that is to be told."""
        return None
