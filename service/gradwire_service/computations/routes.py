"""``POST /v1/evaluate`` and the derivatives, with raw bodies, and ``/v1/explain``."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gradwire_engine.answer import Kind, Poll
from gradwire_engine.errors import EngineError
from gradwire_engine.queries import Entry
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from gradwire_service.computations.batching import Batcher
from gradwire_service.computations.handlers import Computation, UnreadText
from gradwire_service.computations.inline import inline_limits
from gradwire_service.computations.operations import EXPLAIN_OPERATION, OPERATIONS
from gradwire_service.dependencies import Dependencies
from gradwire_service.problems import RemoteError
from gradwire_service.references import WouldBlock
from gradwire_service.routes.exchange import Exchange
from gradwire_service.routes.offload import Offloader
from gradwire_service.routes.raw import RawRoute
from gradwire_service.routes.task_routes import TaskRoute
from gradwire_service.scheduling import Deadline, InlineDeadline, TooLongInline
from gradwire_service.scheduling.placement import Known
from gradwire_service.tasks.request import COMPILE, PARSE, REPLAY
from gradwire_service.wire.envelope import FIELDS
from gradwire_service.wire.shared import SharedBody

#: Programs that took longer to parse and compile in an executor are not compiled here too.
_PREPARE_SECONDS = 0.05
#: Requests with more references that are not cached are offloaded.
_MAX_LOADED = 8
#: Shorter bodies are read at once, whatever they took the last time.
_LONG_BYTES = 4096
#: The start of a long body identifies its program, which usually comes first.
_BEGINNING_BYTES = 512


class Compute:
    """One kind of computation as an ASGI application.

    The first call of a program goes to an executor, and later ones if they are long. A program that
    proves to be short is compiled here as well at its next call, and from then on runs on the event
    loop.
    """

    def __init__(
        self,
        kind: Kind,
        dependencies: Dependencies,
        offloader: Offloader,
        batcher: Batcher | None,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._kind = kind
        self._dependencies = dependencies
        self._settings = dependencies.settings
        self._offloader = offloader
        self._batcher = batcher
        self._threads = threads
        self._inline_limits = inline_limits(dependencies.settings)
        #: Limits for compiling here; batches may take longer than single calls.
        self._shared = self._inline_limits if batcher is None else self._inline_limits.for_groups()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, self._settings, self._kind)
        answer = self._answer(exchange, receive)
        body = await self._dependencies.capacity.serve(answer)
        self._offloader.count(exchange.outcome)
        await exchange.respond(send, body)

    async def _answer(self, exchange: Exchange, receive: Receive) -> SharedBody:
        """Answer on the event loop if all of it is short, else by an executor."""
        await exchange.receive(receive)
        work = await self._prepared(exchange)
        if work is None or self._dependencies.placement.always_gpu:
            return await self._offload(exchange, work)
        if self._batcher is not None and work.call.compiled:
            return await self._batcher.answer(work, self._alone, exchange)
        return await self._alone(work, exchange)

    async def _prepared(self, exchange: Exchange) -> Computation | None:
        """Parse the request and its program, if that is short."""
        request, dependencies = exchange.request, self._dependencies
        if len(exchange.body) > self._settings.inline_body_bytes or request.format.coding:
            return None
        engine = dependencies.engines.of(request.owner)
        if len(exchange.body) > _LONG_BYTES and not self._known(exchange, None).may_try():
            return None
        for _ in range(_MAX_LOADED):
            try:
                poll = InlineDeadline(dependencies.clock)
                work = Computation(
                    engine, dependencies.resolver, self._kind, request, poll, blocking=False
                )
                return None if work.changes_store else work
            except UnreadText as unread:
                known = self._known(exchange, None)
                if not known.short:
                    return None
                with request.phase(PARSE):
                    is_read = await self._here(partial(engine.parse, unread.text))
                if not is_read:
                    known.fail()
                    return None
            except TooLongInline:
                self._known(exchange, None).fail()
                return None
            except WouldBlock as missing:
                if not await self._load(missing):
                    return None
        return None

    async def _load(self, missing: WouldBlock) -> bool:
        """Load a reference into the cache if it is short; returns whether it is there."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._dependencies.resolver.load, missing)

    async def _alone(self, work: Computation, exchange: Exchange) -> SharedBody:
        """Answer a single request."""
        call = work.call
        known = self._dependencies.placement.of_entry(call.entry)
        if known is not None and not known.may_try():
            return await self._offload(exchange, work)
        if not call.compiled and known is not None and known.short:
            with exchange.request.phase(COMPILE):
                is_compiled = await self._here(call.compile)
            if not is_compiled:
                known.fail()
        if call.compiled and self._inline_limits.allow(call):
            try:
                body = b"".join(work.finish(InlineDeadline(self._dependencies.clock)))
            except TooLongInline:
                self._known(exchange, call.entry).fail()
            else:
                exchange.stats.program = exchange.outcome.program
                return body
        return await self._offload(exchange, work)

    async def _here(self, function: Callable[[Poll], object]) -> bool:
        """Parse or compile here, in a thread, what is short in an executor; False if it is not.

        Other errors appear again there.
        """
        poll = Deadline(1000 * _PREPARE_SECONDS * 4)
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, function, poll)
        except EngineError:
            return False
        return True

    def _known(self, exchange: Exchange, entry: Entry | None) -> Known:
        """The known facts about the computation of a request."""
        size = len(exchange.body).bit_length()
        key = self._kind, exchange.request.owner, _home(exchange), size
        return self._dependencies.placement.known(entry, key)

    async def _offload(self, exchange: Exchange, work: Computation | None) -> SharedBody:
        """Answer by an executor, on the CPU or the GPU, and learn how long that took."""
        entry = None if work is None else work.call.entry
        known = self._known(exchange, entry)
        on_gpu = self._dependencies.placement.is_on_gpu(known, _input_bytes(exchange, work))
        try:
            body = await self._offloader.offload(
                exchange,
                expected_seconds=known.expected_seconds(on_gpu=on_gpu),
                home=_home(exchange),
                on_gpu=on_gpu,
            )
        except RemoteError as error:
            known.too_large |= error.problem.code == "out_of_gpu_memory"
            raise
        outcome = exchange.outcome
        if outcome.cached is None:
            return body  # redirected
        seconds = outcome.phases[REPLAY], outcome.next_seconds
        known.learn(outcome.cost, *seconds, on_gpu=outcome.on_gpu)
        if not outcome.on_gpu:
            known.prepare_seconds = max(known.prepare_seconds, sum(outcome.phases[: COMPILE + 1]))
            known.short = (
                known.prepare_seconds <= _PREPARE_SECONDS
                and outcome.next_seconds < self._shared.seconds
                and outcome.next_bytes <= self._shared.nbytes
            )
        return body


def _input_bytes(exchange: Exchange, work: Computation | None) -> int:
    """Bytes of all inputs, residents included, or about as many as the body has."""
    if work is None:
        return len(exchange.body)
    return sum([array.nbytes for array in work.call.arguments.inputs])


def _home(exchange: Exchange) -> str:
    """The home of a request: its program, or else the start of its body."""
    if exchange.outcome.program is not None:
        return exchange.outcome.program
    return f"{zlib.crc32(exchange.beginning(_BEGINNING_BYTES)):08x}"


ROUTES = (TaskRoute("POST", "/v1/explain", "explain", EXPLAIN_OPERATION),)


def routes(
    dependencies: Dependencies, offloader: Offloader, threads: ThreadPoolExecutor
) -> list[BaseRoute]:
    """The raw routes of computations."""
    window = dependencies.settings.batch_window_microseconds
    batcher = Batcher(dependencies, threads) if window else None
    return [
        RawRoute(
            f"/v1/{kind}",
            Compute(kind, dependencies, offloader, batcher, threads),
            **OPERATIONS[kind],
        )
        for kind in FIELDS
    ]
