"""``client.jobs``: optimisations that the service goes on with by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias
from urllib.parse import urlencode

from gradwire.call import Call, Reply, Steps
from gradwire.methods import (
    AwaitingListener,
    AwaitingResource,
    BlockingListener,
    BlockingResource,
    sent,
)
from gradwire.optimization.jobs import (
    AsyncJob,
    Job,
    JobDocument,
    JobHandle,
    JobProgress,
    deletion,
    followed,
    path_of,
    waited,
)
from gradwire.optimization.results import OptimizeResult

#: Most jobs that the service lists in one answer.
PAGE = 1000

_Jobs: TypeAlias = list[Job]
_AsyncJobs: TypeAlias = list[AsyncJob]


class JobsMethods:
    """Jobs are stored under ids that cannot be guessed, until they are deleted or expire."""

    @sent
    def cancel(self, job: str | JobHandle[Any]) -> Call[None]:
        """Stop a job; as ``job.cancel``.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.cancel(job.id)
        """
        return deletion(_id(job))

    @sent
    def delete(self, job: str | JobHandle[Any]) -> Call[None]:
        """Stop a job, if it is not done, and forget its result; as ``job.delete``."""
        return deletion(_id(job))

    @sent
    def wait(self, job: str | JobHandle[Any], timeout: float | None = None) -> Steps[None]:
        """Wait until a job is done; ``RequestTimeout`` after ``timeout`` seconds."""
        return _waited(_id(job), timeout)

    @sent
    def result(
        self, job: str | JobHandle[Any], timeout: float | None = None
    ) -> Steps[OptimizeResult]:
        """A job's result, once it is done, or its error; as ``job.result``.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.result(job.id, timeout=60).x
        {'x': np.float64(3.0)}
        """
        return _result(job, timeout)


class Jobs(JobsMethods, BlockingResource):
    """The jobs of a ``Client``."""

    client: BlockingListener

    def handle(self, document: JobDocument, *read: Any) -> Job:
        """A job that the service has described."""
        return Job(self.client, document, *read)

    def get(self, job: str | JobHandle[Any]) -> Job:
        """A job by its id, which another process may have started.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.get(job.id).kind
        'minimize'
        """
        return self.handle(self.run(_found(_id(job))))

    def list(self) -> _Jobs:
        """All jobs of this tenant, the latest first, without their results."""
        return [self.handle(found) for found in self.run(_listed())]

    def events(self, job: str | JobHandle[Any]) -> Iterator[JobProgress]:
        """A job's progress as it comes, until it is done; as ``job.events``."""
        return self.get(job).events()


class AsyncJobs(JobsMethods, AwaitingResource):
    """The jobs of an ``AsyncClient``."""

    client: AwaitingListener

    def handle(self, document: JobDocument, *read: Any) -> AsyncJob:
        """As ``Jobs.handle``."""
        return AsyncJob(self.client, document, *read)

    async def get(self, job: str | JobHandle[Any]) -> AsyncJob:
        """As ``Jobs.get``."""
        return self.handle(await self.run(_found(_id(job))))

    async def list(self) -> _AsyncJobs:
        """As ``Jobs.list``."""
        return [self.handle(found) for found in await self.run(_listed())]

    async def events(self, job: str | JobHandle[Any]) -> AsyncIterator[JobProgress]:
        """As ``Jobs.events``."""
        async for progress in (await self.get(job)).events():
            yield progress


def _id(job: str | JobHandle[Any]) -> str:
    return job.id if isinstance(job, JobHandle) else job


def _found(job: str) -> Call[JobDocument]:
    return Call("GET", path_of(job), None, JobDocument.of)


def _waited(job: str, timeout: float | None) -> Steps[None]:
    document = yield from _found(job)
    yield from followed(JobHandle[Any](None, document), timeout=timeout)


def _result(job: str | JobHandle[Any], timeout: float | None) -> Steps[OptimizeResult]:
    handle = job if isinstance(job, JobHandle) else JobHandle[Any](None, (yield from _found(job)))
    return (yield from waited(handle, timeout))


def _listed() -> Steps[list[JobDocument]]:
    """The steps to all jobs: a request for each page."""
    found: list[JobDocument] = []
    query: dict[str, str | int] = {"limit": PAGE}
    while True:
        page = yield from Call("GET", f"/v1/jobs?{urlencode(query)}", None, _document)
        found += map(JobDocument.read, page.document["jobs"])
        if page.document.get("after") is None:
            return found
        query["after"] = page.document["after"]


def _document(reply: Reply) -> Reply:
    return reply
