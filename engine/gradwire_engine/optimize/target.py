"""The backend as the optimiser sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from gradwire_engine.ops.base import Op
from gradwire_engine.optimize import (
    cholesky_rules,
    contraction,
    factors,
    identities,
    index_maps,
    layout,
    norms,
    select_rules,
    structure,
)
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.expressions import Rule

#: The rules of each type of operation, asked in their order until one has an answer.
Table: TypeAlias = Mapping[type[Op], Sequence[Rule]]


class Rules(NamedTuple):
    """The rewriting of tapes: into less work for the same value, which may round differently."""

    every: Table
    #: For results of at least one axis that differentiating made.
    derived: Table
    #: For tapes that are ``exact``: what changes no bit of any value.
    exact: Table


class Target(Protocol):
    """A backend, as the optimiser sees it."""

    @property
    def rules(self) -> Rules:
        """The rewriting of tapes for it."""

    @property
    def costs(self) -> Costs:
        """The costs of computing on it."""

    def fold(self, op: Op, *constants: Any) -> Any:
        """The result of an operation on constants; None if it fails, as it will at replay."""


def rules(exact: Iterable[type[Op]], *further: Mapping[type[Op], Rule]) -> Rules:
    """The rules that are worth it for every backend, and after them ``further`` ones.

    ``exact`` are the operations whose identities change no bits on this backend.
    """
    modules = (
        *(index_maps, structure, select_rules, norms, factors),
        *(cholesky_rules, layout, contraction),
    )
    every = [*[module.RULES for module in modules], *further]
    unchanged = {op: identities.RULES[op] for op in exact}
    return Rules(
        _joined([identities.RULES, *every]),
        _joined([identities.RULES, structure.OF_DERIVATIVES, *every]),
        _joined([unchanged]),
    )


def _joined(tables: Sequence[Mapping[type[Op], Rule]]) -> Table:
    joined: dict[type[Op], tuple[Rule, ...]] = {}
    for table in tables:
        for op, rule in table.items():
            joined[op] = (*joined.get(op, ()), rule)
    return joined
