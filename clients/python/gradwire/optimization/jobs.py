"""The jobs of both clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing, suppress

from gradwire.call import Call, Steps
from gradwire.errors import GradwireError
from gradwire.methods import (
    AwaitingListener,
    AwaitingResource,
    BlockingListener,
    BlockingResource,
    sent,
)
from gradwire.optimization.following import Following, cancelled, deleted, followed, waited
from gradwire.optimization.handles import JobHandle, JobProgress, L
from gradwire.optimization.results import OptimizeResult
from gradwire.usage import short_traceback


class JobMethods(JobHandle[L]):
    """The methods with which a client asks about one job."""

    @sent
    def refresh(self) -> Call[None]:
        """Ask how it is now."""
        return self.refreshed()

    @sent
    def wait(self, timeout: float | None = None) -> Steps[None]:
        """Wait until it is done; ``RequestTimeout`` after ``timeout`` seconds."""
        return followed(self, timeout=timeout)

    @sent
    def result(self, timeout: float | None = None) -> Steps[OptimizeResult]:
        """Its result, once it is done, or its error; it goes on if the timeout expires first.

        >>> client.minimize("(x - 3)**2", {"x": 0.0}, background=True).result(timeout=60).x
        {'x': np.float64(3.0)}
        """
        return waited(self, timeout)

    @sent
    def cancel(self) -> Steps[None]:
        """Stop it, unless it is done."""
        return cancelled(self)

    @sent
    def delete(self) -> Steps[None]:
        """Stop it, if it is not done, and forget it."""
        return deleted(self)


class Job(JobMethods[BlockingListener], BlockingResource):
    """A job of a ``Client``; iterating over it gives its progress until it is done."""

    _client: BlockingListener

    def __iter__(self) -> Iterator[JobProgress]:
        return self.events()

    def events(self) -> Iterator[JobProgress]:
        """Its progress as it comes, until it is done; connections that are lost are renewed."""
        following = Following(self)
        with short_traceback():
            while not self.done:
                with (
                    suppress(GradwireError),
                    closing(self._client.stream(following.stream())) as events,
                ):
                    for progress in map(following.heard, events):
                        if progress is not None:
                            yield progress
                progress = self._client.run(following.checked())
                if progress is not None:
                    yield progress


class AsyncJob(JobMethods[AwaitingListener], AwaitingResource):
    """As ``Job``, of an ``AsyncClient``."""

    _client: AwaitingListener

    def __aiter__(self) -> AsyncIterator[JobProgress]:
        return self.events()

    async def events(self) -> AsyncIterator[JobProgress]:
        """As ``Job.events``."""
        following = Following(self)
        with short_traceback():
            while not self.done:
                with suppress(GradwireError):
                    async with aclosing(self._client.stream(following.stream())) as events:
                        async for event in events:
                            progress = following.heard(event)
                            if progress is not None:
                                yield progress
                progress = await self._client.run(following.checked())
                if progress is not None:
                    yield progress
