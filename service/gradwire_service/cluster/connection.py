"""The connection to a Dask scheduler: opened when first needed, and anew after it was lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from gradwire_engine.answer import Poll

from gradwire_service.cluster.division import ClusterCapacity, capacity_of
from gradwire_service.problems import RemoteError, RequestError, clip

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client

Value = TypeVar("Value")
#: How long a scheduler may take to answer, and a reconnection: less than an optimisation may take
#: before it is a job, so that one without a scheduler is refused and not accepted in vain.
_CONNECT_SECONDS = 3.0
#: Time after which a name is looked up again, while earlier attempts to connect still wait.
_ANEW_SECONDS = 0.3
#: Time between attempts that fail.
_PAUSE_SECONDS = 0.1
#: Threads for lookups of names: one that a name server does not answer takes up to half a minute.
_LOOKUPS = 100
#: Time between looks at the deadline.
_POLL_SECONDS = 0.02
_RETRY_AFTER_SECONDS = 5


class GraphError(Exception):
    """A task that is not the service's has failed: its ``key``, and the ``error``."""

    def __init__(self, key: Any, error: BaseException) -> None:
        super().__init__(key, error)
        self.key = key
        self.error = error


class ClusterConnection:
    """The client of one scheduler. Thread-safe."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

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
                if client is not None:  # it may be waiting for the lost scheduler
                    self._call(_closed(client))
                client = self._client = _waited(self._call(self._opened()), poll)
            return client
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connection, if there is one; what was kept on workers is released."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None:
                self._call(_closed(client)).result()
            loop, self._loop = self._loop, None
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)

    def capacity(self, client: Client, poll: Poll) -> ClusterCapacity:
        """The capacity of the workers at this time.

        Raises: ``RequestError`` (cluster_unavailable), also without any worker.
        """
        known = self.wait(client, lambda: client.scheduler.identity(n_workers=-1), poll)
        if not known["workers"]:
            raise unavailable("the cluster has no workers")
        return capacity_of([*known["workers"].values()])

    def compute(self, client: Client, task: Delayed, poll: Poll) -> Any:
        """The result of a task, after those that it depends on. Lost workers' are run again.

        Raises: ``RemoteError`` from the task; ``GraphError`` for what others of its graph raise;
        ``RequestError`` (cluster_unavailable, worker_crashed).
        """
        future = client.compute(task, optimize_graph=False)
        try:
            return self.wait(client, lambda: _outcome(client, future), poll)
        finally:
            future.release()  # also where the deadline has passed: then workers stop

    def wait(self, client: Client, ask: Callable[[], Awaitable[Value]], poll: Poll) -> Value:
        """The result of a call on the client's own event loop; ``poll`` is called meanwhile."""
        future = asyncio.run_coroutine_threadsafe(_awaited(ask), client.loop.asyncio_loop)
        return _waited(future, poll)

    def _call(self, coroutine: Coroutine[Any, Any, Value]) -> Future[Value]:
        """Start a coroutine on the event loop of all clients, which runs in a thread of its own.

        A client with a loop of its own would leave that behind whenever it cannot connect.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(ThreadPoolExecutor(_LOOKUPS, "gradwire-dask-lookup"))
            threading.Thread(
                target=_run, args=[self._loop], name="gradwire-dask", daemon=True
            ).start()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _opened(self) -> Client:
        """A new client, connected. Raises: ``OSError``."""
        from distributed import Client

        failed = ["it does not answer"]
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await _reached(self._address, failed)
                client = Client(
                    self._address,
                    timeout=_CONNECT_SECONDS,
                    asynchronous=True,
                    set_as_default=False,
                    name="gradwire",
                )
                try:
                    return await client
                except BaseException:
                    await _closed(client)
                    raise
        except TimeoutError as error:
            raise OSError(f"cannot connect to {self._address}: {failed[-1]}") from error


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped, and close it."""
    try:
        loop.run_forever()
        loop.run_until_complete(_cancelled(asyncio.all_tasks(loop)))
    finally:
        loop.close()


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in (tasks := [*tasks]):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _reached(address: str, failed: list[str]) -> None:
    """Wait until something accepts connections at an address; adds why attempts ``failed``.

    Each attempt looks its name up anew: a scheduler that comes back may have another address.
    Dask's own clients do so twice at most, and may wait for the old address until their time is
    over.
    """
    from distributed.comm.addressing import parse_address, parse_host_port

    host, port = parse_host_port(parse_address(address)[1])
    attempts: set[asyncio.Task[None]] = set()
    try:
        while True:
            attempts.add(asyncio.create_task(_attempt(host, port)))
            ended, attempts = await asyncio.wait(
                attempts, timeout=_ANEW_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            errors = [attempt.exception() for attempt in ended]
            if None in errors:
                return
            failed += map(str, errors)
            if errors:
                await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        await _cancelled(attempts)


async def _attempt(host: str, port: int) -> None:
    """Connect once."""
    _, writer = await asyncio.open_connection(host, port)
    writer.close()


async def _closed(client: Client) -> None:
    """Close a client, which may be waiting for its scheduler."""
    with suppress(OSError):  # among them that it took too long
        await client.close(timeout=_CONNECT_SECONDS)


async def _awaited(ask: Callable[[], Awaitable[Value]]) -> Value:
    """The result of a coroutine. A cancelled task is an error as any other, not a cancellation."""
    from distributed import CancelledError as Cancelled

    try:
        return await ask()
    except Cancelled as error:
        raise _lost(error) from error


async def _outcome(client: Client, future: Any) -> Any:
    """The result of a task. Raises: as ``ClusterConnection.compute``."""
    from distributed import KilledWorker

    failure = await future.exception(asynchronous=True)
    if failure is None:
        return await client.gather(future, asynchronous=True)
    if isinstance(failure, RemoteError | KilledWorker):
        raise failure
    key = await client.scheduler.get_error_cause(keys=[future.key])
    raise GraphError(key, failure) from failure


def _waited(future: Future[Value], poll: Poll) -> Value:
    """The result of a future; ``poll`` is called until it is there."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    while True:
        try:
            return future.result(_POLL_SECONDS)
        except TimeoutError as error:
            # It may also have ended since: then the next look takes its result.
            if future.done() and future.exception() is error:
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
