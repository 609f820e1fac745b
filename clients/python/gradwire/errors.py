"""The errors of the SDK: a class for each code of the service, and one for each status.

Most programs need eight: ``GradwireError``, the base of all; ``UsageError`` and ``NotTraceable``,
before anything is sent; ``TransportError``, without an answer; ``APIError``, a refusal, of which
``Unprocessable`` is for programs and values, ``DeadlineExceeded`` for time and ``Unavailable`` for
a service that cannot answer now.

    GradwireError
    ├── TransportError                no answer: not reachable, or the connection was lost
    │   └── RequestTimeout                no answer within the client's ``timeout``
    ├── UsageError                    wrong arguments of a function or method of the SDK
    ├── NotTraceable                  a Python function that cannot be recorded
    ├── NotInstalled                  an optional library is missing
    ├── MalformedReply                an answer that is not from a Gradwire service
    └── APIError                      a refusal of the service; see ``status`` and ``code``
        ├── BadRequest            400
        │   ├── MalformedRequest
        │   ├── MalformedBody
        │   └── MalformedTensor
        ├── Unauthenticated       401
        ├── Forbidden             403
        ├── NotFound              404
        │   ├── UnknownJob
        │   ├── UnknownRef
        │   └── UnknownTape
        ├── MethodNotAllowed      405
        ├── NotAcceptable         406
        ├── TooSlow               408
        ├── Conflict              409
        │   ├── IdempotencyConflict
        │   ├── JobCancelled
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
        │   ├── NotASum
        │   ├── DomainError
        │   ├── CrashingProgram
        │   └── InvalidRequest
        ├── RateLimited           429
        ├── HeadersTooLarge       431
        └── ServerError           5xx
            ├── WorkerCrashed         500
            ├── Unavailable           503
            │   ├── ClusterUnavailable
            │   ├── Overloaded
            │   ├── StoreUnavailable
            │   ├── OutOfGpuMemory
            │   ├── Starting
            │   └── Draining
            └── DeadlineExceeded      504

Errors that a user's own function raises while it is recorded pass through unchanged. Errors for
which Python has a class are of that class, too: a ``UsageError`` is a ``TypeError`` and a
``ValueError``.

Unknown codes fall back to the class of their status, and unknown statuses to ``APIError`` or
``ServerError``: catching a status class is always safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import httpx

from gradwire.locations import Node


class GradwireError(Exception):
    """The base of all errors of the SDK."""

    #: What to do, as far as that is known.
    hint: str | None = None


class _Advised(GradwireError):
    """An error of the SDK itself: the ``problem``, its ``place`` in the user's code if that is
    known, and a ``hint`` at what to do.
    """

    def __init__(self, problem: str, *, place: object | None = None, hint: str = "") -> None:
        self.problem = problem
        self.place = place
        self.hint: str = hint
        at = "" if place is None else f"\n  at {place}"
        super().__init__(f"{problem}{at}" + (f"\n  hint: {hint}" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.problem, place=self.place, hint=self.hint), ()


class TransportError(_Advised, ConnectionError):
    """The service could not be reached, or the connection was lost before the answer."""


class RequestTimeout(TransportError, TimeoutError):
    """The service did not answer within the client's ``timeout``."""


class UsageError(_Advised, TypeError, ValueError):
    """An argument is of the wrong kind, or out of range."""


class NotTraceable(_Advised, TypeError):
    """A recorded function does something that cannot be part of a program."""


class NotInstalled(_Advised, ModuleNotFoundError):
    """A library or a part of the SDK is missing; the hint says how to install it."""

    def __init__(self, problem: str, *, hint: str, name: str | None = None) -> None:
        super().__init__(problem, hint=hint)
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.problem, hint=self.hint, name=self.name), ()


class MalformedReply(_Advised):
    """The answer is not from a Gradwire service: ``base_url`` may be wrong."""


class APIError(GradwireError):
    """The service answered with a problem document (RFC 9457).

    ``str(error)`` is for people: the detail, the line of source text with a caret, the hint.
    ``problem`` is the whole document, with members that only some codes have.
    """

    #: The class of each code, and of each status.
    known: ClassVar[dict[str | int, type[APIError]]] = {}

    def __init_subclass__(cls, *, status: int | None = None, code: str | None = None) -> None:
        for key in (status, code):
            if key is not None:
                APIError.known[key] = cls

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
        self.hint: str | None = hint
        self.pointer = pointer
        self.node = node
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.problem: dict[str, Any] = dict(problem or {})
        self.source = source
        #: The original response.
        self.raw = raw

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.detail, status=self.status), (), self.__dict__

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


class BadRequest(APIError, status=400):
    """The request could not be read."""


class MalformedRequest(BadRequest, code="malformed_request"):
    """The request is malformed or ambiguous HTTP; a proxy may have changed it."""


class MalformedBody(BadRequest, code="malformed_body"):
    """The body is not a document of its media type."""


class MalformedTensor(BadRequest, code="malformed_tensor"):
    """A variable is not an array: ragged lists, the wrong number of bytes, an unknown dtype."""


