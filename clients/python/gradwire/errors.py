"""Every error the SDK raises: a class for each code of the service's, and one for each status.

    GradwireError
    ├── TransportError                no answer: not reached, or the connection was lost
    │   └── RequestTimeout                no answer in the time that the client allows
    ├── UsageError                    the SDK was called with what it cannot take
    ├── NotTraceable                  a Python function does what cannot be recorded
    ├── NotInstalled                  a library is missing that something optional needs
    ├── MalformedReply                an answer that is not the service's
    └── APIError                      the service refused; see ``status`` and ``code``
        ├── BadRequest            400
        │   ├── MalformedRequest
        │   ├── MalformedBody
        │   └── MalformedTensor
        ├── Unauthenticated       401
        ├── Forbidden             403
        ├── NotFound              404
        │   ├── UnknownRef
        │   └── UnknownTape
        ├── MethodNotAllowed      405
        ├── NotAcceptable         406
        ├── TooSlow               408
        ├── Conflict              409
        │   └── TapeConsumed
        ├── TooLarge              413
        │   ├── BodyTooLarge
        │   └── OverBudget
        ├── TargetTooLong         414
        ├── UnsupportedMediaType  415
        ├── ExpectationFailed     417
        ├── Unprocessable         422
        │   ├── ProgramSyntaxError
        │   ├── UnknownOperation
        │   ├── UnknownName
        │   ├── InvalidProgram
        │   ├── BadArgument
        │   ├── ShapeMismatch
        │   ├── DtypeMismatch
        │   ├── NotDifferentiable
        │   ├── DomainError
        │   ├── CrashingProgram
        │   └── InvalidRequest
        ├── RateLimited           429
        ├── HeadersTooLarge       431
        └── ServerError           5xx
            ├── WorkerCrashed         500
            ├── Unavailable           503
            │   ├── Overloaded
            │   ├── StoreUnavailable
            │   └── Draining
            └── DeadlineExceeded      504

What a function of the user's own raises while it is recorded is no error of the SDK's, and leaves
as it is. Errors that Python's own code may catch by the classes that Python has for them are of
these classes, too: a ``UsageError`` is a ``TypeError`` and a ``ValueError``.

A code that this version does not know falls back to the class of its status, and a status that
it does not know to ``APIError`` or ``ServerError``: catching a status class is always safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import httpx

from gradwire.locations import Node


class GradwireError(Exception):
    """The base of every error that the SDK raises on purpose."""


class TransportError(GradwireError, ConnectionError):
    """The service was not reached, or the connection was lost before it had answered."""


class RequestTimeout(TransportError, TimeoutError):
    """The service did not answer within the client's ``timeout``."""


