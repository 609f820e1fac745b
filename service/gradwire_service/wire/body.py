"""The raw body of a request, bounded while it arrives."""

from __future__ import annotations

from starlette.types import Receive

from gradwire_service.problems import Refusal


class Disconnected(Exception):
    """The client went away before its body was complete; nobody waits for an answer."""


async def read_body(receive: Receive, content_length: bytes, max_bytes: int) -> bytes:
    """Read a body of at most ``max_bytes``, refusing a longer one before it is all here.

    Raises: ``Refusal`` (body_too_large), ``Disconnected``.
    """
    if content_length.isdigit() and int(content_length[:20]) > max_bytes:
        raise _too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
        return body
    chunks: list[bytes] = []
    size = 0
    while True:
        if message["type"] != "http.request":
            raise Disconnected
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(max_bytes)
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)
        message = await receive()


def _too_large(max_bytes: int) -> Refusal:
    return Refusal(
        "body_too_large",
        f"a body has at most {max_bytes} bytes here",
        hint="send arrays in base64, or fewer of them",
    )
