"""The names of a request: their values in a recorded program, and the sources that they may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine import hints
from gradwire_engine.answer import Leaf, Notice
from gradwire_engine.autodiff.reverse import dependents
from gradwire_engine.errors import BadArgument, EngineError, InputError, Place, UnknownName
from gradwire_engine.nesting import flatten, leaves
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import refolded
from gradwire_engine.record.recording import Recording
from gradwire_engine.record.scope import member


class Source(NamedTuple):
    """The sources of derivatives: a value's variables, one for each that its state has had.

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

    def __init__(self, recorder: Recording, variables: Mapping[str, Any]) -> None:
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
        dotted = dotted_path(name)
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
        variable = dotted_path(path)
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


def dotted_path(name: str) -> str:
    """The path that a name is, its indices in brackets or not."""
    return re.sub(r"\[(\d+)\]", r".\1", name)


class Watching(NamedTuple):
    """The watched values: those named, and all that is trainable where it is ``accessed``."""

    names: tuple[str, ...] = ()
    accessed: bool = True

    def of(self, recorder: Recording, variables: Mapping[str, Any]) -> Watched:
        """The watched variables of a program that has just been recorded."""
        accessed = [*_trainable(recorder, variables)] if self.accessed else []
        return Watched(accessed, [*_named(recorder, self.names, variables)])


class Watched(NamedTuple):
    """The trainable variables, and what is named."""

    accessed: Sequence[Var]
    named: Sequence[Var]

    def slots(self, recorder: Recording) -> frozenset[int]:
        """The slots of what is watched, and of what depends on it."""
        watched = [*self.accessed, *self.named]
        slots = {var.slot for var in watched}
        if watched:
            marks = dependents(recorder.b, watched, len(recorder.b.instructions) - 1)
            slots.update(slot for slot, marked in enumerate(marks) if marked)
        return frozenset(slots)

    def paths(self, recorder: Recording, result: Any, variables: Mapping[str, Any]) -> list[str]:
        """Paths of the variables that are named, and of those that are read, as they are declared.

        What is read while recording is stopped does not count.
        """
        paused, versions = recorder.state.paused, recorder.state.versions
        visible = [i for slot, i in enumerate(recorder.b.instructions) if slot not in paused]
        read = {slot for instruction in visible for slot in instruction.args}
        read.update(x.slot for x in leaves(result) if isinstance(x, Var))
        slots = {var.slot for var in self.accessed if var.slot in read}
        slots.update(var.slot for var in self.named)
        return [
            path
            for path, _ in flatten(variables)
            if not slots.isdisjoint([var.slot for var in versions.get(path, ())])
        ]


def _trainable(recorder: Recording, variables: Mapping[str, Any]) -> Iterator[Var]:
    for path, leaf in flatten(variables):
        if leaf.trainable:
            yield from recorder.state.versions.get(path, ())


def _named(
    recorder: Recording, watch: Sequence[str], variables: Mapping[str, Any]
) -> Iterator[Var]:
    """All values that ``watch`` names, those below nested ones too."""
    names, state = Names(recorder, variables), recorder.state
    for i, name in enumerate(watch):
        at = Place(id=name[:80], pointer=f"/watch/{i}")
        for value in leaves(names.values(name, f"/watch/{i}")):
            if not isinstance(value, Var):
                raise InputError(f"only arrays can be watched, not {describe(value)}", at=at)
            if not value.type.differentiable:
                detail = f"only floating values have gradients, {name[:80]} is {value.type}"
                recorder.warnings.append(Notice("not_floating", detail))
            yield from state.leaves(value)
