"""``/v1/jobs``: optimisations that take longer than an answer may."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from time import monotonic

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from gradwire_service.dependencies import Dependencies
from gradwire_service.jobs.feeds import pause
from gradwire_service.jobs.handlers import document_of
from gradwire_service.jobs.runs import Runs
from gradwire_service.openapi.jobs import JobDocument, JobPage
from gradwire_service.openapi.operations import PAGE, STREAM, resource_operation
from gradwire_service.problems import RequestError
from gradwire_service.routes.exchange import Exchange, Reply, owner_of, tenant_of
from gradwire_service.routes.offload import Offloader
from gradwire_service.routes.task_routes import TaskRoute, page_of
from gradwire_service.scheduling import Capacity
from gradwire_service.settings import Settings
from gradwire_service.store import Key

#: Time between comments that keep a connection open, and between looks whether the replica stops.
_COMMENT_SECONDS, _DRAIN_SECONDS = 15.0, 1.0
#: The part of all connections on which a tenant may wait for events.
_PART = 8
#: nginx would hold events back.
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class Events:
    """The events of jobs: any replica sends them, on a part of its connections to one tenant."""

    def __init__(
        self,
        runs: Runs,
        capacity: Capacity,
        settings: Settings,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._runs = runs
        self._capacity = capacity
        self._most = max(settings.max_connections // _PART, 1)
        self._clock = clock
        self._open = Counter[str]()

    def check(self, tenant: str) -> None:
        """Raises: ``RequestError`` (rate_limited) if a tenant has as many streams as it may."""
        if self._open[tenant] >= self._most:
            raise RequestError(
                "rate_limited",
                f"{self._most} streams of events are open, the most of one client",
                hint="close those that nobody reads; GET /v1/jobs has the states of all jobs",
                retry_after_seconds=1,
            )

    async def of(self, key: Key, last: int, tenant: str) -> AsyncIterator[bytes]:
        """The same as ``_of``, counted."""
        self._open[tenant] += 1
        try:
            async for event in self._of(key, last):
                yield event
        finally:
            self._open[tenant] -= 1
            if not self._open[tenant]:
                del self._open[tenant]

    async def _of(self, key: Key, last: int) -> AsyncIterator[bytes]:
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


ROUTES = (
    TaskRoute(
        "GET",
        "/v1/jobs",
        "jobs.all",
        resource_operation(
            "list_jobs",
            "List this tenant's jobs",
            "In pages, by their ids, without results.",
            response=JobPage,
            parameters=PAGE,
        ),
        page_of,
    ),
)
_SHOW = resource_operation(
    "show_job",
    "Show a job",
    "Its state and progress; its result, or its problem, once it has ended.",
    response=JobDocument,
)
#: Each server-sent event. Generators of clients read all of them as text, whatever a schema says.
_EVENT = {"description": "With `id`, `event` (`progress` or `done`) and `data`, which is JSON."}
_FOLLOW = resource_operation(
    "follow_job",
    "Follow a job",
    "Server-sent events: `progress`, and in the end `done` with the job without its "
    "result. With `Last-Event-ID` only later ones; the latest 256 are stored.",
    responses={200: {"description": "The events.", "content": {STREAM: {"schema": _EVENT}}}},
    parameters=[
        {
            "name": "Last-Event-ID",
            "in": "header",
            "schema": {"type": "integer", "minimum": 0},
            "description": "The id of the last event that is known.",
        }
    ],
)
_REMOVE = resource_operation(
    "remove_job",
    "Cancel or remove a job",
    "One that runs or waits is cancelled, and can still be shown; one that has ended is "
    "removed with its result.",
    status=204,
)


def router(dependencies: Dependencies, offloader: Offloader, runs: Runs) -> APIRouter:
    """The routes of one job."""
    routes = APIRouter(prefix="/v1/jobs", tags=["jobs"])
    capacity = dependencies.capacity
    streams = Events(runs, capacity, dependencies.settings, dependencies.clock)

    @routes.get("/{job}", **_SHOW)
    async def show(request: Request, job: str) -> Response:
        reply = await offloader.answer(request, "jobs.show", job)
        await runs.take(Key("jobs", owner_of(request.scope), job))
        return reply

    @routes.get("/{job}/events", **_FOLLOW)
    async def events(request: Request, job: str) -> Response:
        key = Key("jobs", owner_of(request.scope), job)
        last = _last_event(request.headers.get("last-event-id"))
        await runs.find(key)  # an unknown job is a problem, not an empty stream
        tenant = tenant_of(request.scope)
        streams.check(tenant)
        return StreamingResponse(streams.of(key, last, tenant), media_type=STREAM, headers=_HEADERS)

    @routes.delete("/{job}", **_REMOVE)
    async def remove(request: Request, job: str) -> Response:
        exchange = Exchange(request.scope, dependencies.settings, "jobs.remove")
        cancelling = runs.cancel(Key("jobs", exchange.request.owner, job))
        await capacity.serve(cancelling)
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
    if given is None:
        return 0
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        detail = "the header Last-Event-ID must be the id of an event, a number"
        raise RequestError("invalid_request", detail)
    return int(given)
