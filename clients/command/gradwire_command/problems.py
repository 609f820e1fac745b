"""Errors as people and scripts read them, and the exit code of each kind.

The table of ``docs/reference/command.md`` lists the codes.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, ClassVar

import click
import gradwire

from gradwire_command.exit_codes import ExitCode

if TYPE_CHECKING:
    from gradwire.errors import GradwireError


#: By the name of the error's class, else of its nearest base: ``gradwire.errors`` is imported
#: once there is an error.
EXIT_CODES: Mapping[str, ExitCode] = {
    "GradwireError": ExitCode.WRONG,
    "UsageError": ExitCode.USAGE,
    "BadRequest": ExitCode.USAGE,
    "InvalidRequest": ExitCode.USAGE,
    "Unprocessable": ExitCode.PROGRAM,
    "NotTraceable": ExitCode.PROGRAM,
    "MalformedTensor": ExitCode.VALUES,
    "ShapeMismatch": ExitCode.VALUES,
    "DtypeMismatch": ExitCode.VALUES,
    "DomainError": ExitCode.VALUES,
    "TransportError": ExitCode.UNAVAILABLE,
    "MalformedReply": ExitCode.UNAVAILABLE,
    "MethodNotAllowed": ExitCode.UNAVAILABLE,
    "Unavailable": ExitCode.UNAVAILABLE,
    "Unauthenticated": ExitCode.AUTHENTICATION,
    "Forbidden": ExitCode.AUTHENTICATION,
    "TooLarge": ExitCode.LIMITS,
    "TargetTooLong": ExitCode.LIMITS,
    "HeadersTooLarge": ExitCode.LIMITS,
    "RateLimited": ExitCode.LIMITS,
    "RequestTimeout": ExitCode.TIME,
    "TooSlow": ExitCode.TIME,
    "DeadlineExceeded": ExitCode.TIME,
    "NotFound": ExitCode.NOT_FOUND,
    "Conflict": ExitCode.NOT_FOUND,
    "IdempotencyConflict": ExitCode.USAGE,
    "JobCancelled": ExitCode.WRONG,
    "APIError": ExitCode.SERVICE,
    "NotInstalled": ExitCode.NOT_INSTALLED,
}

#: Where a word begins in the name of a class.
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")

#: Hints that say more in a shell than those of the SDK.
HINTS: Mapping[str, str] = {
    "unauthenticated": "set GRADWIRE_API_KEY, or give --key",
    "deadline_exceeded": "--timeout SECONDS allows more, up to the limit of gradwire limits",
}


class InputProblem(click.ClickException):
    """Something that was given cannot be used; the excerpt shows where."""

    exit_code: ClassVar[int] = ExitCode.USAGE

    def __init__(self, message: str, *, hint: str = "", excerpt: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.hint: str = hint
        self.excerpt: Sequence[str] = excerpt

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the problem to standard error."""
        _print(self.message, self.excerpt, self.hint)


class UnreadableProgram(InputProblem):
    """A program that cannot be read."""

    exit_code: ClassVar[int] = ExitCode.PROGRAM


class UnreadableValues(InputProblem):
    """Values that cannot be read."""

    exit_code: ClassVar[int] = ExitCode.VALUES


class NothingFound(InputProblem):
    """A name that the service does not know."""

    exit_code: ClassVar[int] = ExitCode.NOT_FOUND


class MissingLibrary(InputProblem):
    """A kind of file whose library is not installed."""

    exit_code: ClassVar[int] = ExitCode.NOT_INSTALLED


@contextmanager
def of_values() -> Iterator[None]:
    """Make wrong arguments of the SDK values that cannot be read: they came from a user's."""
    try:
        yield
    except gradwire.UsageError as error:
        raise UnreadableValues(error.problem, hint=error.hint) from error


def exit_code_of(error: GradwireError) -> ExitCode:
    """The exit code of an error of the SDK."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next(EXIT_CODES[name] for name in names if name in EXIT_CODES)


def show(error: GradwireError) -> None:
    """Print an error of the SDK to standard error."""
    from gradwire.errors import APIError

    if not isinstance(error, APIError):
        _print(getattr(error, "problem", f"{error}"), (), getattr(error, "hint", ""))
        return
    title = error.problem.get("title")
    told = f"{title}: {error.detail}" if title and title != error.detail else error.detail
    excerpt = error.node.excerpt(error.source) if error.node else ()
    hint = HINTS.get(error.code or "", error.hint or "")
    _print(told, [*excerpt, *_further(error.problem)], hint, _origin(error))


def as_json(error: GradwireError | click.ClickException) -> str:
    """The same for scripts: the problem document of the service, or one like it."""
    told: dict[str, Any] = {}
    problem = getattr(error, "problem", None)
    if isinstance(problem, Mapping):
        told |= {**problem, "request_id": getattr(error, "request_id", None)}
    told.setdefault("code", _WORD.sub("_", type(error).__name__).lower())
    message = error.message if isinstance(error, click.ClickException) else f"{error}"
    told.setdefault("detail", problem if isinstance(problem, str) else message)
    told.setdefault("hint", getattr(error, "hint", None) or None)
    code = error.exit_code if isinstance(error, click.ClickException) else exit_code_of(error)
    told["exit_code"] = int(code)
    return json.dumps({name: part for name, part in told.items() if part is not None})


def _further(problem: Mapping[str, Any]) -> Iterator[str]:
    """The lines that only some problems have: the references that are missing."""
    missing = problem.get("missing")
    if missing:
        yield f"  missing: {', '.join(map(str, missing))}"


def _origin(error: Any) -> str:
    parts = [error.code, f"status {error.status}"]
    parts += [f"at {error.pointer}"] if error.pointer else []
    parts += [f"request {error.request_id}"] if error.request_id else []
    return ", ".join(filter(None, parts))


def _print(message: str, excerpt: Sequence[str], hint: str, origin: str = "") -> None:
    lines = [click.style("error:", fg="red", bold=True) + f" {message}", *excerpt]
    lines += [f"  {click.style('hint:', fg='cyan')} {hint}"] if hint else []
    lines += [click.style(f"  ({origin})", dim=True)] if origin else []
    color = False if os.environ.get("NO_COLOR") else None
    click.echo("\n".join(lines), file=sys.stderr, color=color)
