"""``client.jobs``: optimisations that the service goes on with by itself."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from gradwire.call import Call, Steps
from gradwire.methods import (
    AwaitingListener,
    AwaitingResource,
    BlockingListener,
    BlockingResource,
    sent,
)
from gradwire.optimization.following import cancelled, deleted, followed, waited
from gradwire.optimization.handles import JobDocument, JobHandle, JobProgress, path_of
from gradwire.optimization.jobs import AsyncJob, Job
from gradwire.optimization.results import OptimizeResult
from gradwire.resources.pages import listed
from gradwire.usage import public, short_traceback

T = TypeVar("T")


class JobsMethods:
    """Jobs are stored under ids that cannot be guessed, until they are deleted or expire."""

    @sent
    def cancel(self, job: str | JobHandle[Any]) -> Steps[None]:
        """Stop a job, unless it is done; as ``job.cancel``.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.cancel(job.id)
        """
        return _with_handle(job, cancelled)

    @sent
    def delete(self, job: str | JobHandle[Any]) -> Steps[None]:
        """Stop a job, if it is not done, and forget it; as ``job.delete``."""
        return _with_handle(job, deleted)

    @sent
    def wait(self, job: str | JobHandle[Any], timeout: float | None = None) -> Steps[None]:
        """Wait until a job is done; ``RequestTimeout`` after ``timeout`` seconds."""
        return _with_handle(job, partial(followed, timeout=timeout))

    @sent
    def result(
        self, job: str | JobHandle[Any], timeout: float | None = None
    ) -> Steps[OptimizeResult]:
        """A job's result, once it is done, or its error; as ``job.result``.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.result(job.id, timeout=60).x
        {'x': np.float64(3.0)}
        """
        return _with_handle(job, partial(waited, timeout=timeout))


class Jobs(JobsMethods, BlockingResource):
    """The jobs of a ``Client``."""

    _client: BlockingListener

    def handle(self, document: JobDocument, *read: Any) -> Job:
        """A job that the service has described."""
        return Job(self._client, document, *read)

    @public
    def get(self, job: str | JobHandle[Any]) -> Job:
        """A job by its id, which another process may have started.

        >>> job = client.minimize("(x - 3)**2", {"x": 0.0}, background=True)
        >>> client.jobs.get(job.id).kind
        'minimize'
        """
        return self.handle(self.run(_found(_id(job))))

    @public
    def list(self) -> builtins.list[Job]:
        """All jobs of this tenant, the latest first, without their results."""
        return [self.handle(found) for found in self.run(_listed())]

    @public
    def events(self, job: str | JobHandle[Any]) -> Iterator[JobProgress]:
        """A job's progress as it comes, until it is done; as ``job.events``."""
        return self.get(job).events()


class AsyncJobs(JobsMethods, AwaitingResource):
    """The jobs of an ``AsyncClient``."""

    _client: AwaitingListener

    def handle(self, document: JobDocument, *read: Any) -> AsyncJob:
        """As ``Jobs.handle``."""
        return AsyncJob(self._client, document, *read)

    async def get(self, job: str | JobHandle[Any]) -> AsyncJob:
        """As ``Jobs.get``."""
        with short_traceback():
            return self.handle(await self.run(_found(_id(job))))

    async def list(self) -> builtins.list[AsyncJob]:
        """As ``Jobs.list``."""
        with short_traceback():
            return [self.handle(found) for found in await self.run(_listed())]

    async def events(self, job: str | JobHandle[Any]) -> AsyncIterator[JobProgress]:
        """As ``Jobs.events``."""
        with short_traceback():
            async for progress in (await self.get(job)).events():
                yield progress


def _id(job: str | JobHandle[Any]) -> str:
    return job.id if isinstance(job, JobHandle) else job


def _found(job: str) -> Call[JobDocument]:
    return Call("GET", path_of(job), None, JobDocument.of)


def _with_handle(
    job: str | JobHandle[Any], steps: Callable[[JobHandle[Any]], Steps[T]]
) -> Steps[T]:
    """The steps of a handle, which one by its id has to be asked for."""
    handle = job if isinstance(job, JobHandle) else JobHandle[Any](None, (yield from _found(job)))
    return (yield from steps(handle))


def _listed() -> Steps[list[JobDocument]]:
    """The steps to all jobs, the latest first."""
    found = yield from listed("jobs", JobDocument.read)
    return sorted(found, key=lambda job: job.created_at, reverse=True)
