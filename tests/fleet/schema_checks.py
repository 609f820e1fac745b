"""Additional checks of schemathesis for every response, and its support for MessagePack."""

import json
from typing import Any

import msgpack
import schemathesis
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, MEDIA_TYPE
from schemathesis import (
    Case,
    CheckContext,
    DeserializationContext,
    HookContext,
    Response,
    SerializationContext,
)

MESSAGEPACK = "application/msgpack"


@schemathesis.check
def has_a_request_id(_: CheckContext, response: Response, __: Case) -> None:
    """Every response has a request id."""
    assert response.headers.get("x-request-id"), "there is no X-Request-ID"


@schemathesis.check
def refuses_by_a_problem(_: CheckContext, response: Response, case: Case) -> None:
    """Every error response is a short problem with a known code and that code's status."""
    if response.status_code < 400:
        return
    assert response.headers["content-type"] == [MEDIA_TYPE]
    if case.method == "HEAD":
        return
    assert len(response.content) < MAX_BODY_BYTES, "the problem is long"
    problem = json.loads(response.content)
    kind = KINDS[problem["code"]]
    assert (kind.status, kind.title) == (response.status_code, problem["title"])
    assert problem["status"] == response.status_code
    assert problem["instance"].endswith(response.headers["x-request-id"][0])
    assert "Traceback" not in problem["detail"], "the problem has a stack trace"


@schemathesis.hook
def filter_case(_: HookContext, case: Case) -> bool:
    """Skip requests whose only fault is an unknown header, since HTTP allows unknown headers."""
    return not any("unknown-property" in name for name in case.headers or ())


@schemathesis.deserializer(MESSAGEPACK)
def unpacked(_: DeserializationContext, response: Response) -> Any:
    """A document in which raw bytes are strings, as in the schema."""
    return _texts(msgpack.unpackb(response.content))


@schemathesis.serializer(MESSAGEPACK)
def packed(_: SerializationContext, value: Any) -> bytes:
    """A MessagePack document, or if MessagePack cannot encode it, another invalid body."""
    try:
        return bytes(msgpack.packb(value))
    except (OverflowError, TypeError, ValueError):
        return json.dumps(value, default=str).encode()


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_texts(member) for member in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value
