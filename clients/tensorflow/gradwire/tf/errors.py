"""TensorFlow's error classes.

Exception
└── OpError                    an operation could not be computed
    ├── InvalidArgumentError   its arguments are wrong
    ├── OutOfRangeError, UnimplementedError, NotFoundError, …   one for each of its codes
    └── InternalError          the service failed
"""

from __future__ import annotations

from typing import Any


class OpError(Exception):
    """An operation could not be computed."""

    error_code: int = 2

    def __init__(
        self, node_def: Any, op: Any, message: str, error_code: int | None = None, *details: Any
    ) -> None:
        super().__init__(message)
        self.node_def: Any = node_def
        self.op: Any = op
        self.message: str = message
        if error_code is not None:
            self.error_code: int = error_code
        self.experimental_payloads: Any = details[0] if details else {}

    def __str__(self) -> str:
        return self.message


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = 1


class UnknownError(OpError):
    """The error is of no known kind."""

    error_code = 2


class InvalidArgumentError(OpError):
    """An argument is of a wrong dtype, shape or value."""

    error_code = 3


class DeadlineExceededError(OpError):
    """It took too long."""

    error_code = 4


class NotFoundError(OpError):
    """The requested object does not exist."""

    error_code = 5


class AlreadyExistsError(OpError):
    """The object to be made exists already."""

    error_code = 6


class PermissionDeniedError(OpError):
    """It is not allowed."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """It is too large, or there is too much of it."""

    error_code = 8


class FailedPreconditionError(OpError):
    """Something is not in the state that this needs."""

    error_code = 9


class AbortedError(OpError):
    """The operation was aborted."""

    error_code = 10


class OutOfRangeError(OpError):
    """An index is out of range, or a sequence is at its end."""

    error_code = 11


class UnimplementedError(OpError):
    """There is no such operation."""

    error_code = 12


class InternalError(OpError):
    """The service failed."""

    error_code = 13


class UnavailableError(OpError):
    """The service cannot be reached."""

    error_code = 14


class DataLossError(OpError):
    """Stored data are damaged."""

    error_code = 15


class UnauthenticatedError(OpError):
    """The caller is not authenticated."""

    error_code = 16


OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


def invalid(message: str) -> InvalidArgumentError:
    """An error of arguments."""
    return InvalidArgumentError(None, None, message)
