"""The service in this process: no socket, no second process, for tests and notebooks.

This is the one place where the SDK imports the service, and only when it is asked to.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from gradwire.errors import NotInstalled, UsageError
from gradwire.usage import used

if TYPE_CHECKING:
    from fastapi import FastAPI

#: The base URL that means a service in this process.
LOCAL = "local"
#: The address that requests go to; nothing listens there.
LOCAL_URL = "http://gradwire.local"


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
        answering = self._answering(request)
        try:
            return answering.result(_timeout(request))
        except TimeoutError as error:
            answering.cancel()
            raise httpx.ReadTimeout("timed out in the service", request=request) from error
        except KeyboardInterrupt:
            answering.cancel()
            raise

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Await the answer, for as long as the request's timeout allows."""
        try:
            async with asyncio.timeout(_timeout(request)):
                return await asyncio.wrap_future(self._answering(request))
        except TimeoutError as error:
            raise httpx.ReadTimeout("timed out in the service", request=request) from error

    def close(self) -> None:
        """Stop the service after the requests in flight."""
        self._end()

    async def aclose(self) -> None:
        """As ``close``, without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def _answering(self, request: httpx.Request) -> Future[httpx.Response]:
        if not self._end.alive:
            raise UsageError("the service of this client has been closed")
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._running.loop)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        content = await response.aread()
        return httpx.Response(response.status_code, headers=response.headers, content=content)


def _app(settings: dict[str, Any]) -> tuple[FastAPI, Any]:
    """The service, and the limits on threads that are kept while it runs."""
    try:
        from gradwire_service.app import create_app  # noqa: PLC0415 - the service is optional
        from gradwire_service.settings import Settings  # noqa: PLC0415 - the service is optional
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - the service is optional
    except ModuleNotFoundError as error:
        raise NotInstalled(
            "Client.local() runs the service in this process, and the service is not installed: "
            "pip install 'gradwire[local]'"
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
