"""Headers of requests and responses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwire_service.openapi.error_responses import EXCHANGES
from gradwire_service.openapi.operations import STREAM
from gradwire_service.problems import MEDIA_TYPE
from gradwire_service.wire.compression import CODINGS


def _header(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"} | schema}


#: Headers of requests, by the names of their components.
_ASKED = {
    "X-Request-ID": _header(
        "Returned with the answer, and in the log: up to 128 letters, digits and `._:-`. "
        "If it is missing or invalid, the service makes one.",
    ),
    "Content-Encoding": _header(f"Compression of the body: {', '.join(CODINGS)}."),
    "Gradwire-Timeout-Ms": _header(
        "Timeout in milliseconds, queueing included; for proxies, which do not read bodies.",
        type="integer",
        minimum=1,
    ),
    "Idempotency-Key": _header(
        "So that a request may be retried: with the same key, a tape that is not persistent "
        "answers again for a minute, and an optimisation is the same job.",
    ),
    "Prefer": _header("`respond-async` for a job at once, as `background` in the body does."),
    "If-None-Match": _header("ETags that the client has; 304 if one is that of the resource."),
}
#: Headers of responses.
_ANSWERED = {
    "X-Request-ID": _header("The id of the request."),
    "Server-Timing": _header(
        "Milliseconds of the phases parse, compile, replay and encode, of the wait in the queue, "
        "of all other work, and the total of these; `gpu` if it ran there."
    ),
    "ETag": _header("The weak tag of the resource, the same in all representations."),
    "Location": _header("The path of the new resource, or of the job."),
    "Retry-After": _header("Seconds to wait.", type="integer", minimum=1),
    "WWW-Authenticate": _header("The error of the key (RFC 6750)."),
}


def add_headers(schema: dict[str, Any]) -> None:
    """Add headers to the operations of an OpenAPI document."""
    components = schema.setdefault("components", {})
    components["parameters"] = {
        name: {"name": name, "in": "header"} | header for name, header in _ASKED.items()
    }
    components["headers"] = _ANSWERED
    for model in "HTTPValidationError", "ValidationError":
        components["schemas"].pop(model, None)
    for path in schema["paths"].values():
        for operation in path.values():
            _add(operation)


def _add(operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    if MEDIA_TYPE not in responses.get("422", {}).get("content", {}):
        responses.pop("422", None)  # FastAPI's own, which no path here answers
    tagged = "304" in responses
    exchanged = not EXCHANGES.isdisjoint(operation.get("tags", ()))
    streamed = any(STREAM in response.get("content", {}) for response in responses.values())
    asked = ["X-Request-ID"]
    asked += ["Gradwire-Timeout-Ms"] * (exchanged and not streamed)
    asked += ["Content-Encoding"] * ("requestBody" in operation) + ["If-None-Match"] * tagged
    asked += ["Idempotency-Key"] * ("409" in responses and "requestBody" in operation)
    asked += ["Prefer"] * ("202" in responses)
    parameters = [{"$ref": f"#/components/parameters/{name}"} for name in asked]
    operation["parameters"] = [*operation.get("parameters", []), *parameters]
    for status, response in responses.items():
        answered = ["X-Request-ID"]
        if int(status) < 400:
            answered += ["Server-Timing"] * (exchanged and not streamed)
            answered += ["ETag"] * (tagged and status != "201")
            answered += ["Location"] * (status in {"201", "202"})
        elif status in {"429", "503"}:
            answered.append("Retry-After")
        elif status in {"401", "403"}:
            answered.append("WWW-Authenticate")
        response["headers"] = _references(answered)


def _references(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
