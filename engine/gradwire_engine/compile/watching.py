"""What of a recorded program may be a source: what is watched, and all that is computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine.answer import Notice
from gradwire_engine.autodiff.reverse import dependents
from gradwire_engine.compile.names import Names
from gradwire_engine.errors import InputError, Place
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.record.calculus import leaves
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.variables import flatten


class Watching(NamedTuple):
    """What is watched: what is named, and all that is trainable where it is ``accessed``."""

    names: tuple[str, ...] = ()
    accessed: bool = True

    def of(self, recorder: Recorder, variables: Mapping[str, Any]) -> Watched:
        """What that is of a program that has just been recorded."""
        accessed = [*_trainable(recorder, variables)] if self.accessed else []
        return Watched(accessed, [*_named(recorder, self.names, variables)])


class Watched(NamedTuple):
    """The trainable variables, and what is named."""

    accessed: Sequence[Var]
    named: Sequence[Var]

    def slots(self, recorder: Recorder) -> frozenset[int]:
        """The slots of what is watched, and of what depends on it."""
        watched = [*self.accessed, *self.named]
        slots = {var.slot for var in watched}
        if watched:
            marks = dependents(recorder.b, watched, len(recorder.b.instructions) - 1)
            slots.update(slot for slot, marked in enumerate(marks) if marked)
        return frozenset(slots)

    def paths(self, recorder: Recorder, result: Any, variables: Mapping[str, Any]) -> list[str]:
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


def _trainable(recorder: Recorder, variables: Mapping[str, Any]) -> Iterator[Var]:
    for path, leaf in flatten(variables):
        if leaf.trainable:
            yield from recorder.state.versions.get(path, ())


def _named(recorder: Recorder, watch: Sequence[str], variables: Mapping[str, Any]) -> Iterator[Var]:
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
