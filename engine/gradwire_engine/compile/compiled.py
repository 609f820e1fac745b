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
from gradwire_engine.tape import Shape


@dataclass(frozen=True, slots=True)
class Slices:
    """A gradient by slices of an array of ``shape``: variables, then the numbers of outputs."""

    indices: Any
    values: Any
    shape: Shape
    summed: bool

    def fill(self, outputs: Sequence[Any]) -> dict[str, Any]:
        """The arrays; where slices are to be ``summed``, each index once, in rising order."""
        indices, values = outputs[self.indices], outputs[self.values]
        if self.summed:
            indices, places = np.unique(indices, return_inverse=True)
            totals = np.zeros((indices.size, *values.shape[1:]), values.dtype)
            np.add.at(totals, places.ravel(), values)
            indices, values = indices[:, None], totals
        return {"indices": indices, "values": values, "shape": np.array(self.shape, np.int64)}


@dataclass(frozen=True, slots=True)
class Template:
    """A nested structure whose integer leaves number outputs; None leaves stay None."""

    nested: Any

    def fill(self, outputs: Sequence[Any]) -> Any:
        """The structure with arrays for numbers."""
        if isinstance(self.nested, int):
            return outputs[self.nested]

        def filled(leaf: Any) -> Any:
            if isinstance(leaf, Slices):
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
        tape = self.executable.tape
        bare = [i._replace(op=Copy()) if isinstance(i.op, Guard) else i for i in tape.instructions]
        return replace(self, executable=Executable(replace(tape, instructions=tuple(bare))))
