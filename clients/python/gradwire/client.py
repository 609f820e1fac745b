"""The synchronous and the asynchronous client: both only send calls."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import httpx

from gradwire import hints
from gradwire.call import Call, Conversation, drive, drive_async
from gradwire.connections import connections, loop_connections
from gradwire.environment import variable
from gradwire.errors import UsageError
from gradwire.events import EventReader, ServerEvent
from gradwire.exchange import FAILURES, Exchange, heard
from gradwire.local import LOCAL, LOCAL_URL, LocalTransport
from gradwire.options import (
    DEFAULT_MAX_RETRIES,
    DEFAULT_TIMEOUT,
    UNSET,
    ClientOptions,
    Placement,
    Timeout,
    Unset,
    check_address,
)
from gradwire.residents import MOST_BYTES, Residents
from gradwire.resources.catalogue import Catalogue
from gradwire.resources.compute import Compute
from gradwire.resources.groups import AsyncGroups, Groups
from gradwire.resources.optimization import Optimizations
from gradwire.usage import public, used

if TYPE_CHECKING:  # imported once an optimisation is asked for
    from gradwire.optimization.jobs import AsyncJob, Job  # noqa: F401 - ruff reads no bases
    from gradwire.optimization.results import OptimizeResult

T = TypeVar("T")
Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)


#: Limits of the connection pool. Idle connections expire before servers and proxies close them,
#: so that no request is sent on a closing connection.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=30.0)


class Connection(Compute, Catalogue, ABC, Generic[Http]):
    """Base of both clients: methods, options and a pool of connections.

    ``base_url`` and ``api_key`` default to the environment's ``GRADWIRE_URL`` (else
    ``http://127.0.0.1:8000``) and ``GRADWIRE_API_KEY``; the address ``local`` starts a service in
    this process, for this client alone. ``timeout`` is in seconds, for each attempt. With
    ``references``, large arrays and long programs that are sent repeatedly are stored by the
    service and then sent by reference. An ``http_client`` has its own pool, proxies or transport
    and stays open when this client is closed; its ``base_url`` takes precedence over the
    environment's. Behind a proxy, requests with the ``placement`` ``gpu`` go to replicas that have
    a GPU, as far as these can take them, and those with ``cpu`` to replicas without; it defaults to
    ``GRADWIRE_PLACEMENT``, else ``any``, with which the service chooses.
    """

    @public
    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: Timeout = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        references: bool = True,
        http_client: Http | None = None,
        placement: Placement | None = None,
    ) -> None:
        with used("a client's options"):
            given = base_url or (None if http_client is None else http_client.base_url)
            self._options = ClientOptions.resolve(
                given, api_key, timeout, max_retries, placement=placement
            )
            self._residents = Residents(MOST_BYTES if references else 0)
        if http_client is not None:  # which may know more schemes than http and https
            self._http: Http = http_client
        elif self._options.base_url == LOCAL:
            self._options = dataclasses.replace(self._options, base_url=LOCAL_URL)
            self._http = self._open_pool(LocalTransport())
        else:
            check_address(self._options.base_url)
            self._http = self._open_pool(self._options.base_url)
        self._owns_pool = http_client is None
        #: The caller's ``http_client``, whose headers, cookies and parameters are added.
        self._user_http_client: Http | None = http_client
        #: The process that opened the connections.
        self._process: int = os.getpid()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._options.base_url!r})"

    @classmethod
    @public
    def local(cls, **settings: Any) -> Self:
        """A client of a service in this process, which stops when the client is closed.

        Without a socket, for tests and notebooks; it needs ``gradwire[local]``. ``settings`` are
        the service's settings, by name; the environment's are the default.

        >>> with gradwire.Client.local(default_timeout_ms=1000) as client:
        ...     client.evaluate("x + 1", {"x": 1.0}).outputs
        np.float64(2.0)
        """
        client = cls(LOCAL_URL, http_client=cls._open_pool(LocalTransport(**settings)))
        client._owns_pool, client._user_http_client = True, None
        return client

    @public
    def with_options(
        self,
        *,
        timeout: Timeout | Unset = UNSET,
        max_retries: int | None = None,
        home: str | None = None,
        placement: Placement | None = None,
    ) -> Self:
        """The same client with other options, on the same connections.

        Behind a proxy, requests with one ``home`` go to one replica, whatever their programs are.

        >>> client.with_options(timeout=600, max_retries=0).evaluate(long_program, variables)
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self), _owns_pool=False)
        with used("a client's options"):
            other._options = dataclasses.replace(
                self._options,
                timeout=self._options.timeout if timeout is UNSET else timeout,
                max_retries=self._options.max_retries if max_retries is None else max_retries,
                home=self._options.home if home is None else home,
                placement=self._options.placement if placement is None else placement,
            )
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the client; the copy opens its own connections.

        The API key is included, unless it is the environment's.
        """
        if self._user_http_client is not None:
            raise UsageError(
                "a client with an http_client cannot be pickled", hint=hints.MAKE_THERE
            )
        if self._options.base_url == LOCAL_URL:
            raise UsageError(
                "a client of a service in this process cannot be pickled", hint=hints.MAKE_THERE
            )
        known = self._options.api_key == variable("GRADWIRE_API_KEY")
        options = {
            "api_key": None if known else self._options.api_key,
            "timeout": self._options.timeout,
            "max_retries": self._options.max_retries,
            "references": self._residents.most_bytes > 0,
            "placement": self._options.placement,
        }
        return _reopened, (type(self), self._options.base_url, options, self._options.home)

    def _reopen_after_fork(self) -> None:
        """After a fork, open new connections: the old ones belong to the parent process."""
        if self._process == os.getpid() or self._user_http_client is not None:
            return
        if self._options.base_url == LOCAL_URL:
            raise UsageError(
                "this client's service runs in the parent process: make a client after the fork"
            )
        self._process = os.getpid()
        self._http = self._open_pool(self._options.base_url)
        self._owns_pool = True
        self._residents = Residents(self._residents.most_bytes)  # its lock may stay locked for ever

    @staticmethod
    @abstractmethod
    def _open_pool(service: str | LocalTransport) -> Http:
        """A pool of this client's own to an address, or to a service in this process."""


