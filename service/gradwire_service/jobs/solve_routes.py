"""``POST /v1/minimize``, ``/v1/least_squares`` and ``/v1/root``: short runs, or jobs."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from fastapi import APIRouter, Request
from gradwire_solvers import SolveKind
from starlette.responses import Response
from starlette.types import Receive

from gradwire_service.dependencies import Dependencies
from gradwire_service.jobs import Cancelled, StoredJob
from gradwire_service.jobs.feeds import pause
from gradwire_service.jobs.handlers import document_of
from gradwire_service.jobs.run import Run
from gradwire_service.jobs.runs import Runs
from gradwire_service.openapi.jobs import JobDocument
from gradwire_service.openapi.operations import computation, content, problems
from gradwire_service.openapi.solving import SOLVE_REQUESTS, SOLVE_RESPONSES
from gradwire_service.problems import ProblemDetails, RemoteError, RequestError
from gradwire_service.routes.exchange import Exchange, Reply
from gradwire_service.routes.offload import Offloader
from gradwire_service.tasks.messages import Task, TaskDone, TaskFailed
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.digests import SMALL_BYTES, digest_of
from gradwire_service.wire.envelope import timeout_of_header
from gradwire_service.wire.peek import MAX_SCANNED_BYTES, waiting_of
from gradwire_service.wire.shared import SharedMemory, to_bytes
from gradwire_service.wire.solving import read_waiting

#: The headers of a request that its answer depends on, now or later.
_HEADERS = b"content-type", b"content-encoding", b"accept"


class Solving:
    """Answers requests for optimisations: with their results, or with jobs."""

    def __init__(self, dependencies: Dependencies, offloader: Offloader, runs: Runs) -> None:
        self._capacity = dependencies.capacity
        self._settings = dependencies.settings
        self._clock = dependencies.clock
        self._offloader = offloader
        self._runs = runs

    async def answer(self, request: Request, kind: SolveKind) -> Response:
        """The result if it is there in time, else the job."""
        exchange = Exchange(request.scope, self._settings, kind)
        return await self._capacity.serve(self._answer(exchange, request.receive))

    async def _answer(self, exchange: Exchange, receive: Receive) -> Response:
        await exchange.receive(receive)
        background, wait_seconds = await self._waiting(exchange)
        headers = exchange.request.headers
        preferences = headers.get(b"prefer", b"").lower().split(b",")
        prefers_job = b"respond-async" in map(bytes.strip, preferences)
        idempotency_key = headers.get(b"idempotency-key") or None
        asks_for_job = background or prefers_job
        stored = asks_for_job or idempotency_key is not None
        digest = "" if idempotency_key is None else await self._digest(exchange)
        run = await self._runs.begin(
            _task(exchange), idempotency_key, digest, stored=stored, again=not background
        )
        if not isinstance(run, Run):
            if background or (prefers_job and not run.job.failed_early):
                return _response(exchange, run)
            return await self._follow(exchange, run, wait_seconds)
        if not background:
            await self._wait(exchange, run, wait_seconds, until_begun=prefers_job)
        if not run.answer.done():
            try:
                await run.persist()
            except RequestError:  # nobody could ask for the result
                run.stop(Cancelled())
                raise
        if run.answer.done():  # then a repeated request, or a further one, finds the end
            await run.end_stored()
        over = run.answer.done() and not run.is_resumable
        ended = over and not isinstance(run.answer.exception(), Cancelled)
        found = run.answer.result() if ended and not background else None
        if found is not None and not (prefers_job and isinstance(found, TaskDone)):
            return self._result(exchange, run)
        return _response(exchange, await self._runs.find(run.key))

    async def _digest(self, exchange: Exchange) -> str:
        """The digest of a request: of a long one by an executor, so that the event loop goes on.

        Raises: ``RemoteError``, ``RequestError``, ``Disconnected``.
        """
        request, body = exchange.request, exchange.body
        if len(body) <= SMALL_BYTES and request.format.coding is None:
            assert not isinstance(body, SharedMemory)
            form, kind = request.format, exchange.task().name
            return digest_of(kind, form.reply_type.decode(), form.reader, body)
        return (await self._looked_up(exchange, "jobs.digest")).decode()

    async def _looked_up(self, exchange: Exchange, what: str) -> bytes | bytearray:
        """The answer of an executor that reads the body of a request."""
        request, task = exchange.request, exchange.task()
        found = await self._capacity.queue.run(
            task._replace(name=what, arguments=(task.name,)),
            request.deadline,
            len(exchange.body),
            tenant=exchange.tenant,
            watch=exchange.watch,
        )
        if isinstance(found.answer, TaskFailed):
            raise RemoteError(found.answer.problem, found.answer.trace)
        return to_bytes(found.answer.body)

    async def _waiting(self, exchange: Exchange) -> tuple[bool, float]:
        """True if a request is a job at once, and the seconds it waits for its result otherwise.

        An executor looks into bodies that are compressed, or too long to be scanned here.
        Raises: ``RemoteError``, ``RequestError``, ``Disconnected``.
        """
        request, settings = exchange.request, self._settings
        if request.format.coding is None and len(exchange.body) <= MAX_SCANNED_BYTES:
            document = waiting_of(exchange.body, request.format.reader)
        else:
            document = orjson.loads(await self._looked_up(exchange, "jobs.waiting"))
        background, wait_ms = read_waiting(document)
        most_ms: list[float] = [settings.job_wait_ms]
        if (given := request.headers.get(b"gradwire-timeout-ms")) is not None:
            most_ms.append(timeout_of_header(given))
        return background, min(wait_ms, *most_ms) / 1000

    async def _wait(
        self, exchange: Exchange, run: Run, seconds: float, *, until_begun: bool
    ) -> None:
        """Wait for the result, or until it is sure that there will be one, as the run has begun.

        Without the client, only a job goes on.
        Raises: ``Disconnected``.
        """
        watching: asyncio.Future[Any] = asyncio.ensure_future(exchange.watch())
        begun: asyncio.Future[Any] = asyncio.ensure_future(run.begun.wait())
        answer: asyncio.Future[Any] = run.answer
        ends = {answer, watching, begun} if until_begun else {answer, watching}
        run.awaited += not until_begun
        try:
            done, _ = await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if watching in done and not answer.done():
                watching.result()
        except (Disconnected, asyncio.CancelledError):
            if not run.stored:
                run.stop(Cancelled())
            raise
        finally:
            run.awaited -= not until_begun
            watching.cancel()
            begun.cancel()

    def _result(self, exchange: Exchange, run: Run) -> Response:
        """The response with a result.

        Raises: the error that ended the run.
        """
        answer = run.answer.result()
        exchange.apply(answer.outcome)
        if isinstance(answer, TaskFailed):
            raise RemoteError(answer.problem, answer.trace)
        self._offloader.count(answer.outcome)
        return Reply(exchange, answer.body)

    async def _follow(self, exchange: Exchange, stored: StoredJob, seconds: float) -> Response:
        """Answer with a job that another request began: its result, if that is there in time.

        Raises: the problem that it has failed with.
        """
        until = self._clock() + seconds
        async with self._runs.following(stored.key) as feed:
            while not (ended := feed.has_ended) and (left := until - self._clock()) > 0:
                await pause(feed.changed, left)
        if ended:
            stored = await self._runs.find(stored.key)
        if (problem := stored.job.problem) is not None:
            raise RemoteError(ProblemDetails.read(problem), None)
        if stored.job.state != "succeeded":
            return _response(exchange, stored)
        exchange.reassign("jobs.answer", stored.key.id)
        reply = Reply(exchange, await self._offloader.offload(exchange))
        await self._runs.take(stored.key)
        return reply


def _operation(kind: SolveKind, summary: str, description: str) -> dict[str, Any]:
    asked = SOLVE_REQUESTS[kind], SOLVE_RESPONSES[kind]
    operation = computation(kind, summary, description + _JOBS, *asked)
    job = {"description": "The job, which goes on.", "content": content(JobDocument)}
    operation["responses"] |= {202: job, **problems(409)}
    return operation


#: What descriptions of optimisations end with.
_JOBS = (
    " If that takes long, or with `background`, the answer is a job; one `Idempotency-Key` gives "
    "one job, however often the request is sent."
)
_OPERATIONS: dict[SolveKind, dict[str, Any]] = {
    "minimize": _operation(
        "minimize",
        "Minimise a program",
        "Vary the sources until the target is least, by one of SciPy's methods or a first-order "
        "one, with exact derivatives.",
    ),
    "least_squares": _operation(
        "least_squares",
        "Least squares",
        "Vary the sources until half the sum of the residuals' squares, or of a robust loss of "
        "them, is least.",
    ),
    "root": _operation(
        "root",
        "Solve equations",
        "Vary the sources until all elements of the target are zero.",
    ),
}


def router(dependencies: Dependencies, offloader: Offloader, runs: Runs) -> APIRouter:
    """The routes of optimisations."""
    routes = APIRouter(prefix="/v1")
    solving = Solving(dependencies, offloader, runs)

    def solves(kind: SolveKind) -> None:
        @routes.post(f"/{kind}", **_OPERATIONS[kind])
        async def answer(request: Request) -> Response:
            return await solving.answer(request, kind)

    for kind in _OPERATIONS:
        solves(kind)
    return routes


def _response(exchange: Exchange, stored: StoredJob) -> Response:
    """The response with a job, which will have the result."""
    request = exchange.request
    request.outcome.status = 202
    request.add((b"location", f"/v1/jobs/{stored.key.id}".encode()))
    return Reply(exchange, b"".join(request.encode(document_of(stored) | {"result": None})))


def _task(exchange: Exchange) -> Task:
    given = exchange.request.headers
    headers = {name: given[name] for name in _HEADERS if name in given}
    return exchange.task()._replace(headers=headers)
