"""The names of a request: their values in a recorded program, and the sources that they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine import hints
from gradwire_engine.answer import Leaf, Notice
from gradwire_engine.errors import BadArgument, EngineError, InputError, Place, UnknownName
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import refolded
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.variables import flatten, member


class Source(NamedTuple):
    """What is differentiated in: a value's variables, one for each that its state has had.

    None are of a string. ``leaf`` is the request's, if the value is a variable of it; ``whole`` the
    tensor of which the value is a part.
    """

    path: str
    group: Sequence[Var]
    leaf: Leaf | None
    whole: Composite | None = None


class Sources(NamedTuple):
    """Sources, and the structure of the request in which their numbers stand."""

    nested: Any
    items: list[Source]


class Names:
    """Looks the names of a request up."""

    def __init__(self, recorder: Recorder, variables: Mapping[str, Any]) -> None:
        self.r = recorder
        self.variables = variables

    def values(self, names: Any, at: str) -> Any:
        """The values that nested names mean; ``at`` points to them in the request."""
        if isinstance(names, str):
            return self._named(names, at)
        if isinstance(names, Mapping):
            return {key: self.values(name, f"{at}/{key}") for key, name in names.items()}
        if isinstance(names, Sequence):
            return [self.values(name, f"{at}/{i}") for i, name in enumerate(names)]
        raise InputError("expected a name", at=Place(pointer=at))

    def _named(self, name: str, at: str) -> Any:
        dotted = _dotted(name)
        for part in dotted.split("."):
            if (refusal := refolded(part)) is not None:
                message, hint = refusal
                raise InputError(message, at=Place(id=name[:80], pointer=at), hint=hint)
        root, _, path = dotted.partition(".")
        try:
            if not root:
                raise UnknownName("a name is not empty")
            value = self.r.lookup(root)
            return member(value, path) if path else value
        except EngineError as error:
            error.at = Place(id=name[:80], pointer=at)
            if error.hint == hints.OF_ELEMENTS and not at.startswith("/sources"):
                error.hint = hints.OF_NAMED_ELEMENTS
            raise

    def sources(self, names: Any, at: str) -> Sources:
        """The sources that nested names mean; all variables in their structure for ``None``."""
        items: list[Source] = []
        if names is not None:
            return Sources(self._sources(names, at, items), items)
        nested = {name: self._all(value, name, items) for name, value in self.variables.items()}
        return Sources(nested, items)

    def _all(self, value: Any, path: str, items: list[Source]) -> Any:
        """Number a variable of the request, or those below a nested one."""
        versions = self.r.state.versions
        if isinstance(value, Leaf):
            group = self.r.state.leaves(versions[path][-1]) if path in versions else []
            items.append(Source(path, group, value))
        elif isinstance(value, Composite):
            whole = value.of(**{name: versions[f"{path}.{name}"][0] for name in value})
            items.append(Source(path, versions[f"{path}.values"], value["values"], whole))
        elif isinstance(value, Mapping):
            return {key: self._all(item, f"{path}.{key}", items) for key, item in value.items()}
        else:
            return [self._all(item, f"{path}.{i}", items) for i, item in enumerate(value)]
        return len(items) - 1

    def _sources(self, names: Any, at: str, items: list[Source]) -> Any:
        if names is None:
            return None
        if isinstance(names, str):
            return self._source(self._named(names, at), names, at, items)
        if isinstance(names, Mapping):
            return {k: self._sources(n, f"{at}/{k}", items) for k, n in names.items()}
        return [self._sources(n, f"{at}/{i}", items) for i, n in enumerate(names)]

    def _source(self, value: Any, path: str, at: str, items: list[Source]) -> Any:
        """Number a source, or the sources below a nested one."""
        whole = value if isinstance(value, Composite) else None
        if whole is not None:
            value = whole["values"]
        if isinstance(value, dict):
            return {k: self._source(v, f"{path}.{k}", at, items) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._source(v, f"{path}.{i}", at, items) for i, v in enumerate(value)]
        if isinstance(value, str):
            items.append(Source(path, [], None))
            return len(items) - 1
        if not isinstance(value, Var | bool | int | float | complex):
            raise BadArgument(f"{describe(value)} is not a source", at=Place(pointer=at))
        var = self.r.b.array(value)
        owner = self.r.state.owners.get(var.slot)
        leaf = None if owner is None else dict(flatten(self.variables))[owner[0]]
        variable = _dotted(path)
        if variable in self.r.state.versions and (owner is None or owner[0] != variable):
            self._warn_of_rebound(path, var)
        items.append(Source(path, self.r.state.leaves(var), leaf, whole))
        return len(items) - 1

    def _warn_of_rebound(self, path: str, value: Var) -> None:
        """Warn that a source with a variable's name is what the program bound to it instead."""
        place = self.r.program.place(self.r.b.instructions[value.slot].origin)
        detail = f"{path} as a source is what the program gave that name last, not the variable"
        hint = "give the new value another name to differentiate in the variable"
        self.r.warnings.append(Notice("rebound", f"{detail}; {hint}", place))


def _dotted(name: str) -> str:
    """The path that a name is, its indices in brackets or not."""
    return re.sub(r"\[(\d+)\]", r".\1", name)