class Client(
    Groups,
    Optimizations["OptimizeResult", "Job"],
    Connection[httpx.Client],
    returns="OptimizeResult | Job",
):
    """A synchronous client. It may be shared among threads.

    >>> with gradwire.Client("https://gradients.example.org") as client:
    ...     client.gradient("x**2", {"x": 3.0}).gradients
    {'x': np.float64(6.0)}
    """

    #: Waits between attempts.
    _sleep: Callable[[float], object] = staticmethod(time.sleep)

    @public
    def run(self, asked: Conversation[T]) -> T:
        """The answer to a call, or the result of a conversation of several."""
        return drive(asked, self.send)

    def send(self, call: Call[T]) -> T:
        """Send a call, with retries, and return the answer."""
        self._reopen_after_fork()
        return drive(self._residents.conversation(call), self._exchange)

    def stream(self, call: Call[Any]) -> Generator[ServerEvent, None, None]:
        """The events of a stream as they come, until it ends; errors are not retried."""
        self._reopen_after_fork()
        exchange, reader = Exchange(call, self._options), EventReader()
        try:
            response = self._http.send(exchange.request(self._user_http_client), stream=True)
            with closing(response):
                if not response.is_success:
                    response.read()
                exchange.check_stream(response)
                for piece in response.iter_bytes():
                    yield from reader.read(piece)
        except FAILURES as failure:
            raise exchange.error_of(failure) from failure

    def _hear(self, call: Call[T]) -> Any:
        with closing(self.stream(call)) as events:
            found = (heard(call, event) for event in events)
            return next((each for each in found if each is not None), None)

    def _exchange(self, call: Call[T]) -> T:
        if call.hear is not None:
            told: T = self._hear(call)
            return told
        exchange = Exchange(call, self._options)
        while not exchange.done:
            if exchange.delay_seconds:
                self._sleep(exchange.delay_seconds)
            try:
                response = self._http.send(exchange.request(self._user_http_client))
            except FAILURES as failure:
                exchange.fail(failure)
            else:
                exchange.receive(response)
        return exchange.result()

    def close(self) -> None:
        """Close the connections, unless they belong to the caller or to another client."""
        if self._owns_pool:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def _open_pool(service: str | LocalTransport) -> httpx.Client:
        transport = connections(service, LIMITS) if isinstance(service, str) else service
        return _without_cookies(httpx.Client(transport=transport, trust_env=False))


