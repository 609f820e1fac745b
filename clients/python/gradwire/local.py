"""The service in this process: no socket, no second process, for tests and notebooks.

This is the one place where the SDK imports the service, and only when it is asked to.
"""

from __future__ import annotations

import asyncio
import math
import threading
import weakref
from collections.abc import AsyncIterator, Coroutine, Iterator, MutableMapping
from concurrent.futures import Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx

from gradwire import events
from gradwire.errors import NotInstalled, UsageError
from gradwire.usage import used

if TYPE_CHECKING:
    from fastapi import FastAPI

T = TypeVar("T")

#: The base URL that means a service in this process.
LOCAL = "local"
#: The address that requests go to; nothing listens there.
LOCAL_URL = "http://gradwire.local"
_TURN_SECONDS = 0.2


class Running(NamedTuple):
    """An event loop that runs a service, and the event that stops it."""

    loop: asyncio.AbstractEventLoop
    end: asyncio.Event


class LocalTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers requests by a service on an event loop in a separate thread.

    Callers may be synchronous or on any event loop, which computing does not block. Settings are
    the service's, by name; the environment's are the default. While the service runs, its
    ``blas_threads`` applies to the whole process.
    """

    def __init__(self, **settings: Any) -> None:
        app, limits = _app(settings)
        self._app: FastAPI = app
        self._transport: httpx.ASGITransport = httpx.ASGITransport(app, raise_app_exceptions=False)
        running = Future[Running]()
        thread = threading.Thread(target=_serve, args=(app, running), name="gradwire", daemon=True)
        thread.start()
        self._running: Running = running.result()
        #: Stops the service when this is closed or collected, or when the interpreter exits.
        self._end: weakref.finalize[..., LocalTransport] = weakref.finalize(
            self, _end, self._running, thread, limits
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Wait for the answer, for as long as the request's timeout allows.

        A timeout and an interrupt (Ctrl-C) cancel the computation.
        """
        answering = Future[httpx.Response]()  # it can be cancelled as soon as its work can begin
        with _cancelled_in_vain(answering, request):
            self._begin(answering, request)
            return _result(answering, _timeout(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Await the answer, for as long as the request's timeout allows."""
        answering = Future[httpx.Response]()
        self._begin(answering, request)
        return await _awaiting(answering, request)

    def close(self) -> None:
        """Stop the service after the requests in flight."""
        self._end()

    async def aclose(self) -> None:
        """As ``close``, without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def _begin(self, answering: Future[httpx.Response], request: httpx.Request) -> None:
        """Let the service answer a request, unless that has been cancelled."""
        if not self._end.alive:
            raise UsageError("the service of this client has been closed")
        loop = self._running.loop

        def begin() -> None:
            if answering.cancelled():
                return
            task = asyncio.ensure_future(self._answer(request))
            task.add_done_callback(partial(_pass_on, answering))
            answering.add_done_callback(partial(give_up, task))

        def give_up(task: asyncio.Future[httpx.Response], _: Future[httpx.Response]) -> None:
            if answering.cancelled():
                loop.call_soon_threadsafe(task.cancel)

        loop.call_soon_threadsafe(begin)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        if events.MEDIA_TYPE in request.headers.get("Accept", ""):
            return await Stream(self._app, request, self._running.loop).response()
        response = await self._transport.handle_async_request(request)
        content = await response.aread()
        return httpx.Response(response.status_code, headers=response.headers, content=content)


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An answer that arrives in pieces; httpx's own transport hands over whole ones alone."""

    def __init__(
        self, app: FastAPI, request: httpx.Request, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._loop = loop
        self._request = request
        self._start = asyncio.Future[MutableMapping[str, Any]]()
        #: The pieces of the body; ``None`` is its end.
        self._pieces = asyncio.Queue[bytes | None]()
        self._gone = asyncio.Event()
        self._serving = asyncio.ensure_future(self._serve(app))

    async def response(self) -> httpx.Response:
        """The answer, once its head has come."""
        either: list[asyncio.Future[Any]] = [self._start, self._serving]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._start.done():
            problem = "the service has not answered"
            failure = self._serving.exception()
            raise httpx.RemoteProtocolError(problem, request=self._request) from failure
        head = self._start.result()
        return httpx.Response(head["status"], headers=head["headers"], stream=self)

    def __iter__(self) -> Iterator[bytes]:
        while (piece := _awaited(self._submit(self._pieces.get()), self._request)) is not None:
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._next()) is not None:
            yield piece

    def close(self) -> None:
        """Tell the service that nobody reads on."""
        self._loop.call_soon_threadsafe(self._gone.set)

    async def aclose(self) -> None:
        """As ``close``."""
        self.close()

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _next(self) -> bytes | None:
        return await _awaiting(self._submit(self._pieces.get()), self._request)

    async def _serve(self, app: FastAPI) -> None:
        url = self._request.url
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }
        asked = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self._gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._start.set_result(message)
            elif message["type"] == "http.response.body" and message.get("body"):
                self._pieces.put_nowait(message["body"])

        try:
            await app(scope, receive, send)
        finally:
            self._pieces.put_nowait(None)


def _pass_on(answering: Future[T], task: asyncio.Future[T]) -> None:
    """Pass a result on to another thread, unless that has given up."""
    with suppress(InvalidStateError):
        if task.cancelled():
            answering.cancel()
        elif (error := task.exception()) is not None:
            answering.set_exception(error)
        else:
            answering.set_result(task.result())


def _awaited(answering: Future[T], request: httpx.Request) -> T:
    """Wait for an answer; a timeout and an interrupt (Ctrl-C) cancel it."""
    with _cancelled_in_vain(answering, request):
        return _result(answering, _timeout(request))


def _result(answering: Future[T], seconds: float | None) -> T:
    """A result, waited for in short turns.

    A signal that arrives between the interpreter's last look for one and the system call that waits
    does not end the wait; it is seen after it.
    Raises: ``TimeoutError``.
    """
    end = math.inf if seconds is None else monotonic() + seconds
    while not answering.done() and (left := end - monotonic()) > 0:
        wait([answering], min(left, _TURN_SECONDS))
    return answering.result(0)


@contextmanager
def _cancelled_in_vain(answering: Future[Any], request: httpx.Request) -> Iterator[None]:
    """Cancel an answer whose waiting ends by a timeout or an interrupt."""
    try:
        yield
    except TimeoutError as error:
        answering.cancel()
        raise httpx.ReadTimeout("timed out in the service", request=request) from error
    except KeyboardInterrupt:
        answering.cancel()
        raise


async def _awaiting(answering: Future[T], request: httpx.Request) -> T:
    """As ``_awaited``, on any event loop."""
    try:
        async with asyncio.timeout(_timeout(request)):
            return await asyncio.wrap_future(answering)
    except TimeoutError as error:
        raise httpx.ReadTimeout("timed out in the service", request=request) from error


def _app(settings: dict[str, Any]) -> tuple[FastAPI, Any]:
    """The service, and the limits on threads that are kept while it runs."""
    try:
        from gradwire_service.app import create_app  # noqa: PLC0415 - the service is optional
        from gradwire_service.settings import Settings  # noqa: PLC0415 - the service is optional
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - the service is optional
    except ModuleNotFoundError as error:
        raise NotInstalled(
            "Client.local() runs the service in this process, and the service is not installed",
            hint="pip install 'gradwire[local]'",
            name=error.name,
        ) from error
    unknown = ", ".join(sorted(settings.keys() - Settings.model_fields.keys()))
    if unknown:
        raise UsageError(f"the service has no setting {unknown}")
    with used("the service's settings"):
        chosen = Settings(**settings)
    app = create_app(chosen)
    # As in the server: waiting BLAS threads spin, so on busy cores a product takes many times
    # longer with two threads than with one.
    return app, threadpool_limits(chosen.blas_threads)


def _serve(app: FastAPI, running: Future[Running]) -> None:
    async def serve() -> None:
        end = asyncio.Event()
        async with app.router.lifespan_context(app):
            running.set_result(Running(asyncio.get_running_loop(), end))
            await end.wait()

    try:
        asyncio.run(serve())
    except BaseException as error:
        if running.done():
            raise
        running.set_exception(error)


def _end(running: Running, thread: threading.Thread, limits: Any) -> None:
    limits.restore_original_limits()
    running.loop.call_soon_threadsafe(running.end.set)
    if thread is not threading.current_thread():  # which may be where garbage is collected
        thread.join()


def _timeout(request: httpx.Request) -> float | None:
    timeout: float | None = request.extensions.get("timeout", {}).get("read")
    return timeout
