"""An HTTP request and its response, on the event loop."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import NoReturn

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradwire_service.access.authentication import caller_of
from gradwire_service.settings import Settings
from gradwire_service.tasks.messages import Task
from gradwire_service.tasks.registry import offer_of
from gradwire_service.tasks.request import TASK_HEADERS, Outcome, Request
from gradwire_service.telemetry import server_timing, stats_of
from gradwire_service.wire.body import Disconnected, read_body
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.peek import MAX_SCANNED_BYTES, program_of, timeout_of
from gradwire_service.wire.shared import MAX_INLINE_BYTES, Chunks, SharedBody, SharedMemory

#: The owner of everything without a key.
_ANONYMOUS_OWNER = sha256(b"").hexdigest()


class Exchange:
    """An HTTP request for a task, and its response."""

    def __init__(
        self, scope: Scope, settings: Settings, task: str, arguments: tuple[str, ...] = ()
    ) -> None:
        headers = headers_of(scope)
        self.request = Request(headers, owner_of(scope), settings, offer_of(task))
        #: Who shares the executors fairly with others.
        self.tenant = tenant_of(scope)
        self.stats = stats_of(scope)
        self.request.outcome.phases = self.stats.phases
        #: The body as received.
        self.body: bytes | SharedMemory = b""
        self._task = task
        self._arguments = arguments
        self._most_bytes = settings.max_body_bytes

    @property
    def outcome(self) -> Outcome:
        """The outcome of the request."""
        return self.request.outcome

    @property
    def tape(self) -> str | None:
        """The id of the tape that the task is about, if it is about one."""
        return self._arguments[0] if self._task.startswith("tapes.") and self._arguments else None

    async def receive(self, receive: Receive) -> None:
        """Receive the body.

        Raises: ``RequestError`` (body_too_large, invalid_request), ``Disconnected``.
        """
        self._receive = receive
        length = self.request.headers.get(b"content-length", b"")
        body = self.body = await read_body(receive, length, self._most_bytes)
        self.stats.body_bytes = len(body)
        if not isinstance(body, SharedMemory):
            self.request.body = body
        is_long = MAX_INLINE_BYTES < len(body) <= MAX_SCANNED_BYTES
        if is_long and self.request.format.coding is None:  # others are parsed soon
            self.request.allow(timeout_of(body, self.request.format.reader))

    @property
    def fingerprint(self) -> bytes:
        """Equal for requests with the same program or tape, or else the same body.

        Bodies that are too long to scan here are compared by their start.
        """
        request, body = self.request, self.body
        if self.tape is not None:
            return self.tape.encode()
        if len(body) > MAX_SCANNED_BYTES:
            return sha256(self.beginning(MAX_INLINE_BYTES)).digest()
        if request.format.coding is None:
            program = program_of(body, request.format.reader)
            if program is not None:
                return sha256(program).digest()
        return sha256(body.to_bytes() if isinstance(body, SharedMemory) else body).digest()

    def beginning(self, nbytes: int) -> bytes | bytearray:
        """The first bytes of the body."""
        body = self.body
        return body.read(0, nbytes) if isinstance(body, SharedMemory) else body[:nbytes]

    def reassign(self, task: str, *arguments: str) -> None:
        """Ask for another task, which needs no body."""
        self._task, self._arguments, self.body = task, arguments, b""

    def task(self) -> Task:
        """The task for an executor."""
        given = self.request.headers
        headers = {name: given[name] for name in TASK_HEADERS if name in given}
        request = self.request
        return Task(
            *(self._task, self._arguments, headers, request.owner, request.deadline, self.body),
            tenant=self.tenant,
        )

    def apply(self, outcome: Outcome) -> None:
        """Take over an executor's outcome, and add the durations measured here."""
        self.stats.add_phases(outcome.phases)
        outcome.phases = self.stats.phases
        self.request.outcome = outcome
        self.stats.on_gpu = outcome.on_gpu
        if outcome.program is not None:
            self.stats.program = outcome.program

    async def watch(self) -> NoReturn:
        """Wait until the client disconnects.

        Raises: ``Disconnected``.
        """
        while (await self._receive())["type"] != "http.disconnect":
            pass
        raise Disconnected

    async def respond(self, send: Send, body: SharedBody) -> None:
        """Send the response."""
        outcome = self.request.outcome
        timing = server_timing(self.stats, hosted=outcome.hosted)
        headers = [(b"server-timing", timing), *outcome.headers]
        if body:
            headers += (
                (b"content-type", self.request.format.reply_type),
                (b"content-length", b"%d" % len(body)),
            )
        await send({"type": "http.response.start", "status": outcome.status, "headers": headers})
        if isinstance(body, Chunks | SharedMemory):
            for piece in body.chunks():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            body = b""
        await send({"type": "http.response.body", "body": body})


def owner_of(scope: Scope) -> str:
    """The owner of a request: the tenant of its key.

    Without authentication, it is the digest of the Authorization header: stores see no key.
    """
    caller = caller_of(scope)
    if caller is not None:
        return caller.owner
    key = headers_of(scope).get(b"authorization")
    return sha256(key).hexdigest() if key else _ANONYMOUS_OWNER


def tenant_of(scope: Scope) -> str:
    """The tenant for fair sharing of executors: that of the key, or without keys the address.

    Whoever has an IPv6 address has a network of them, of which 64 bits are its own.
    """
    caller = caller_of(scope)
    if caller is not None:
        return caller.owner
    client = scope.get("client")
    if client is None:  # a socket of this machine
        return ""
    address = client[0]
    return address if ":" not in address else _network(address)


@lru_cache(maxsize=1024)
def _network(address: str) -> str:
    try:
        read = ip_address(address)
    except ValueError:  # as a proxy has written it
        return address
    if not isinstance(read, IPv6Address):
        return address
    mapped = read.ipv4_mapped
    return str(IPv6Address(int(read) >> 64 << 64) if mapped is None else mapped)


class Reply(Response):
    """The response of an exchange, for FastAPI routes to return."""

    def __init__(self, exchange: Exchange, body: SharedBody) -> None:
        self.background = None
        self.status_code = exchange.outcome.status
        self._exchange = exchange
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._exchange.respond(send, self._body)
