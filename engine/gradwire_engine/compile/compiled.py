"""Results of compiling: executables, and the structures that their outputs fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradwire_engine.answer import Answer, Notice, Unconnected
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.tiers import Tiers
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.composites import Composite
from gradwire_engine.optimize.partial_evaluation import KnownValue

if TYPE_CHECKING:
    from gradwire_engine.compile.connections import Unreached
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


#: Fills a structure with outputs.
Template: TypeAlias = Callable[[Sequence[Any]], Any]


def template(nested: Any) -> Template:
    """A function that fills a structure whose integer leaves number outputs; None leaves stay None.

    Its nesting is looked at beforehand, not at every replay.
    """
    if nested is None:
        return lambda outputs: None
    if isinstance(nested, int):
        return itemgetter(nested)
    if isinstance(nested, Summed):
        return nested.fill
    if isinstance(nested, Composite):
        values = template(nested["values"])
        return lambda outputs: nested.of(values=values(outputs))
    if isinstance(nested, dict):
        items = [(key, template(item)) for key, item in nested.items()]
        if not items:
            return lambda outputs: {}
        if len(items) == 1:  # in less time than a comprehension
            ((name, only),) = items
            return lambda outputs: {name: only(outputs)}
        return lambda outputs: {key: fill(outputs) for key, fill in items}
    kind = type(nested)
    if kind is list and len(nested) > 1 and all(type(item) is int for item in nested):
        pick = itemgetter(*nested)
        return lambda outputs: [*pick(outputs)]
    if kind is list and len(nested) == 1 and type(nested[0]) is int:
        (number,) = nested
        return lambda outputs: [outputs[number]]
    parts = [template(item) for item in nested]
    return lambda outputs: kind([fill(outputs) for fill in parts])


NOTHING, NONE_NAMED = template(None), template({})
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """One recorded path: its executables, with what turns their outputs into an answer."""

    tiers: Tiers
    value: Template = NOTHING
    outputs: Template = NOTHING
    derivatives: Template = NONE_NAMED
    updates: Template = NONE_NAMED
    unconnected: Mapping[str, Unconnected] = field(default_factory=dict)
    warnings: Sequence[Notice] = ()
    #: Of many examples at once: the output that says which of them decide as recorded.
    decided: int | None = None
    #: Of what goes on from values: those of them that follow the inputs.
    known: Sequence[KnownValue] | None = None
    #: The outputs as values, if they are: queries about these go on from them.
    recorded: Recorded | None = None
    #: Has gradients null by the branches that values take, where both were recorded.
    unreached: Unreached | None = None
    #: What it computes before a loop though perhaps none of its passes needs it, and fails there.
    early: Set[Op] = frozenset()

    @property
    def executable(self) -> Executable:
        """The one that replays first."""
        return self.tiers.executable

    @property
    def nbytes(self) -> int:
        """Approximate memory that all of it takes."""
        return self.tiers.nbytes

    def answer(self, outputs: Sequence[Any]) -> Answer:
        """The executable's outputs as an answer."""
        derivatives, unconnected = self.derivatives(outputs), self.unconnected
        if self.unreached is not None:
            gradients = derivatives["gradients"]
            gradients, unconnected = self.unreached(outputs, gradients, unconnected)
            derivatives = {"gradients": gradients}
        fields: tuple[Any, ...] = (
            self.value(outputs),
            self.outputs(outputs),
            derivatives,
            unconnected,
            self.updates(outputs),
            self.warnings,
            {},
            None,
        )
        return _new_tuple(Answer, fields)
