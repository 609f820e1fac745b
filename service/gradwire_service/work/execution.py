"""Runs one task in a worker."""

from __future__ import annotations

from collections.abc import Callable

from gradwire_service.problems import problem_of
from gradwire_service.settings import Settings
from gradwire_service.telemetry import stack_of
from gradwire_service.wire.shared import Body, packed, unpacked
from gradwire_service.work.messages import Task, TaskDone, TaskFailed
from gradwire_service.work.request import Outcome, Request
from gradwire_service.work.tasks import Tasks, offer_of


def execute(
    task: Task, tasks: Tasks, settings: Settings, on_timeout: Callable[[float], None]
) -> TaskDone | TaskFailed:
    """Run a task; ``on_timeout`` receives the timeout in its body."""
    outcome = Outcome()
    try:
        request = Request(task.headers, task.owner, settings, offer_of(task.name))
        outcome = request.outcome
        request.deadline = task.deadline
        request.on_timeout = on_timeout
        request.body = unpacked(task.body)
        pieces: list[Body] = tasks.run(task.name, request, task.arguments)
        return TaskDone(packed(pieces), outcome)
    except Exception as error:  # noqa: BLE001 - every error is reported
        problem = problem_of(error)
        trace = (
            None if problem.expected else stack_of(error, messages=settings.log_level == "debug")
        )
        return TaskFailed(problem, trace, outcome)