class Unauthenticated(APIError, status=401, code="unauthenticated"):
    """The API key is missing, unknown, revoked or expired."""


class Forbidden(APIError, status=403, code="forbidden"):
    """The API key lacks the scope for this."""


class NotFound(APIError, status=404, code="not_found"):
    """This path does not exist."""


class UnknownRef(NotFound, code="unknown_ref"):
    """Tensors or programs are not stored; ``missing`` lists their references."""

    @property
    def missing(self) -> list[str]:
        """The references to store before repeating the request."""
        return list(self.problem.get("missing", ()))


class UnknownTape(NotFound, code="unknown_tape"):
    """The tape has expired, was deleted, or never existed."""


class UnknownJob(NotFound, code="unknown_job"):
    """The job has expired, was deleted, or never existed."""


class MethodNotAllowed(APIError, status=405, code="method_not_allowed"):
    """The path does not take this method; ``base_url`` may be wrong."""


class NotAcceptable(APIError, status=406, code="not_acceptable"):
    """The service has no encoding that the client accepts."""


class TooSlow(APIError, status=408, code="request_timeout"):
    """The request arrived too slowly."""


class Conflict(APIError, status=409):
    """The resource is in a state that does not allow this."""


class TapeConsumed(Conflict, code="tape_consumed"):
    """A tape that is not persistent has already answered."""


class JobCancelled(Conflict, code="job_cancelled"):
    """The job was cancelled before it was done."""


class IdempotencyConflict(Conflict, code="idempotency_conflict"):
    """The idempotency key belongs to another request."""


class TooLarge(APIError, status=413):
    """The request exceeds a limit of the service."""


class BodyTooLarge(TooLarge, code="body_too_large"):
    """The body has too many bytes."""


class OverBudget(TooLarge, code="over_budget"):
    """The predicted bytes or operations exceed a limit; nothing was computed."""


class TargetTooLong(APIError, status=414, code="target_too_long"):
    """The path and its query are too long."""


class UnsupportedMediaType(APIError, status=415, code="unsupported_media_type"):
    """The type of the body is not supported."""


class ExpectationFailed(APIError, status=417, code="expectation_failed"):
    """The header ``Expect`` is not supported."""


class Unprocessable(APIError, status=422):
    """The request is readable and invalid."""


class ProgramSyntaxError(Unprocessable, code="syntax_error"):
    """The source text is not valid in the language."""


class UnknownOperation(Unprocessable, code="unknown_op"):
    """There is no operation with this name."""


class UnknownName(Unprocessable, code="unknown_name"):
    """There is no variable or intermediate with this name."""


class InvalidProgram(Unprocessable, code="invalid_program"):
    """The program is invalid: a cycle, a duplicate id."""


class BadArgument(Unprocessable, code="bad_argument"):
    """An operation cannot take this argument."""


class ShapeMismatch(Unprocessable, code="shape_mismatch"):
    """Operand shapes do not fit together."""


class DtypeMismatch(Unprocessable, code="dtype_mismatch"):
    """Operand dtypes do not fit together."""


class NotDifferentiable(Unprocessable, code="not_differentiable"):
    """A part of the derivative is not implemented."""


class NotASum(Unprocessable, code="not_a_sum"):
    """The objective over divided data is no sum or mean over the rows."""


class DomainError(Unprocessable, code="domain_error"):
    """The operation has no result for these values, such as the inverse of a singular matrix."""


class CrashingProgram(Unprocessable, code="crashing_program"):
    """The program has crashed twice; it is refused for ``retry_after_seconds``."""


class InvalidRequest(Unprocessable, code="invalid_request"):
    """A field of the request is missing, unknown, or of the wrong kind; see ``pointer``."""


class RateLimited(APIError, status=429, code="rate_limited"):
    """Rate limit exceeded; retry after ``retry_after_seconds``."""


class HeadersTooLarge(APIError, status=431, code="headers_too_large"):
    """The headers are too many or too large."""


class ServerError(APIError, status=500, code="internal_error"):
    """The service failed: a bug of the service, not of the request."""


class WorkerCrashed(ServerError, code="worker_crashed"):
    """The process that computed the request crashed; other requests are not affected."""


class Unavailable(ServerError, status=503):
    """The service is not available now."""


class Overloaded(Unavailable, code="overloaded"):
    """The queue is full; retry after ``retry_after_seconds``."""


class ClusterUnavailable(Unavailable, code="cluster_unavailable"):
    """The cluster that holds the data is unavailable; retry after ``retry_after_seconds``."""


class StoreUnavailable(Unavailable, code="store_unavailable"):
    """The store is unavailable; requests that refer to nothing in it still work."""


class OutOfGpuMemory(Unavailable, code="out_of_gpu_memory"):
    """The GPU has too little free memory; retry after ``retry_after_seconds``."""


class Starting(Unavailable, code="starting"):
    """This replica is not ready yet; retry at another one."""


class Draining(Unavailable, code="draining"):
    """This replica is shutting down; retry at another one."""


class DeadlineExceeded(ServerError, status=504, code="deadline_exceeded"):
    """The time limit of the service, or ``timeout_ms``, has passed."""
