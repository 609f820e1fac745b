"""Maps errors to HTTP problems (RFC 9457), and codes to statuses; nothing else does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from gradwire_engine import errors
from gradwire_gpu import OutOfGpuMemory
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
MAX_BODY_BYTES = 4096
#: Longest text in a problem, in characters; shorter if escapes make the body too long.
MAX_TEXT = 640


class ProblemKind(NamedTuple):
    """The status and title of a code."""

    status: int
    title: str


KINDS: dict[str, ProblemKind] = {
    "malformed_request": ProblemKind(400, "Malformed HTTP request"),
    "malformed_body": ProblemKind(400, "Malformed body"),
    "malformed_tensor": ProblemKind(400, "Malformed array"),
    "unauthenticated": ProblemKind(401, "Missing or invalid API key"),
    "forbidden": ProblemKind(403, "API key lacks permission"),
    "unknown_ref": ProblemKind(404, "Unknown reference"),
    "unknown_tape": ProblemKind(404, "Unknown tape"),
    "unknown_job": ProblemKind(404, "Unknown job"),
    "not_found": ProblemKind(404, "Not found"),
    "method_not_allowed": ProblemKind(405, "Method not allowed"),
    "not_acceptable": ProblemKind(406, "No acceptable response format"),
    "request_timeout": ProblemKind(408, "Request timeout"),
    "tape_consumed": ProblemKind(409, "Tape already used"),
    "idempotency_conflict": ProblemKind(409, "Idempotency key already used"),
    "body_too_large": ProblemKind(413, "Body too large"),
    "over_budget": ProblemKind(413, "Resource limit exceeded"),
    "target_too_long": ProblemKind(414, "URL too long"),
    "unsupported_media_type": ProblemKind(415, "Unsupported content type"),
    "expectation_failed": ProblemKind(417, "Unsupported Expect header"),
    "syntax_error": ProblemKind(422, "Syntax error in program"),
    "unknown_op": ProblemKind(422, "Unknown operation"),
    "unknown_name": ProblemKind(422, "Undefined name"),
    "bad_argument": ProblemKind(422, "Invalid argument"),
    "shape_mismatch": ProblemKind(422, "Shape mismatch"),
    "dtype_mismatch": ProblemKind(422, "Dtype mismatch"),
    "invalid_program": ProblemKind(422, "Invalid program"),
    "crashing_program": ProblemKind(422, "Program crashed repeatedly"),
    "invalid_request": ProblemKind(422, "Invalid request field"),
    "not_differentiable": ProblemKind(422, "Not differentiable"),
    "not_a_sum": ProblemKind(422, "Not a sum over rows"),
    "domain_error": ProblemKind(422, "Value outside the domain"),
    "rate_limited": ProblemKind(429, "Rate limit exceeded"),
    "headers_too_large": ProblemKind(431, "Headers too large"),
    "internal_error": ProblemKind(500, "Internal error"),
    "worker_crashed": ProblemKind(500, "Worker process crashed"),
    "overloaded": ProblemKind(503, "Service overloaded"),
    "store_unavailable": ProblemKind(503, "Storage unavailable"),
    "cluster_unavailable": ProblemKind(503, "Dask cluster unavailable"),
    "out_of_gpu_memory": ProblemKind(503, "Out of GPU memory"),
    "starting": ProblemKind(503, "Replica starting"),
    "draining": ProblemKind(503, "Replica shutting down"),
    "deadline_exceeded": ProblemKind(504, "Deadline exceeded"),
}

ENGINE_CODES: dict[type[BaseException], str] = {
    errors.ProgramSyntaxError: "syntax_error",
    errors.UnknownOperation: "unknown_op",
    errors.UnknownName: "unknown_name",
    errors.ProgramError: "invalid_program",
    errors.ShapeMismatch: "shape_mismatch",
    errors.DtypeMismatch: "dtype_mismatch",
    errors.ArgumentError: "bad_argument",
    errors.DerivativeError: "not_differentiable",
    errors.ShardingError: "not_a_sum",
    errors.InputError: "invalid_request",
    errors.DomainError: "domain_error",
    errors.DeadlineExceeded: "deadline_exceeded",
    errors.LimitExceeded: "over_budget",
}

HTTP_PROBLEMS = {
    404: ("not_found", "this path does not exist"),
    405: ("method_not_allowed", "the Allow header lists the methods of this path"),
}


class RequestError(Exception):
    """An error that the service itself reports; ``code`` is one of ``KINDS``."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        pointer: str | None = None,
        hint: str | None = None,
        missing: Sequence[str] = (),
        retry_after_seconds: int | None = None,
        challenge: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.pointer = pointer
        self.hint = hint
        self.missing = missing
        self.retry_after_seconds = retry_after_seconds
        self.challenge = challenge

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all attributes, for other processes."""
        return _restore, (type(self), self.args), self.__dict__

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of the response."""
        after, challenge = self.retry_after_seconds, self.challenge
        return (
            *(() if after is None else (("retry-after", str(after)),)),
            *(() if challenge is None else (("www-authenticate", challenge),)),
        )


