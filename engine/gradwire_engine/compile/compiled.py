"""What compiling gives: executables, and the structures that their outputs fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.answer import Answer, Notice, Unconnected
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.tiers import Tiers
from gradwire_engine.ops.composites import Composite
from gradwire_engine.optimize.residual import KnownValue

if TYPE_CHECKING:
    from gradwire_engine.compile.recorded import Recorded


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


class Template:
    """A nested structure whose integer leaves number outputs; None leaves stay None."""

    def __init__(self, nested: Any) -> None:
        #: From outputs to the structure with arrays for numbers.
        self.fill = _filler(nested)


def _filler(nested: Any) -> Callable[[Sequence[Any]], Any]:
    """What fills a structure, whose nesting is looked at beforehand, not at every replay."""
    if nested is None:
        return lambda outputs: None
    if isinstance(nested, int):
        return itemgetter(nested)
    if isinstance(nested, Summed):
        return nested.fill
    if isinstance(nested, Composite):
        values = _filler(nested["values"])
        return lambda outputs: nested.of(values=values(outputs))
    if isinstance(nested, dict):
        items = [(key, _filler(item)) for key, item in nested.items()]
        return lambda outputs: {key: fill(outputs) for key, fill in items}
    kind = type(nested)
    if kind is list and len(nested) > 1 and all(type(item) is int for item in nested):
        pick = itemgetter(*nested)
        return lambda outputs: [*pick(outputs)]
    parts = [_filler(item) for item in nested]
    if kind is list and len(parts) == 1:
        (only,) = parts
        return lambda outputs: [only(outputs)]
    return lambda outputs: kind([fill(outputs) for fill in parts])


NOTHING = Template(None)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """One recorded path: its executables, with what turns their outputs into an answer."""

    tiers: Tiers
    value: Template = NOTHING
    outputs: Template | None = None
    derivatives: Mapping[str, Template] = field(default_factory=dict)
    updates: Mapping[str, int] = field(default_factory=dict)
    unconnected: Mapping[str, Unconnected] = field(default_factory=dict)
    warnings: Sequence[Notice] = ()
    #: Of many examples at once: the output that tells which of them decide as recorded.
    decided: int | None = None
    #: Of what goes on from values: those of them that follow the inputs.
    known: Sequence[KnownValue] | None = None
    #: Where the outputs are all values: what queries about these go on from.
    recorded: Recorded | None = None

    @property
    def executable(self) -> Executable:
        """The one that replays first."""
        return self.tiers.executable

    @property
    def nbytes(self) -> int:
        """Approximate memory that all of it takes."""
        return self.tiers.nbytes

    def answer(self, outputs: Sequence[Any]) -> Answer:
        """What the executable gave as an answer."""
        derivatives = {}
        for name, nested in self.derivatives.items():  # in less time than a comprehension
            derivatives[name] = nested.fill(outputs)
        updates = {path: outputs[n] for path, n in self.updates.items()} if self.updates else {}
        value, further = self.value.fill(outputs), self.outputs and self.outputs.fill(outputs)
        return Answer(value, further, derivatives, self.unconnected, updates, self.warnings, {})