class _Advised(GradwireError):
    """An error of the SDK's own making.

    ``problem`` is what is wrong, ``place`` the line of the user's code where one is known,
    ``hint`` what to do.
    """

    def __init__(self, problem: str, *, place: object | None = None, hint: str = "") -> None:
        self.problem = problem
        self.place = place
        self.hint = hint
        at = "" if place is None else f"\n  at {place}"
        super().__init__(f"{problem}{at}" + (f"\n  hint: {hint}" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return _advised, (type(self), self.problem, self.place, self.hint)


class UsageError(_Advised, TypeError, ValueError):
    """The SDK was called with what it cannot take: a value of the wrong kind, or out of range."""


class NotTraceable(_Advised, TypeError):
    """A traced function does something that cannot be part of a program."""


class NotInstalled(GradwireError, ModuleNotFoundError):
    """A library is missing; the message says which extra of ``gradwire`` brings it."""


class MalformedReply(GradwireError):
    """The answer is not one of the service's: ``base_url`` may lead to something else."""


class APIError(GradwireError):
    """The service answered with a problem document (RFC 9457).

    ``str(error)`` is for people: what is wrong, the line of source text with a caret, the hint.
    ``problem`` is the whole document; members that only some codes have are found there.
    """

    _by_status: ClassVar[dict[int, type[APIError]]] = {}
    _by_code: ClassVar[dict[str, type[APIError]]] = {}

    def __init_subclass__(cls, *, status: int | None = None, code: str | None = None) -> None:
        if status is not None:
            APIError._by_status[status] = cls
        if code is not None:
            APIError._by_code[code] = cls

    def __init__(
        self,
        detail: str,
        *,
        status: int,
        code: str | None = None,
        hint: str | None = None,
        pointer: str | None = None,
        node: Node | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        problem: Mapping[str, Any] | None = None,
        source: str | None = None,
        raw: httpx.Response | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.code = code
        self.hint = hint
        self.pointer = pointer
        self.node = node
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.problem: dict[str, Any] = dict(problem or {})
        self.source = source
        #: The response as it came.
        self.raw = raw

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.detail, self.status, self.__dict__)

    def __str__(self) -> str:
        origin = [self.code, str(self.status)]
        if self.pointer is not None:
            origin.append(f"at {self.pointer}")
        if self.request_id is not None:
            origin.append(f"request {self.request_id}")
        lines = [self.detail]
        if self.node is not None:
            lines.extend(self.node.excerpt(self.source))
        if self.hint:
            lines.append(f"hint: {self.hint}")
        lines.append(f"({', '.join(part for part in origin if part)})")
        return "\n".join(lines)


def _advised(cls: type[_Advised], problem: str, place: object | None, hint: str) -> _Advised:
    return cls(problem, place=place, hint=hint)


def _restore(
    cls: type[APIError], detail: str, status: int, state: dict[str, Any]
) -> APIError:  # keyword-only arguments are beyond what an exception pickles by itself
    error = cls(detail, status=status)
    error.__dict__.update(state)
    return error


class BadRequest(APIError, status=400):
    """The request could not be read."""


class MalformedRequest(BadRequest, code="malformed_request"):
    """What was sent is not HTTP that can be relied on; something between may have changed it."""


class MalformedBody(BadRequest, code="malformed_body"):
    """The body is not a document of its media type."""


class MalformedTensor(BadRequest, code="malformed_tensor"):
    """A variable is no array: ragged lists, the wrong number of bytes, an unknown dtype."""


class Unauthenticated(APIError, status=401, code="unauthenticated"):
    """No API key was sent, or one that the service does not know."""


class Forbidden(APIError, status=403, code="forbidden"):
    """The API key does not allow this."""


class NotFound(APIError, status=404, code="not_found"):
    """There is nothing at this address."""


class UnknownRef(NotFound, code="unknown_ref"):
    """Tensors or programs that were referred to are not stored; ``missing`` says which."""

    @property
    def missing(self) -> list[str]:
        """The references to store before the request is repeated."""
        return list(self.problem.get("missing", ()))


class UnknownTape(NotFound, code="unknown_tape"):
    """The tape has expired, was deleted, or never was."""


class MethodNotAllowed(APIError, status=405, code="method_not_allowed"):
    """The address does not take this method; ``base_url`` may be wrong."""


class NotAcceptable(APIError, status=406, code="not_acceptable"):
    """The service has no encoding that the client accepts."""


class TooSlow(APIError, status=408, code="request_timeout"):
    """The request did not arrive in the time that the service waits for it."""


class Conflict(APIError, status=409):
    """The resource is in a state that does not allow this."""


class TapeConsumed(Conflict, code="tape_consumed"):
    """A tape that is not persistent has already given its gradient."""


class TooLarge(APIError, status=413):
    """The request asks for more than the service allows."""


class BodyTooLarge(TooLarge, code="body_too_large"):
    """The body has too many bytes."""


class OverBudget(TooLarge, code="over_budget"):
    """The predicted bytes or operations exceed the budget; nothing was computed."""


class TargetTooLong(APIError, status=414, code="target_too_long"):
    """The path and its query are longer than the service reads."""


class UnsupportedMediaType(APIError, status=415, code="unsupported_media_type"):
    """The service does not read bodies of this type."""


class ExpectationFailed(APIError, status=417, code="expectation_failed"):
    """The header ``Expect`` asks for what the service does not do."""


class Unprocessable(APIError, status=422):
    """The request was read, and makes no sense."""


class ProgramSyntaxError(Unprocessable, code="syntax_error"):
    """The source text is not in the language."""


class UnknownOperation(Unprocessable, code="unknown_op"):
    """No operation has that name."""


class UnknownName(Unprocessable, code="unknown_name"):
    """No variable or intermediate has that name."""


class InvalidProgram(Unprocessable, code="invalid_program"):
    """The program is well formed but means nothing: a cycle, a duplicate id."""


class BadArgument(Unprocessable, code="bad_argument"):
    """An operation cannot take what it was given."""


class ShapeMismatch(Unprocessable, code="shape_mismatch"):
    """Operand shapes do not fit together."""


class DtypeMismatch(Unprocessable, code="dtype_mismatch"):
    """Operand dtypes do not fit together."""


class NotDifferentiable(Unprocessable, code="not_differentiable"):
    """A derivative was asked for where none can be defined."""


class DomainError(Unprocessable, code="domain_error"):
    """The operation has no result for these values, as the inverse of a singular matrix."""


class CrashingProgram(Unprocessable, code="crashing_program"):
    """The program has crashed too often; ``retry_after_seconds`` says until when it is refused."""


class InvalidRequest(Unprocessable, code="invalid_request"):
    """A field of the request is missing, unknown, or of the wrong kind; see ``pointer``."""


class RateLimited(APIError, status=429, code="rate_limited"):
    """Too many requests; ``retry_after_seconds`` says when to come back."""


class HeadersTooLarge(APIError, status=431, code="headers_too_large"):
    """The headers are more, or larger, than the service reads."""


class ServerError(APIError, status=500, code="internal_error"):
    """The service failed: its bug, not the request's."""


class WorkerCrashed(ServerError, code="worker_crashed"):
    """The process that computed the request ended; the service goes on without it."""


class Unavailable(ServerError, status=503):
    """No replica can take the request now."""


class Overloaded(Unavailable, code="overloaded"):
    """The queue is full; ``retry_after_seconds`` says when to come back."""


class StoreUnavailable(Unavailable, code="store_unavailable"):
    """What the service keeps between requests cannot be had now; what brings all it needs can."""


class Draining(Unavailable, code="draining"):
    """This replica is shutting down; another one will answer."""


class DeadlineExceeded(ServerError, status=504, code="deadline_exceeded"):
    """The work was not done in the time that the service, or ``timeout_ms``, allows."""


def error_class(status: int, code: str | None) -> type[APIError]:
    """The most precise class there is for a code, else for its status."""
    by_code = APIError._by_code.get(code or "")
    by_status = APIError._by_status.get(status)
    return by_code or by_status or (ServerError if status >= 500 else APIError)