class WorkerCrashed(RequestError):
    """The worker process crashed while it ran the task."""


def _restore(kind: type[RequestError], arguments: tuple[str, ...]) -> RequestError:
    return kind.__new__(kind, *arguments)


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """An error response, ready to be written."""

    code: str
    detail: str
    pointer: str | None = None
    node: errors.Place | None = None
    hint: str | None = None
    missing: Sequence[str] = ()
    headers: tuple[tuple[str, str], ...] = ()
    expected: bool = True

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ProblemDetails:
        """The problem that a document describes, for whichever request is answered with it."""
        node = document.get("node")
        return cls(
            document["code"],
            document["detail"],
            pointer=document.get("pointer"),
            node=None if node is None else errors.Place(**node),
            hint=document.get("hint"),
            missing=document.get("missing", ()),
        )

    @property
    def status(self) -> int:
        return KINDS[self.code].status

    def body(self, request_id: str) -> bytes:
        """The JSON body, shortened until it is under ``MAX_BODY_BYTES``."""
        longest = MAX_TEXT
        while True:
            body = orjson.dumps(self._document(request_id, longest))
            if len(body) < MAX_BODY_BYTES:
                return body
            longest //= 2

    def _document(self, request_id: str, longest: int) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": f"urn:gradwire:problem:{self.code}",
            "title": KINDS[self.code].title,
            "status": self.status,
            "detail": clip(self.detail, longest),
            "instance": f"urn:gradwire:request:{request_id}",
            "code": self.code,
        }
        if self.pointer is not None:
            document["pointer"] = clip(self.pointer, longest // 3)
        if self.node is not None and (node := node_document(self.node, longest // 10)):
            document["node"] = node
        if self.hint is not None:
            document["hint"] = clip(self.hint, longest // 2)
        if self.missing:
            document["missing"] = [clip(ref, 80) for ref in self.missing[: longest // 20]]
        return document


class RemoteError(Exception):
    """An error in another process, with its trace for the log."""

    def __init__(self, problem: ProblemDetails, trace: str | None) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle both, for other machines."""
        return type(self), (self.problem, self.trace)


def clip(text: str, longest: int) -> str:
    """``text`` in at most ``longest`` characters that UTF-8 can encode."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= longest else text[: longest - 1] + "…"


def node_document(place: errors.Place, longest: int = 64) -> dict[str, Any]:
    """The document of a node's place: ``id``, ``op``, ``line`` and ``column``, where known."""
    known: dict[str, Any] = {}
    for name in ("id", "op"):
        text = getattr(place, name)
        if text is not None:
            known[name] = clip(text, longest)
    for name in ("line", "column"):
        if (number := getattr(place, name)) is not None:
            known[name] = number
    return known


def problem_of(error: BaseException) -> ProblemDetails:
    """The problem that the client receives for an error."""
    if isinstance(error, RequestError):
        return ProblemDetails(
            error.code,
            error.detail,
            pointer=error.pointer,
            hint=error.hint,
            missing=error.missing,
            headers=error.headers,
        )
    if isinstance(error, RemoteError):
        return error.problem
    if isinstance(error, errors.EngineError):
        return _engine_problem(error)
    if isinstance(error, HTTPException):
        code, detail = HTTP_PROBLEMS.get(error.status_code, ("invalid_request", error.detail))
        headers = tuple((error.headers or {}).items())
        return ProblemDetails(
            code, detail, hint="/openapi.json describes every path", headers=headers
        )
    if isinstance(error, OutOfGpuMemory):
        detail, hint = "the GPU has too little free memory", "retry later, or send less at once"
        return ProblemDetails(
            "out_of_gpu_memory", detail, hint=hint, headers=(("retry-after", "1"),)
        )
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        detail, hint = "the request needs more memory than it is allowed", "send less work at once"
        return ProblemDetails("over_budget", detail, hint=hint)
    if isinstance(error, RecursionError):
        return ProblemDetails("invalid_program", "the request is nested too deeply", expected=False)
    return ProblemDetails(
        "internal_error",
        "the service failed on this request; find the request id in its log",
        expected=False,
    )


def _engine_problem(error: errors.EngineError) -> ProblemDetails:
    code = next((ENGINE_CODES[c] for c in type(error).__mro__ if c in ENGINE_CODES), None)
    if code is None:
        return ProblemDetails("internal_error", "the engine failed on this request", expected=False)
    at = error.at
    pointer = None if at is None else at.pointer
    if pointer is None and at is not None and at.line is not None:
        pointer = "/program"
    return ProblemDetails(code, error.message, pointer=pointer, node=at, hint=error.hint)
