"""What the optimiser knows of the backend that it optimises for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from gradwire_engine.ops.base import Op
from gradwire_engine.optimize import (
    choices,
    contraction,
    factors,
    layout,
    norms,
    structure,
    triangles,
)
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.expressions import Rule

#: The rules of each type of operation, asked in their order until one has an answer.
Table: TypeAlias = Mapping[type[Op], Sequence[Rule]]


class Rules(NamedTuple):
    """What gives a value with less work; it may round differently."""

    every: Table
    #: For results of at least one axis that differentiating made.
    derived: Table


class Target(Protocol):
    """A backend, as the optimiser sees it."""

    @property
    def xp(self) -> Any:
        """The array namespace that constants are folded with."""

    @property
    def costs(self) -> Costs:
        """What its arithmetic costs."""

    @property
    def rules(self) -> Rules:
        """How tapes are rewritten for it."""


def rules(*further: Mapping[type[Op], Rule]) -> Rules:
    """The rules that are worth it for every backend, and after them ``further`` ones."""
    modules = choices, norms, factors, triangles, layout, contraction
    every = [*[module.RULES for module in modules], *further]
    return Rules(_joined(every), _joined([structure.RULES, *every]))


def _joined(tables: Sequence[Mapping[type[Op], Rule]]) -> Table:
    joined: dict[type[Op], tuple[Rule, ...]] = {}
    for table in tables:
        for op, rule in table.items():
            joined[op] = (*joined.get(op, ()), rule)
    return joined
