"""Names while recording: scopes, functions of the program, state of variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from gradwire_engine.ops.builder import Var
from gradwire_engine.program import Block

_AGES = count()


class Scope:
    """Names bound so far, looked up outwards; ``local`` names are never looked up outside."""

    __slots__ = ("age", "local", "names", "parent")

    def __init__(self, parent: Scope | None = None, local: frozenset[str] = frozenset()) -> None:
        self.names: dict[str, Any] = {}
        self.parent = parent
        self.local = local
        #: Less than that of scopes that were opened later.
        self.age = next(_AGES)

    def find(self, name: str) -> Any:
        """The value bound to ``name``, or ``MISSING``."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            if name in scope.local:
                return MISSING
            scope = scope.parent
        return MISSING

    def owner(self, name: str) -> Scope:
        """The scope in which ``name`` is bound, else the outermost."""
        scope = self
        while name not in scope.names and scope.parent is not None:
            scope = scope.parent
        return scope


MISSING: Any = object()


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function of the program with the scope it was defined in."""

    parameters: tuple[str, ...]
    defaults: tuple[Any, ...]
    body: Block
    scope: Scope
    local: frozenset[str]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation used as a value: ``map(sin, x)``."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Transformed:
    """The result of a function of functions, ``grad(f)``: ``call`` takes recorder and arguments."""

    call: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


@dataclass(slots=True)
class State:
    """The variables of a request: where each lives, and the leaves it has had."""

    #: Path and container of every leaf, by the slots of all values it has had.
    owners: dict[int, tuple[str, Any, Any]] = field(default_factory=dict)
    #: All leaves of a variable, by its path: the value sent, then each value assigned.
    versions: dict[str, list[Var]] = field(default_factory=dict)
    #: Slots of what was computed while recording was stopped.
    paused: set[int] = field(default_factory=set)
    #: Paths of the variables that may be assigned values of other shapes.
    any_shape: set[str] = field(default_factory=set)

    def declare(self, path: str, container: Any, key: Any, var: Var) -> None:
        """Enter a variable's first value."""
        self.owners[var.slot] = (path, container, key)
        self.versions[path] = [var]

    def assign(self, old: Var, new: Var) -> None:
        """Replace the value of the variable that ``old`` is a value of."""
        path, container, key = self.owners[old.slot]
        if container[key] is old:  # else the name has been bound to something else
            container[key] = new
        self.owners[new.slot] = (path, container, key)
        self.versions[path].append(new)

    def is_at(self, var: Var, container: Any, key: Any) -> bool:
        """True if ``container[key]`` is where the variable that ``var`` is a value of lives."""
        owner = self.owners.get(var.slot)
        return owner is not None and owner[1] is container and owner[2] == key

    def may_become(self, var: Var, new: Var) -> bool:
        """True if the shape of ``new`` may take the place of that of ``var``."""
        owner = self.owners.get(var.slot)
        return new.shape == var.shape or (owner is not None and owner[0] in self.any_shape)

    def latest(self, var: Var) -> Var:
        """The present value of the variable that ``var`` is a value of."""
        return self.versions[self.owners[var.slot][0]][-1]

    def leaves(self, var: Var) -> list[Var]:
        """All leaves of the variable that ``var`` is, of the shape of ``var``, or ``var`` alone."""
        owner = self.owners.get(var.slot)
        if owner is None:
            return [var]
        return [version for version in self.versions[owner[0]] if version.shape == var.shape]


class Signal:
    """The result of a jump in place of a value: it ends the blocks around it."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any = None) -> None:
        self.kind = kind
        self.value = value
