"""Offloads requests to executors, and stops their work when clients disconnect."""

from __future__ import annotations

from time import perf_counter

from starlette.requests import Request as HttpRequest

from gradwire_service.dependencies import Dependencies
from gradwire_service.problems import RemoteError, RequestError, WorkerCrashed
from gradwire_service.routes.exchange import Exchange, Reply
from gradwire_service.routes.quarantine import Quarantine
from gradwire_service.scheduling import GaveWay
from gradwire_service.scheduling.bounds import overloaded
from gradwire_service.tasks.messages import TaskDone, TaskFailed
from gradwire_service.tasks.request import Outcome
from gradwire_service.wire.shared import SharedBody

#: Time after which what gave way twice is worth another try.
_LATER_SECONDS = 10


class Offloader:
    """Runs tasks through the queue."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._capacity = dependencies.capacity
        self._placement = dependencies.placement
        self._metrics = dependencies.metrics
        self._settings = dependencies.settings
        self._quarantine = Quarantine(dependencies.clock)

    async def answer(self, request: HttpRequest, task: str, *arguments: str) -> Reply:
        """Run a task for a request, and return the reply. The home of a tape is its id."""
        exchange = Exchange(request.scope, self._settings, task, arguments)

        async def answer() -> SharedBody:
            await exchange.receive(request.receive)
            on_gpu = task.startswith("tapes.") and self._placement.always_gpu
            return await self.offload(exchange, home=exchange.tape, on_gpu=on_gpu)

        body = await self._capacity.serve(answer())
        self.count(exchange.outcome)
        return Reply(exchange, body)

    async def offload(
        self,
        exchange: Exchange,
        *,
        expected_seconds: float | None = None,
        home: str | None = None,
        on_gpu: bool = False,
        turns: int | None = None,
    ) -> SharedBody:
        """Have an executor answer, as long as the client is connected; returns the body.

        What waits for a GPU whose process ends meanwhile runs on the CPU. What gives way to others
        begins anew: a long computation once, after its first of ``turns``.

        Raises: ``RemoteError``; ``RequestError`` (overloaded, crashing_program), ``WorkerCrashed``;
        ``DeadlineExceeded``; ``Disconnected`` when the client disconnects, which stops the work.
        """
        self._quarantine.check(exchange)
        since = perf_counter()
        queue = self._capacity.gpu if on_gpu and self._capacity.gpu else self._capacity.queue
        request = exchange.request
        try:
            answer, waited_seconds, executor = await queue.run(
                exchange.task(),
                request.deadline,
                len(exchange.body),
                tenant=exchange.tenant,
                expected_seconds=expected_seconds,
                home=home,
                long=turns is not None,
                turns=turns or 0,
                watch=exchange.watch,
            )
        except GaveWay as gave_way:
            if gave_way.turns > 1:
                detail = "the computation gave way to other clients twice"
                raise overloaded(detail, _LATER_SECONDS) from None
            request.begin_anew()
            return await self.offload(exchange, home=home, on_gpu=on_gpu, turns=gave_way.turns)
        except WorkerCrashed:
            self._quarantine.count(exchange)
            raise
        except RequestError as error:
            if error.code != "draining" or queue is self._capacity.queue:
                raise
            return await self.offload(exchange, home=home)
        exchange.stats.add_wait(since, waited_seconds)
        assert isinstance(answer, TaskDone | TaskFailed)
        exchange.apply(answer.outcome)
        if isinstance(answer, TaskFailed):
            raise RemoteError(answer.problem, answer.trace)
        if answer.outcome.home is not None:
            queue.remember(answer.outcome.home, executor)
        return answer.body

    def count(self, outcome: Outcome) -> None:
        """Record the outcome in the metrics."""
        if outcome.kept is not None:
            self._metrics.asked_tape(kept=outcome.kept)
        if outcome.cached is not None:
            self._metrics.computed(outcome.phases, cached=outcome.cached)
            if outcome.on_gpu:
                self._metrics.computed_on_gpu(len(outcome.hosted))
        if outcome.nonfinite:
            self._metrics.nonfinite(outcome.nonfinite)
