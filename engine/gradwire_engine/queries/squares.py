"""Half the sum of squares of residuals, its gradient, and Gauss–Newton products with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array, Query
from gradwire_engine.queries.call import Call
from gradwire_engine.record.calculus import leaves

#: From a query and its vectors to its call, as ``Engine.call`` of a program and its variables.
Asked = Callable[[Query, Any], Call]


class Squares(NamedTuple):
    """``c = ½ Σ |r|²`` of the residuals r that a query's target is: any nested arrays.

    ``call`` asks about a program at its variables. With a shard of residuals in ``query`` all that
    these give is a part: those of all shards add up to that of the whole.
    Source: Nocedal and Wright, Numerical Optimization (2006), 10.2.
    """

    call: Callable[[Query, Any], Call]
    query: Query

    def residuals(self, poll: Callable[[], None]) -> Any:
        """The residuals in the target's structure."""
        names = self.query.target
        return self._asked("evaluate", None, poll, outputs=names, target=None, sources=None).value

    def cost_and_gradient(self, poll: Callable[[], None]) -> tuple[float, Any]:
        """``c`` and ``Jᵀ r``, in the sources' structure."""
        residuals = self.residuals(poll)
        cost = sum([_squares(r) for r in leaves(residuals)]) / 2
        return cost, self._transposed(residuals, poll)

    def product(self, vectors: Any, poll: Callable[[], None]) -> Any:
        """``Jᵀ J v`` in the sources' structure, which the vectors have."""
        answer = self._asked("jvp", vectors, poll)
        return self._transposed(answer.derivatives["jvp"], poll)

    def _transposed(self, bars: Any, poll: Callable[[], None]) -> Any:
        return self._asked("gradient", bars, poll).gradients

    def _asked(self, kind: Any, vectors: Any, poll: Callable[[], None], **changes: Any) -> Any:
        query = self.query._replace(kind=kind, unconnected="zero", **changes)
        return self.call(query, vectors).replay(poll)


def _squares(r: Array) -> float:
    return float(np.sum(np.square(np.abs(r.astype(np.result_type(r, np.float64))))))
