"""An objective whose shards lie on a cluster, or in files that its workers read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from gradwire_engine.answer import Poll
from gradwire_solvers.layout import Layout
from gradwire_solvers.objective import Notes

from gradwire_service.cluster import parts
from gradwire_service.cluster.connection import ClusterConnection, GraphError
from gradwire_service.cluster.parts import Contribution, Point, Quantity, Work, pointer_of
from gradwire_service.cluster.published import Published
from gradwire_service.problems import RequestError, clip
from gradwire_service.wire.arrays_in import Array

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client

#: Parts that a worker adds at once: few enough to begin before the last is there.
_FAN_IN = 8


class ClusterObjective:
    """``f(x)`` and its derivatives as sums over shards, added in a tree on the workers.

    ``shards`` have an item for each chunked variable: a recipe of rows, or a block of Dask's. Those
    that are ``kept`` stay in the workers' memory, and tasks go where they are; others are read in
    each evaluation. All tasks are pure functions: what a lost worker had is computed again by
    others. ``poll`` is called while the workers compute. ``published`` arrays are given by
    the paths of their variables.

    Raises: ``RequestError`` (cluster_unavailable, worker_crashed, invalid_request where a published
    array cannot be computed); ``RemoteError`` from workers.
    """

    def __init__(
        self,
        connection: ClusterConnection,
        client: Client,
        work: Work,
        shards: Sequence[Sequence[Any]],
        *,
        kept: bool,
        of_residuals: bool,
        poll: Poll,
        published: Mapping[str, Published],
    ) -> None:
        from dask import delayed

        empty = {path: np.empty((0, *shape), dtype) for path, dtype, shape, _ in work.chunked}
        self.layout = Layout(parts.with_rows(work.variables, empty), work.sources)
        self.notes = Notes()
        self._connection, self._client, self._poll = connection, client, poll
        self._value: Quantity = "cost" if of_residuals else "value"
        self._hessian_product: Quantity = (
            "cost_hessian_product" if of_residuals else "hessian_product"
        )
        name = uuid4().hex
        self._work = client.persist(delayed(work, f"gradwire-work-{name}", traverse=False))
        self.shards: Sequence[Any] = shards
        self._given, self._published, self._chunked = shards, published, work.chunked
        self.kept = kept
        if kept:
            keep = delayed(parts.keep, traverse=False)
            self.shards = client.persist(
                [
                    keep(self._work, rows, dask_key_name=f"gradwire-rows-{name}-{number}")
                    for number, rows in enumerate(shards)
                ],
                optimize_graph=False,
            )

    def close(self) -> None:
        """Let the workers forget what they keep; else it stays until all of this is collected."""
        from distributed import futures_of

        kept = [self._work, *self.shards] if self.kept else [self._work]
        for future in futures_of(kept):
            future.release()

    @property
    def start(self) -> Array:
        """The sources' values in the request."""
        return self.layout.start

    @property
    def roundoff(self) -> float:
        """The relative spacing of numbers of the sources' precision."""
        return self.layout.roundoff

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """``f(x)`` and ``∇f(x)``; of residuals, ``½ Σ rᵢ²`` and ``Jᵀ r``."""
        found = self._evaluate(self._value, Point(x))
        return found.value, found.vector

    def hessian_product(self, x: Array, v: Array) -> Array:
        """``H(x) v``, of residuals ``Jᵀ J v + Σ rᵢ ∇²rᵢ v``."""
        return self._evaluate(self._hessian_product, Point(x, v)).vector

    def triangle(self, x: Array) -> Array:
        """``R`` of ``Q R = [J(x) r(x)]``, of residuals."""
        return self._evaluate("triangle", Point(x)).vector

    def gauss_newton_product(self, x: Array, v: Array) -> Array:
        """``J(x)ᵀ J(x) v``, of residuals."""
        return self._evaluate("gauss_newton_product", Point(x, v)).vector

    def _evaluate(self, quantity: Quantity, point: Point) -> Contribution:
        from dask import delayed

        run = uuid4().hex
        at = delayed(point, f"gradwire-point-{run}", traverse=False)
        evaluate = delayed(parts.evaluate, traverse=False)
        tasks = [
            evaluate(
                self._work,
                at,
                quantity,
                number == 0,
                rows,
                dask_key_name=f"gradwire-part-{run}-{number}",
            )
            for number, rows in enumerate(self.shards)
        ]
        try:
            found: Contribution = self._connection.compute(
                self._client, _sum(tasks, run), self._poll
            )
        except GraphError as failure:
            raise self._blamed(failure) from failure
        self.notes = found.notes
        return found

    def _blamed(self, failure: GraphError) -> BaseException:
        """The error of the published array whose graph has failed; else what was raised."""
        for at, variable in enumerate(self._chunked):
            source = self._published.get(variable.path)
            if source is None:
                continue
            if source.has_failed(failure.key, [shard[at] for shard in self._given]):
                kind = type(failure.error).__name__
                return RequestError(
                    "invalid_request",
                    f"the published dataset {clip(source.name, 80)} cannot be computed: {kind}: "
                    f"{clip(str(failure.error), 200)}",
                    pointer=f"{pointer_of(variable.path)}/dask",
                    hint="what it is computed from raises this: client.get_dataset(name).compute()",
                )
        return failure.error


def _sum(tasks: Sequence[Delayed], run: str) -> Delayed:
    """The sum of parts: a tree of the same form each time, so that rounding is the same, too."""
    from dask import delayed

    add = delayed(parts.add, traverse=False)
    number = 0
    while len(tasks) > 1:
        level = []
        for start in range(0, len(tasks), _FAN_IN):
            few = tasks[start : start + _FAN_IN]
            level.append(add(few, dask_key_name=f"gradwire-sum-{run}-{number}"))
            number += 1
        tasks = level
    return tasks[0]
