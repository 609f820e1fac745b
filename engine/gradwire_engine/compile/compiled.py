"""What compiling gives: an executable, and the structures that its outputs fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Notice, Unconnected
from gradwire_engine.backends.numpy.executable import Executable
from gradwire_engine.ops.constants import Copy, Guard
from gradwire_engine.optimize.resume import Known
from gradwire_engine.record.calculus import rebuild


@dataclass(frozen=True, slots=True)
class Summed:
    """Slices of one index are to be added up: the parts as variables, then as outputs' numbers.

    How many that leaves depends on values, which no shape on a tape does.
    """

    parts: Mapping[str, Any]

    def fill(self, outputs: Sequence[Any]) -> dict[str, Any]:
        """The arrays, each index once, in rising order."""
        found = {name: outputs[number] for name, number in self.parts.items()}
        indices, places = np.unique(found["indices"], return_inverse=True)
        totals = np.zeros((indices.size, *found["values"].shape[1:]), found["values"].dtype)
        np.add.at(totals, places.ravel(), found["values"])
        return {**found, "indices": indices[:, None], "values": totals}


@dataclass(frozen=True, slots=True)
class Template:
    """A nested structure whose integer leaves number outputs; None leaves stay None."""

    nested: Any

    def fill(self, outputs: Sequence[Any]) -> Any:
        """The structure with arrays for numbers."""
        if isinstance(self.nested, int):
            return outputs[self.nested]

        def filled(leaf: Any) -> Any:
            if isinstance(leaf, Summed):
                return leaf.fill(outputs)
            return None if leaf is None else outputs[leaf]

        return rebuild(self.nested, filled)


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable with what turns its outputs into an answer."""

    executable: Executable
    value: Template
    outputs: Template | None
    derivatives: Mapping[str, Template]
    updates: Mapping[str, int]
    unconnected: Mapping[str, Unconnected]
    warnings: Sequence[Notice]
    #: Of many examples at once: the output that tells which of them decide as recorded.
    decided: int | None = None
    #: Of what resumes a recording: the values of it that follow the inputs.
    known: Sequence[Known] = ()

    def unguarded(self) -> Compiled:
        """The same without guards: for the very values it was recorded with."""
        tape, exact = self.executable.tape, self.executable.exact
        bare = [i._replace(op=Copy()) if isinstance(i.op, Guard) else i for i in tape.instructions]
        unguarded = replace(tape, instructions=tuple(bare))
        return replace(self, executable=Executable(unguarded, exact=exact))