class AsyncClient(
    AsyncGroups,
    Optimizations[Coroutine[Any, Any, "OptimizeResult"], Coroutine[Any, Any, "AsyncJob"]],
    Connection[httpx.AsyncClient],
    returns="Coroutine[Any, Any, OptimizeResult | AsyncJob]",
):
    """An asynchronous client. Any number of requests may be in flight at once.

    It may be shared among event loops, of one thread after another or of several: each has
    connections of its own, which are closed with the loop. An ``http_client`` belongs to one loop.

    >>> async with gradwire.AsyncClient() as client:
    ...     answers = await asyncio.gather(*(client.gradient(program, {"x": x}) for x in points))
    """

    awaits: ClassVar[bool] = True

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]:
        """The answer to a call, or the result of a conversation of several."""
        return self.send(asked) if isinstance(asked, Call) else drive_async(asked, self.send)

    def send(self, call: Call[T]) -> Coroutine[Any, Any, T]:
        """Send a call, with retries, and return the answer.

        The values are encoded now: later changes of the arrays are not sent.
        """
        self._reopen_after_fork()
        return drive_async(self._residents.conversation(call), self._exchange)

    async def stream(self, call: Call[Any]) -> AsyncGenerator[ServerEvent, None]:
        """The events of a stream as they come, until it ends; errors are not retried."""
        self._reopen_after_fork()
        exchange, reader = Exchange(call, self._options), EventReader()
        try:
            response = await self._http.send(exchange.request(self._user_http_client), stream=True)
            async with aclosing(response):
                if not response.is_success:
                    await response.aread()
                exchange.check_stream(response)
                async for piece in response.aiter_bytes():
                    for event in reader.read(piece):
                        yield event
        except FAILURES as failure:
            raise exchange.error_of(failure) from failure

    async def _hear(self, call: Call[T]) -> Any:
        async with aclosing(self.stream(call)) as events:
            async for event in events:
                found = heard(call, event)
                if found is not None:
                    return found
        return None

    async def _exchange(self, call: Call[T]) -> T:
        if call.hear is not None:
            told: T = await self._hear(call)
            return told
        exchange = Exchange(call, self._options)
        while not exchange.done:
            if exchange.delay_seconds:
                await asyncio.sleep(exchange.delay_seconds)
            try:
                response = await self._http.send(exchange.request(self._user_http_client))
            except FAILURES as failure:
                exchange.fail(failure)
            else:
                exchange.receive(response)
        return exchange.result()

    async def close(self) -> None:
        """Close the connections, unless they belong to the caller or to another client."""
        if self._owns_pool:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @staticmethod
    def _open_pool(service: str | LocalTransport) -> httpx.AsyncClient:
        transport = loop_connections(service, LIMITS) if isinstance(service, str) else service
        return _without_cookies(httpx.AsyncClient(transport=transport, trust_env=False))


def _without_cookies(pool: Http) -> Http:
    """Let a pool of our own look for no cookies in answers, since no request sends any."""
    pool.cookies.extract_cookies = _ignored  # type: ignore[assignment, method-assign]
    return pool


def _ignored(_: httpx.Response) -> None: ...


def _reopened(
    kind: type[Any], base_url: str, options: dict[str, Any], home: str | None = None
) -> Any:
    client = kind(base_url, **options)
    if home is not None:
        client._options = dataclasses.replace(client._options, home=home)
    return client
