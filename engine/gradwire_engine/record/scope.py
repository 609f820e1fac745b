"""Names while recording: scopes, functions of the program, and a request's variables.

These are flattened to leaves with paths, and laid out as the program sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from gradwire_engine import hints
from gradwire_engine.answer import Leaf
from gradwire_engine.errors import BadArgument, InputError, Place, UnknownName
from gradwire_engine.ops.builder import Builder, Var, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import Block, is_position, refolded
from gradwire_engine.tape import ArrayType

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

    def bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by the names of the parameters."""
        parameters, defaults = self.parameters, self.defaults
        if len(args) > len(parameters):
            raise BadArgument(f"the function takes {len(parameters)} arguments, got {len(args)}")
        bound = dict(zip(parameters, args, strict=False))
        for name, value in named.items():
            if name not in parameters or name in bound:
                raise BadArgument(f"unexpected or repeated argument '{name[:40]}'")
            bound[name] = value
        optional = parameters[len(parameters) - len(defaults) :]
        for name, value in zip(optional, defaults, strict=True):
            bound.setdefault(name, value)
        missing = [name for name in parameters if name not in bound]
        if missing:
            raise BadArgument(f"missing argument '{missing[0][:40]}'")
        return bound


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


def lay_out(b: Builder, variables: Mapping[str, Any], state: State) -> dict[str, Any]:
    """The variables as the program sees them, an input for each array.

    A dotted key is the path of a nested variable and is laid out as one.
    """
    tree: dict[str, Any] = {}
    for name, value in variables.items():
        _place_below(b, name, value, tree, name, state)
    return tree


def _place_below(b: Builder, path: str, value: Any, container: Any, key: str, state: State) -> None:
    """Place ``value`` at a key of a dict, which may be a path."""
    for part in key.split("."):
        if (refusal := refolded(part)) is not None:
            message, hint = refusal
            raise InputError(message, at=Place(id=path[:80], pointer="/variables"), hint=hint)
    while "." in key:
        head, _, key = key.partition(".")
        container = container.setdefault(head, {})
        if not _is_level(container):
            raise _taken(path)
    if key in container and not (_is_level(container[key]) and _is_level(value)):
        raise _taken(path)
    _place(b, path, value, container, key, state)


def _is_level(value: Any) -> bool:
    return isinstance(value, Mapping) and not isinstance(value, Composite)


def _taken(path: str) -> InputError:
    return InputError(
        "another variable has this name already", at=Place(id=path[:80], pointer="/variables")
    )


def _place(b: Builder, path: str, value: Any, container: Any, key: Any, state: State) -> None:
    if isinstance(value, Leaf):
        array = value.value
        if isinstance(array, str):
            container[key] = array
            return
        container[key] = var = b.input(ArrayType(array.dtype, array.shape))
        state.declare(path, container, key, var)
        if value.any_shape:
            state.any_shape.add(path)
    elif isinstance(value, Composite):
        container[key] = parts = value.of()
        for name, item in value.items():
            _place(b, f"{path}.{name}", item, parts, name, state)
    elif isinstance(value, Mapping):
        level = container.setdefault(key, {}) if isinstance(container, dict) else {}
        container[key] = level
        for name, item in value.items():
            _place_below(b, f"{path}.{name}", item, level, name, state)
    else:
        items: list[Any] = [None] * len(value)
        container[key] = items
        for i, item in enumerate(value):
            _place(b, f"{path}.{i}", item, items, i, state)


def member(value: Any, path: str) -> Any:
    """The value at a dotted ``path`` below ``value``."""
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and is_position(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            raise _no_member(value, part)
    return value


def _no_member(value: Any, part: str) -> UnknownName:
    if isinstance(value, dict | list | tuple):
        known = value if isinstance(value, dict) else map(str, range(len(value)))
        message = f"there is no '{part[:40]}' in this nested value"
        return UnknownName(message, hint=hints.like(part, known))
    message = f"{describe(value)} has no member '{part[:40]}'"
    return UnknownName(message, hint=hints.OF_ELEMENTS)
