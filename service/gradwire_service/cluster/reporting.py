"""Errors of tasks, as problems: the classes of other libraries' errors may not cross processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from gradwire_service.problems import RemoteError, problem_of
from gradwire_service.telemetry import stack_of

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class Abandoned(Exception):
    """The scheduler does not want a task's result any more."""


def reported(task: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """The task with all errors as ``RemoteError``, without causes, which might not pickle."""

    @wraps(task)
    def run(*args: Arguments.args, **options: Arguments.kwargs) -> Value:
        try:
            return task(*args, **options)
        except Abandoned:
            raise
        except Exception as error:  # noqa: BLE001 - every error is reported
            problem = problem_of(error)
            trace = None if problem.expected else stack_of(error, messages=False)
        raise RemoteError(problem, trace)

    return run
