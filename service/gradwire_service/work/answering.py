"""One task answered, wherever that is."""

from __future__ import annotations

from collections.abc import Callable

from gradwire_service.problems import problem_of
from gradwire_service.settings import Settings
from gradwire_service.telemetry import stack_of
from gradwire_service.wire.shared import Body, packed, unpacked
from gradwire_service.work.messages import Done, Failed, Task
from gradwire_service.work.request import Outcome, Request
from gradwire_service.work.tasks import Tasks, offer_of


def answered(
    task: Task, tasks: Tasks, settings: Settings, learned: Callable[[float], None]
) -> Done | Failed:
    """Do a task; ``learned`` is told how long it may take, once its body has said so."""
    outcome = Outcome()
    try:
        request = Request(task.headers, task.owner, settings, offer_of(task.name))
        outcome = request.outcome
        request.deadline = task.deadline
        request.learned = learned
        request.body = unpacked(task.body)
        pieces: list[Body] = tasks.run(task.name, request, task.arguments)
        return Done(packed(pieces), outcome)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        problem = problem_of(error)
        trace = (
            None if problem.expected else stack_of(error, messages=settings.log_level == "debug")
        )
        return Failed(problem, trace, outcome)
