"""Evaluations of one shard, and sums of them. Runs on workers, in engines of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine import Engine, Leaf, native
from gradwire_engine.answer import Answer, Kind, Limits, Names, Poll, Promotion, Query, Shard
from gradwire_engine.errors import InputError, Place
from gradwire_engine.nesting import leaves
from gradwire_engine.polling import no_deadline
from gradwire_engine.program import Program
from gradwire_solvers.layout import Layout, Placement
from gradwire_solvers.local import triangle_of
from gradwire_solvers.objective import Notes
from threadpoolctl import threadpool_limits

from gradwire_service import __version__
from gradwire_service.cluster.casting import cast
from gradwire_service.cluster.reporting import Abandoned, reported
from gradwire_service.cluster.stored import Rows
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import Array, Dtype
from gradwire_service.wire.chunked import ChunkedReference

#: What a shard gives: a value with its gradient, or a product with the Hessian; of residuals, the
#: same of ``½ Σ rᵢ²``, a product with ``Jᵀ J``, or the triangular factor of ``[J r]``.
Quantity: TypeAlias = Literal[
    "value", "hessian_product", "cost", "cost_hessian_product", "gauss_newton_product", "triangle"
]
#: The version of the service, and that of the names and fields of what it sends to workers: raise
#: the number whenever those change.
VERSION = f"{__version__}, tasks 2"
#: Memory of a worker's engine for what it compiled.
_CACHE_BYTES = 64 << 20


class Variable(NamedTuple):
    """A chunked variable: its path, dtype, the shape of one row, and the dtype before a cast."""

    path: str
    dtype: Dtype
    row_shape: tuple[int, ...]
    stored: Dtype


class Work(NamedTuple):
    """All that shards have in common; each worker gets it once."""

    program: Program
    variables: Mapping[str, Any]
    sources: Names
    target: Names
    promotion: Promotion
    limits: Limits
    #: The tenant of the program, where tenants are isolated.
    owner: str | None
    chunked: tuple[Variable, ...]
    rows: int
    version: str = VERSION


class Point(NamedTuple):
    """The flat vector at which all shards are evaluated, and that of a product."""

    x: Array
    v: Array | None = None


class Contribution(NamedTuple):
    """The part of one shard, or several, in a value and a vector, or a triangular factor."""

    value: float
    vector: Array
    notes: Notes = Notes()


@reported
def evaluate(
    work: Work, point: Point, quantity: Quantity, first: bool, rows: Sequence[Array | Rows]
) -> Contribution:
    """A shard's part. The ``rows`` of each chunked variable are an array, or are read here.

    Raises: ``RemoteError``; ``Abandoned``.
    """
    check_version(work.version)
    given = {
        variable.path: one
        for variable, one in zip(work.chunked, map(_taken, rows, work.chunked), strict=True)
    }
    variables = with_rows(work.variables, given)
    residuals = quantity not in ("value", "hessian_product")
    shard = Shard(tuple(given), work.rows, first, residuals)
    problem = _ShardProblem(work, variables, shard, poll_of_task())
    found: Contribution = getattr(problem, quantity)(*(each for each in point if each is not None))
    return found


class _ShardProblem:
    """The objective's part of one shard."""

    def __init__(self, work: Work, variables: Mapping[str, Any], shard: Shard, poll: Poll) -> None:
        self._work, self._shard, self._poll = work, shard, poll
        self._layout = Layout(variables, work.sources)
        self._place = Placement(variables, self._layout.paths)

    def value(self, x: Array) -> Contribution:
        """The part of ``f(x)`` and ``∇f(x)``."""
        answer = self._answer("gradient", x)
        value = answer.value
        if isinstance(value, dict | list) or np.ndim(value) or np.iscomplexobj(value):
            several = isinstance(value, dict | list)
            got = "several values" if several else f"{value.dtype} of shape {value.shape}"
            detail = f"what is minimised is one real number, got {got}"
            raise InputError(detail, at=Place(pointer="/target"), hint="return a sum over rows")
        return self._part(answer, answer.gradients, float(value))

    def cost(self, x: Array) -> Contribution:
        """The part of ``½ Σ rᵢ²`` and ``Jᵀ r``, of residuals ``r(x)``."""
        residuals = self._answer("evaluate", x).value
        cost = sum(float(np.vdot(r, r)) for r in leaves(residuals)) / 2
        answer = self._answer("gradient", x, residuals)
        return self._part(answer, answer.gradients, cost)

    def hessian_product(self, x: Array, v: Array) -> Contribution:
        """The part of ``H(x) v``."""
        answer = self._answer("hvp", x, self._layout.arrays(v))
        return self._part(answer, answer.derivatives["hvp"])

    def gauss_newton_product(self, x: Array, v: Array) -> Contribution:
        """The part of ``J(x)ᵀ J(x) v``."""
        answer = self._answer("gradient", x, self._along(x, v))
        return self._part(answer, answer.gradients)

    def cost_hessian_product(self, x: Array, v: Array) -> Contribution:
        """The part of ``Jᵀ J v + Σ rᵢ ∇²rᵢ v``."""
        straight = self.gauss_newton_product(x, v).vector
        residuals = leaves(self._answer("evaluate", x).value)
        answer = self._answer("hvp", x, [*self._layout.arrays(v), *residuals])
        part = self._part(answer, answer.derivatives["hvp"])
        return part._replace(vector=straight + part.vector)

    def triangle(self, x: Array) -> Contribution:
        """The triangular factor of ``[J r]``, from a derivative along each element."""
        answer = self._answer("evaluate", x)
        columns = [leaves(self._along(x, unit)) for unit in np.eye(x.size)]
        columns.append(leaves(answer.value))
        flat = [np.concatenate([np.ravel(part) for part in column]) for column in columns]
        factor = triangle_of(np.column_stack(flat).astype(np.float64))
        return self._part(answer, [])._replace(vector=factor)

    def _along(self, x: Array, v: Array) -> Any:
        return self._answer("jvp", x, self._layout.arrays(v)).derivatives["jvp"]

    def _part(self, answer: Answer, arrays: Sequence[Array], value: float = 0.0) -> Contribution:
        notes = Notes(tuple(answer.warnings), answer.unconnected, answer.nonfinite)
        return Contribution(value, self._layout.flat(arrays) if arrays else np.zeros(0), notes)

    def _answer(self, kind: Kind, x: Array, vectors: Any = None) -> Answer:
        work = self._work
        query = Query(
            kind,
            target=work.target,
            sources=None if kind == "evaluate" else self._layout.paths,
            unconnected="zero",
            promotion=work.promotion,
            shard=self._shard,
        )
        variables = self._place(self._layout.arrays(x))
        engine = engine_of(work.limits, work.owner)
        return engine.call(work.program, variables, query, vectors).replay(self._poll)


