"""Optimisations, from the bytes of a request to those of its answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter

import orjson
from gradwire_solvers import (
    Checkpoint,
    Clock,
    LocalProblem,
    Objective,
    Progress,
    SolveKind,
    solve,
)

from gradwire_service.cluster.cluster import Cluster, Question
from gradwire_service.cluster.objective import ClusterObjective
from gradwire_service.engines import Engines
from gradwire_service.problems import RequestError
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling.placement import Device, is_faster_moved
from gradwire_service.store import Unavailable
from gradwire_service.tasks.request import PARSE, REPLAY, Listener, ProgressMessage, Request
from gradwire_service.wire.chunked import has_chunked
from gradwire_service.wire.references import References
from gradwire_service.wire.shared import Body
from gradwire_service.wire.solving import SolveEnvelope, read_solve, solved

#: The least seconds between two reports of progress, and between two checkpoints.
PROGRESS_SECONDS, CHECKPOINT_SECONDS = 0.1, 2.0
#: Time on the CPU before a run may move to a GPU: about as long as opening that takes, so that no
#: run takes much more than twice the time of the better choice.
MOVING_SECONDS = 1.0


class Moved(Exception):
    """The run goes on elsewhere, from its checkpoint."""


class SolveHandlers:
    """Handlers of optimisations, which report their progress while they run."""

    def __init__(self, engines: Engines, resolver: ReferenceResolver, cluster: Cluster) -> None:
        self._engines = engines
        self._resolver = resolver
        self._cluster = cluster

    def solve(self, kind: SolveKind, request: Request) -> list[Body]:
        """Run an optimisation, from the request's checkpoint if it has one."""
        document = request.document
        with request.phase(PARSE):
            references = self._resolver.references(request)
            envelope = read_solve(document, kind, references)
            objective = self._objective(envelope, request)
        # A run that is exact stays where it began, so that it is known to compute as it began.
        device = None if envelope.exact else request.device
        moves = partial(_moves, objective, device)
        sender = ProgressSender(
            request.on_progress, references, perf_counter, moves, exact=envelope.exact
        )
        resume = Checkpoint.read(request.checkpoint) if request.checkpoint else None
        try:
            with request.phase(REPLAY):
                solution = solve(
                    objective,
                    envelope.specification,
                    clock=perf_counter,
                    resume=resume,
                    report=sender.report,
                    poll=request.deadline,
                )
                sender.finish()
        except Moved:
            request.outcome.moves = True
            return []
        finally:
            if isinstance(objective, ClusterObjective):
                objective.close()
        assert request.outcome.program is not None
        return request.encode(solved(request.outcome.program, solution), envelope.encoding)

    def _objective(self, envelope: SolveEnvelope, request: Request) -> Objective:
        """The objective, evaluated by the owner's engine in this process, or on the cluster."""
        engine, poll = self._engines.of(request.owner), request.deadline
        program = engine.parse(envelope.program, poll)
        request.outcome.program = program.id
        asked = program, envelope.variables, envelope.sources, envelope.target
        of_residuals = envelope.specification.kind == "least_squares"
        if has_chunked(envelope.variables):
            if envelope.exact:
                raise RequestError(
                    "invalid_request",
                    "data of a cluster have no exact runs: how their sums are divided depends on "
                    "its workers",
                    pointer="/exact",
                    hint="leave it out, or send the data as values",
                )
            question = Question(*asked, envelope.promotion, of_residuals)
            self._cluster.connect(poll)
            request.outcome.on_cluster = True
            return self._cluster.objective(question, request.owner, poll)
        return LocalProblem(
            engine,
            *asked,
            of_residuals=of_residuals,
            promotion=envelope.promotion,
            exact=envelope.exact,
            poll=poll,
        )


class ProgressSender:
    """Sends some of the progress: not more often than is read, and checkpoints less often.

    With each checkpoint, what the request refers to is used again: a job that goes on from there
    needs it. ``moves`` says whether the run would be faster elsewhere.
    """

    def __init__(
        self,
        listener: Listener,
        references: References,
        clock: Clock,
        moves: Callable[[], bool] = lambda: False,
        *,
        exact: bool = False,
    ) -> None:
        self._listener, self._references, self._clock = listener, references, clock
        self._moves, self._exact = moves, exact
        self._sent, self._kept = -inf, clock()
        self._moves_from = self._kept + MOVING_SECONDS
        self._waiting: Progress | None = None

    def report(self, progress: Progress, checkpoint: Callable[[], Checkpoint]) -> None:
        """Send this progress if the last was long enough ago.

        Raises: ``Moved``, when a checkpoint is sent.
        """
        now = self._clock()
        if now >= self._moves_from and self._moves():
            self._send(progress, bytes(checkpoint()))
            raise Moved
        if now - self._sent < PROGRESS_SECONDS:
            self._waiting = progress
            return
        kept = None
        if now - self._kept >= CHECKPOINT_SECONDS:
            kept, self._kept = bytes(checkpoint()), now
            with suppress(Unavailable):
                self._references.use_again()
        self._send(progress, kept)
        self._sent = now

    def finish(self) -> None:
        """Send the last progress, if that is still to be sent."""
        if self._waiting is not None:
            self._send(self._waiting, None)

    def _send(self, progress: Progress, checkpoint: bytes | None) -> None:
        self._waiting = None
        text = orjson.dumps(progress._asdict()).decode()
        self._listener(ProgressMessage(text, checkpoint, self._exact))


def _moves(objective: Objective, device: Device | None) -> bool:
    """True if an objective that is evaluated in this process would be faster on the GPU."""
    if device is None or not isinstance(objective, LocalProblem):
        return False
    return is_faster_moved(objective.work, device)
