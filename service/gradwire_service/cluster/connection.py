"""The connection to a Dask scheduler: opened when first needed, and anew after it was lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from gradwire_engine.answer import Poll

from gradwire_service.cluster.division import Capacity, capacity_of
from gradwire_service.problems import RequestError, clip

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client

Value = TypeVar("Value")
#: How long a scheduler may take to answer, and a reconnection: less than an optimisation may take
#: before it is a job, so that one without a scheduler is refused and not accepted in vain.
_CONNECT_SECONDS = 3.0
#: Time between looks at the deadline.
_POLL_SECONDS = 0.02
_RETRY_AFTER_SECONDS = 5


class Connection:
    """The client of one scheduler. Thread-safe."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._threads = ThreadPoolExecutor(2, "gradwire-dask")

    def client(self, poll: Poll) -> Client:
        """The client, connected.

        Raises: ``RequestError`` (cluster_unavailable).
        """
        while not self._lock.acquire(timeout=_POLL_SECONDS):
            poll()  # another thread is connecting
        try:
            client = self._client
            if client is None or client.status != "running":
                self._client = None
                if client is not None:  # in a thread: it may be waiting for the lost scheduler
                    self._threads.submit(client.close, timeout=_CONNECT_SECONDS)
                client = self._client = self._connected(poll)
            return client
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connection, if there is one; what was kept on workers is released."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close(timeout=_CONNECT_SECONDS)
        self._threads.shutdown(wait=False)

    def capacity(self, client: Client, poll: Poll) -> Capacity:
        """What the workers have at this time.

        Raises: ``RequestError`` (cluster_unavailable), also without any worker.
        """
        known = self.wait(client, lambda: client.scheduler.identity(n_workers=-1), poll)
        if not known["workers"]:
            raise unavailable("the cluster has no workers")
        return capacity_of([*known["workers"].values()])

    def compute(self, client: Client, task: Delayed, poll: Poll) -> Any:
        """The result of a task, after those that it depends on. Lost workers' are run again.

        Raises: what the task raises; ``RequestError`` (cluster_unavailable, worker_crashed).
        """
        future = client.compute(task, optimize_graph=False)
        try:
            return self.wait(client, lambda: client.gather(future, asynchronous=True), poll)
        finally:
            future.release()  # also where the deadline has passed: then workers stop

    def wait(self, client: Client, ask: Callable[[], Awaitable[Value]], poll: Poll) -> Value:
        """What a call on the client's own event loop gives; ``poll`` is called meanwhile."""
        future = asyncio.run_coroutine_threadsafe(_awaited(ask), client.loop.asyncio_loop)
        return _waited(future, poll)

    def _connected(self, poll: Poll) -> Client:
        from distributed import Client

        # In a thread of its own: the constructor waits for the scheduler.
        opening = self._threads.submit(
            Client,
            self._address,
            timeout=_CONNECT_SECONDS,
            set_as_default=False,
            name="gradwire",
        )
        return _waited(opening, poll)


async def _awaited(ask: Callable[[], Awaitable[Value]]) -> Value:
    """What a coroutine returns. A cancelled task is an error as any other, not a cancellation."""
    from distributed import CancelledError as Cancelled

    try:
        return await ask()
    except Cancelled as error:
        raise _lost(error) from error


def _waited(future: Future[Value], poll: Poll) -> Value:
    """The result of a future; ``poll`` is called until it is there."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    while True:
        try:
            return future.result(_POLL_SECONDS)
        except TimeoutError as error:
            if future.done():
                raise unavailable("the scheduler does not answer") from error
        except KilledWorker as error:
            raise RequestError(
                "worker_crashed",
                f"{error.allowed_failures + 1} workers of the cluster ended, one after the other, "
                "on the same part of the data",
                hint="their memory may be too small: store smaller chunks, or use larger workers",
            ) from error
        except (CommClosedError, OSError) as error:
            raise unavailable(clip(str(error), 200)) from error
        try:
            poll()
        except BaseException:
            future.cancel()
            raise


def unavailable(detail: str) -> RequestError:
    """The error of a cluster that computes nothing for now."""
    return RequestError(
        "cluster_unavailable",
        detail,
        hint="retry later; a job continues from its last checkpoint",
        retry_after_seconds=_RETRY_AFTER_SECONDS,
    )


def _lost(error: Exception) -> RequestError:
    return unavailable(f"results were lost: {clip(str(error), 200)}")
