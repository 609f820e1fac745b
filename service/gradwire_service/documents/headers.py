"""The headers of requests and responses in the published schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwire_service.documents.refusals import EXCHANGES
from gradwire_service.problems import MEDIA_TYPE
from gradwire_service.wire.compression import CODINGS


def _header(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"} | schema}


#: Headers of requests, by the names of their components.
_ASKED = {
    "X-Request-ID": _header(
        "An id for the request: up to 128 letters, digits and `._:-`. The response and the log "
        "have it. Without a valid one the service makes one.",
    ),
    "Accept-Encoding": _header(f"Compression that the client accepts: {', '.join(CODINGS)}."),
    "Content-Encoding": _header(f"Compression of the body, if any: {', '.join(CODINGS)}."),
    "Gradwire-Timeout-Ms": _header(
        "Time limit in milliseconds, queueing included. For proxies; clients set `timeout_ms`.",
        type="integer",
        minimum=1,
    ),
    "Idempotency-Key": _header(
        "For questions about a tape that is not persistent: within a minute, the same question "
        "with the same key gets the same answer, so that it can be retried.",
    ),
    "If-None-Match": _header("ETags that the client has: if one is current, the answer is 304."),
}
#: Headers of responses.
_ANSWERED = {
    "X-Request-ID": _header("The id of the request, as sent or as made by the service."),
    "Server-Timing": _header("Milliseconds of parse, compile, replay and encode."),
    "ETag": _header("A weak tag: equal contents have equal tags, whatever their encoding."),
    "Location": _header("The path of the new resource."),
    "Retry-After": _header("Seconds to wait before repeating.", type="integer", minimum=1),
    "WWW-Authenticate": _header("What is wrong with the API key (RFC 6750)."),
}


def add_headers(schema: dict[str, Any]) -> None:
    """Describe in the OpenAPI document the headers of its operations."""
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
        responses.pop("422", None)  # FastAPI's own, which no path here can be answered with
    tagged = "304" in responses
    exchanged = not EXCHANGES.isdisjoint(operation.get("tags", ()))
    asked = ["X-Request-ID", "Accept-Encoding"]
    asked += ["Gradwire-Timeout-Ms"] * exchanged
    asked += ["Content-Encoding"] * ("requestBody" in operation) + ["If-None-Match"] * tagged
    asked += ["Idempotency-Key"] * ("409" in responses and "requestBody" in operation)
    parameters = [{"$ref": f"#/components/parameters/{name}"} for name in asked]
    operation["parameters"] = [*operation.get("parameters", []), *parameters]
    for status, response in responses.items():
        answered = ["X-Request-ID"]
        if int(status) < 400:
            answered += ["Server-Timing"] * exchanged + ["ETag"] * (tagged and status != "201")
            answered += ["Location"] * (status == "201")
        elif status in {"429", "503"}:
            answered.append("Retry-After")
        elif status in {"401", "403"}:
            answered.append("WWW-Authenticate")
        response["headers"] = _references(answered)


def _references(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