def add(parts: Sequence[Contribution]) -> Contribution:
    """The sum of parts, with what is known of the first that says anything.

    Triangular factors become that of all rows.
    """
    said = (part.notes for part in parts if any(part.notes))
    vectors = [part.vector for part in parts]
    vector = triangle_of(np.vstack(vectors)) if vectors[0].ndim == 2 else np.sum(vectors, axis=0)
    return Contribution(sum(part.value for part in parts), vector, next(said, Notes()))


@reported
def keep(work: Work, rows: Sequence[Array | Rows]) -> tuple[Array, ...]:
    """The rows of a shard, which stay in the memory of one worker."""
    return tuple(map(_taken, rows, work.chunked))


def with_rows(variables: Any, rows: Mapping[str, Array]) -> Any:
    """Variables with rows in the place of each reference; none of these is trainable."""
    return _replaced(variables, "", lambda path, _: Leaf(rows[path], trainable=False))


def references_in(variables: Any) -> dict[str, ChunkedReference]:
    """The chunked variables, by path."""
    found: dict[str, ChunkedReference] = {}
    _replaced(variables, "", found.setdefault)
    return found


def _replaced(value: Any, path: str, replace: Callable[[str, ChunkedReference], Any]) -> Any:
    """A value in which each reference is replaced, by its path."""
    if isinstance(value, ChunkedReference):
        return replace(path, value)
    below = f"{path}." if path else ""
    if type(value) is dict:
        return {name: _replaced(item, f"{below}{name}", replace) for name, item in value.items()}
    if type(value) is list:
        return [_replaced(item, f"{below}{i}", replace) for i, item in enumerate(value)]
    return value


