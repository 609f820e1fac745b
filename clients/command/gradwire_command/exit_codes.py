"""The exit codes of the command; the table of ``docs/reference/command.md`` describes them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the command."""

    DONE = 0
    #: ``gradwire check`` found a gradient that is wrong, or an optimisation ended without success
    #: or was cancelled; or a bug of the command.
    WRONG = 1
    USAGE = 2
    PROGRAM = 3
    VALUES = 4
    UNAVAILABLE = 5
    AUTHENTICATION = 6
    LIMITS = 7
    TIME = 8
    NOT_FOUND = 9
    SERVICE = 10
    NOT_INSTALLED = 11
    #: As a shell says it of programs that end by SIGINT and SIGPIPE.
    INTERRUPTED = 130
    CLOSED_PIPE = 141
