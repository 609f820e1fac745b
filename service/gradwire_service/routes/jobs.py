"""``/v1/jobs``: optimisations that take longer than an answer may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from time import monotonic

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from gradwire_service import openapi
from gradwire_service.dependencies import Dependencies
from gradwire_service.problems import RequestError
from gradwire_service.routes.exchange import Exchange, Reply, owner_of
from gradwire_service.routes.offload import Offloader
from gradwire_service.runs import Runs, pause
from gradwire_service.scheduling import Capacity
from gradwire_service.store import Key
from gradwire_service.work.jobs import document_of

#: Default number of jobs on a page.
_PAGE = "100"
#: Time between comments that keep a connection open, and between looks whether the replica stops.
_COMMENT_SECONDS, _DRAIN_SECONDS = 15.0, 0.25
#: nginx would hold events back.
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class Events:
    """The events of jobs: any replica sends them."""

    def __init__(
        self, runs: Runs, capacity: Capacity, clock: Callable[[], float] = monotonic
    ) -> None:
        self._runs = runs
        self._capacity = capacity
        self._clock = clock

    async def of(self, key: Key, last: int) -> AsyncIterator[bytes]:
        """The events after number ``last``, as they come, until the job has ended.

        They stop when the replica does: a client goes on with another.
        """
        sent_at = self._clock()
        yield b"retry: 1000\n\n"
        async with self._runs.following(key) as feed:
            while not self._capacity.draining:
                changed = feed.changed
                for number, text in [event for event in feed.events if event[0] > last]:
                    last, sent_at = number, self._clock()
                    yield _event(number, "progress", text)
                if feed.has_ended:
                    if feed.stored is not None:  # else it was deleted
                        done = orjson.dumps(document_of(feed.stored)).decode()
                        yield _event(last + 1, "done", done)
                    return
                if self._clock() - sent_at > _COMMENT_SECONDS:
                    sent_at = self._clock()
                    yield b":\n\n"
                await pause(changed, _DRAIN_SECONDS)


def router(dependencies: Dependencies, offloader: Offloader, runs: Runs) -> APIRouter:
    """The routes of jobs."""
    routes = APIRouter(prefix="/v1/jobs", tags=["jobs"])
    capacity = dependencies.capacity
    events_of = Events(runs, capacity, dependencies.clock).of

    @routes.get("", **openapi.JOB_OPERATIONS["all"])
    async def all(request: Request) -> Response:
        query = request.query_params
        after, limit = query.get("after", ""), query.get("limit", _PAGE)
        return await offloader.answer(request, "jobs.all", after, limit)

    @routes.get("/{job}", **openapi.JOB_OPERATIONS["show"])
    async def show(request: Request, job: str) -> Response:
        reply = await offloader.answer(request, "jobs.show", job)
        await runs.take(Key("jobs", owner_of(request.scope), job))
        return reply

    @routes.get("/{job}/events", **openapi.JOB_OPERATIONS["events"])
    async def events(request: Request, job: str) -> Response:
        key = Key("jobs", owner_of(request.scope), job)
        last = _last_event(request.headers.get("last-event-id"))
        await runs.find(key)  # an unknown job is a problem, not an empty stream
        return StreamingResponse(
            events_of(key, last), media_type="text/event-stream", headers=_HEADERS
        )

    @routes.delete("/{job}", **openapi.JOB_OPERATIONS["remove"])
    async def remove(request: Request, job: str) -> Response:
        exchange = Exchange(request.scope, dependencies.settings, "jobs.remove")
        await capacity.enter()
        try:
            await runs.cancel(Key("jobs", exchange.request.owner, job))
        finally:
            capacity.leave()
        exchange.outcome.status = 204
        return Reply(exchange, b"")

    return routes


def _event(number: int, name: str, text: str) -> bytes:
    """One event. Source: WHATWG HTML, 9.2 Server-sent events."""
    return f"id: {number}\nevent: {name}\ndata: {text}\n\n".encode()


def _last_event(given: str | None) -> int:
    """The number in ``Last-Event-ID``, 0 without one: numbers begin at 1.

    Raises: ``RequestError`` (invalid_request).
    """
    if not given:
        return 0
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        detail = "the header Last-Event-ID must be the id of an event, a number"
        raise RequestError("invalid_request", detail)
    return int(given)
