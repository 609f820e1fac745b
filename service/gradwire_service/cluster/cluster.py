"""A Dask cluster, as requests see it: objectives over the chunked variables that they name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gradwire_engine import Program
from gradwire_engine.answer import Answer, Limits, Names, Poll, Promotion
from gradwire_engine.queries import Call

from gradwire_service.cluster import stored
from gradwire_service.cluster.batches import answered, is_divided
from gradwire_service.cluster.confinement import check_tenant, relative_path
from gradwire_service.cluster.connection import ClusterConnection
from gradwire_service.cluster.division import divide
from gradwire_service.cluster.objective import ClusterObjective
from gradwire_service.cluster.parquet_files import ParquetFiles, check_equal_index
from gradwire_service.cluster.parts import Variable, Work, pointer_of, references_in
from gradwire_service.cluster.published import Published, find_published
from gradwire_service.engines import Engines
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError
from gradwire_service.wire.chunked import ChunkedReference

if TYPE_CHECKING:
    from distributed import Client

#: The rows of a chunked variable, wherever they are.
Source: TypeAlias = Published | stored.Stored


class Question(NamedTuple):
    """A function of sources: a program, its variables with references in them, and its target."""

    program: Program
    variables: Mapping[str, Any]
    sources: Names = None
    target: Names = None
    promotion: Promotion = "numpy"
    #: Whether the target's values are residuals ``r``, and the function is ``½ Σ rᵢ²``.
    of_residuals: bool = False


class Cluster:
    """The cluster of the settings; connected when first needed. Thread-safe.

    ``isolated``, a tenant names only datasets and files of its own.
    """

    def __init__(self, settings: Settings, limits: Limits, *, isolated: bool) -> None:
        self._connection = ClusterConnection(settings.dask) if settings.dask else None
        self._root, self._limits, self._isolated = settings.data_root, limits, isolated

    def connect(self, poll: Poll) -> None:
        """Connect to the cluster, if there is one.

        Raises: ``RequestError`` (cluster_unavailable).
        """
        if self._connection is not None:
            self._connection.client(poll)

    def objective(self, question: Question, owner: str, poll: Poll) -> ClusterObjective:
        """The objective of a question with chunked variables.

        Raises: ``RequestError`` (invalid_request, forbidden, dtype_mismatch, shape_mismatch,
        cluster_unavailable); ``RemoteError`` from the worker that looks for files.
        """
        references = references_in(question.variables)
        requests = self._requests(references, owner)
        connection = self._connection
        if connection is None:
            raise RequestError(
                "invalid_request",
                "this service has no Dask cluster for chunked variables",
                pointer=pointer_of(next(iter(references))),
                hint="send the values, or set GRADWIRE_DASK",
            )
        client = connection.client(poll)
        capacity = connection.capacity(client, poll)
        sources = self._sources(connection, client, references, requests, poll)
        _check_shapes(references, sources)
        rows, row_bytes = _equal_rows(sources), sum(map(_row_bytes, sources.values()))
        widest = max(sources.values(), key=_row_bytes)
        bounds = divide(widest.chunks, row_bytes, capacity)
        _check_indexes(connection, client, sources, bounds, poll)
        divided = [source.divided(bounds) for source in sources.values()]
        work = Work(
            question.program,
            question.variables,
            question.sources,
            question.target,
            question.promotion,
            self._limits,
            owner if self._isolated else None,
            tuple(
                Variable(path, one.dtype, one.shape[1:], one.stored)
                for path, one in sources.items()
            ),
            rows,
        )
        return ClusterObjective(
            connection,
            client,
            work,
            [list(items) for items in zip(*divided, strict=True)],
            kept=capacity.keeps(rows * row_bytes),
            of_residuals=question.of_residuals,
            poll=poll,
            published={path: one for path, one in sources.items() if isinstance(one, Published)},
        )

    def batch(self, call: Call, owner: str, poll: Poll) -> Answer | None:
        """The answer to a long query about many examples, by pieces; None for any other.

        Also None where there is no cluster for now: the query needs none.

        Raises: ``RemoteError``, errors of the engine.
        """
        if self._connection is None or not is_divided(call):
            return None
        try:
            isolated = owner if self._isolated else None
            return answered(self._connection, call, self._limits, isolated, poll)
        except RequestError as error:
            if error.code != "cluster_unavailable":
                raise
            return None

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()

    def _requests(
        self, references: Mapping[str, ChunkedReference], owner: str
    ) -> dict[str, stored.FileRequest]:
        """The requests for files, by variable; the names of all references are checked."""
        requests: dict[str, stored.FileRequest] = {}
        for path, reference in references.items():
            pointer, name = f"{pointer_of(path)}/{reference.kind}", reference.name
            if reference.kind != "dask":
                if not self._root:
                    detail = "this service reads no files"
                    hint = "name a published dataset, or set GRADWIRE_DATA_ROOT"
                    raise RequestError("invalid_request", detail, pointer=pointer, hint=hint)
                name = relative_path(name, self._root, pointer)
                requests[path] = stored.FileRequest(reference, name, pointer)
            if self._isolated:
                check_tenant(name, owner, pointer)
        return requests

    def _sources(
        self,
        connection: ClusterConnection,
        client: Client,
        references: Mapping[str, ChunkedReference],
        requests: Mapping[str, stored.FileRequest],
        poll: Poll,
    ) -> dict[str, Source]:
        """The sources that references refer to, by the paths of their variables."""
        from dask import delayed

        described: Mapping[str, stored.Stored] = {}
        if requests:
            describe = delayed(stored.describe, traverse=False)
            task = describe([*requests.values()], self._root, self._isolated)
            found = connection.compute(client, task, poll)
            described = dict(zip(requests, found, strict=True))
        return {
            path: described[path]
            if path in described
            else find_published(
                connection, client, reference, f"{pointer_of(path)}/{reference.kind}", poll
            )
            for path, reference in references.items()
        }


def open_cluster(settings: Settings, engines: Engines) -> Cluster:
    """The cluster of a service; objectives have the limits of its engines."""
    return Cluster(settings, engines.limits, isolated=engines.isolated)


def check_installed(settings: Settings) -> None:
    """Check that a service with a cluster has what that needs.

    Raises: ``StartupError``.
    """
    if settings.dask and find_spec("distributed") is None:
        raise StartupError("GRADWIRE_DASK needs Dask: pip install 'gradwire-server[dask]'")


def _row_bytes(source: Source) -> int:
    """Bytes of a row in memory, as it is stored or cast, whichever are more."""
    itemsize = max(source.dtype.itemsize, source.stored.itemsize)
    return itemsize * math.prod(source.shape[1:])


def _check_shapes(
    references: Mapping[str, ChunkedReference], sources: Mapping[str, Source]
) -> None:
    """Check that variables are what references say, for which a program may have been recorded.

    Raises: ``RequestError`` (shape_mismatch).
    """
    for path, reference in references.items():
        expected, found = reference.shape, sources[path].shape
        if expected is not None and expected != found:
            raise RequestError(
                "shape_mismatch",
                f"{path} has the shape {found}, expected {expected}",
                pointer=f"{pointer_of(path)}/shape",
                hint="name the shape that the data have, or leave it out",
            )


def _check_indexes(
    connection: ClusterConnection,
    client: Client,
    sources: Mapping[str, Source],
    bounds: Sequence[tuple[int, int]],
    poll: Poll,
) -> None:
    """Check that Parquet datasets with an index have the same one: workers read only that.

    Raises: ``RemoteError`` (invalid_request), ``RequestError`` (cluster_unavailable).
    """
    from dask import delayed

    datasets: dict[Any, tuple[str, ParquetFiles]] = {}
    for path, source in sources.items():
        if isinstance(source, ParquetFiles) and source.has_index:
            datasets.setdefault(source.groups, (path, source))
    if len(datasets) < 2:
        return
    (first, one), *others = datasets.values()
    check = delayed(check_equal_index, traverse=False)
    tasks = [
        check((first, path), *parts, pointer_of(path))
        for path, other in others
        for parts in zip(one.parts(bounds), other.parts(bounds), strict=True)
    ]
    connection.compute(client, delayed(list)(tasks), poll)


def _equal_rows(sources: Mapping[str, Source]) -> int:
    """The number of rows, which is that of all variables.

    Raises: ``RequestError`` (shape_mismatch).
    """
    rows = {path: source.shape[0] for path, source in sources.items()}
    first = next(iter(rows))
    for path, count in rows.items():
        if count != rows[first]:
            raise RequestError(
                "shape_mismatch",
                f"{first} has {rows[first]} rows, {path} has {count}",
                pointer=pointer_of(path),
                hint="all chunked variables are divided alike along their first axis",
            )
    return rows[first]