def check_version(version: str) -> None:
    """Raises: ``RequestError`` (cluster_unavailable) if the service has another version."""
    if version != VERSION:
        raise RequestError(
            "cluster_unavailable",
            f"a worker has gradwire-server {VERSION}, the service {version}",
            hint="install the same version on all workers",
            retry_after_seconds=60,
        )


def pointer_of(path: str) -> str:
    """The JSON pointer to a variable."""
    return "/variables/" + path.replace("~", "~0").replace(".", "/")


def _taken(rows: Any, variable: Variable) -> Array:
    """Rows that are read, or a block, if they are what was announced; cast to the wanted dtype.

    Raises: ``RequestError`` (dtype_mismatch, shape_mismatch, invalid_request); what reads raise.
    """
    pointer = pointer_of(variable.path)
    try:
        taken = rows.read() if isinstance(rows, Rows) else _of_block(rows, variable)
    except RequestError as error:
        error.pointer = error.pointer or pointer
        raise
    if taken.shape[1:] != variable.row_shape:
        raise RequestError(
            "shape_mismatch",
            f"rows of a chunk have the shape {taken.shape[1:]}, others {variable.row_shape}",
            pointer=pointer,
        )
    return taken


def _of_block(rows: Any, variable: Variable) -> Array:
    """The rows of a block of Dask's, which may have been taken before.

    Raises: ``RequestError`` (dtype_mismatch, invalid_request).
    """
    known = (variable.dtype, variable.stored)
    if not isinstance(rows, np.ndarray) or rows.dtype not in known:
        got = getattr(rows, "dtype", type(rows).__name__)
        raise RequestError(
            "dtype_mismatch",
            f"a chunk is of {got}, others are of {variable.stored}",
            hint="store or publish NumPy arrays of one dtype",
        )
    if np.ma.is_masked(rows):
        raise RequestError(
            "invalid_request",
            f"{variable.path} has a chunk with masked values, for which no number stands",
            hint="publish array.map_blocks(np.ma.filled, value), or leave out rows with masked "
            "values",
        )
    return cast(np.asarray(rows), variable.dtype)


def engine_of(limits: Limits, owner: str | None) -> Engine:
    """This process' engine, that of a tenant where they are isolated."""
    engine = _engine(limits)
    return engine if owner is None else engine.apart(owner)


@lru_cache(maxsize=4)  # all services of one cluster usually have the same limits
def _engine(limits: Limits) -> Engine:
    """This process' engine: with machine code if that is available, and one thread for BLAS.

    It is compiled in the background: so the first evaluations do not wait for it. No query needs
    more memory than a thread of the worker has.
    """
    threadpool_limits(1)
    worker, backend = _worker(), None
    if worker is not None and worker.memory_manager.memory_limit:
        most = worker.memory_manager.memory_limit // worker.state.nthreads
        limits = replace(limits, total_bytes=min(limits.total_bytes, most))
    if native.is_available():
        backend = native.native_backend(lambda sources, _: native.compile_texts(sources))
    return Engine(limits=limits, cache_bytes=_CACHE_BYTES, backend=backend)


def poll_of_task() -> Poll:
    """A poll that stops a task once the scheduler has cancelled it."""
    worker = _worker()
    if worker is None:
        return no_deadline
    key, tasks = worker.get_current_task(), worker.state.tasks

    def poll() -> None:
        task = tasks.get(key)
        if task is None or task.state == "cancelled":
            raise Abandoned(key)

    return poll


def _worker() -> Any:
    """The worker that runs the task; None outside of tasks."""
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
