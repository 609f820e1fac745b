"""The raw body of a request, bounded while it arrives."""

from __future__ import annotations

from typing import TypeAlias

from starlette.types import Receive

from gradwire_service.problems import Refusal

#: Bytes as they came, or as they go out.
Body: TypeAlias = bytes | bytearray | memoryview


class Disconnected(Exception):
    """The client went away before its body was complete; nobody waits for an answer."""


async def read_body(receive: Receive, content_length: bytes, max_bytes: int) -> bytes | bytearray:
    """Read a body of at most ``max_bytes``, refusing a longer one before it is all here.

    A body that arrives in parts grows in place, so that it is in memory once.

    Raises: ``Refusal`` (body_too_large), ``Disconnected``.
    """
    if content_length.isdigit() and int(content_length[:20]) > max_bytes:
        raise too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise too_large(max_bytes)
        return body
    whole = bytearray()
    while True:
        if message["type"] != "http.request":
            raise Disconnected
        whole += message.get("body", b"")
        if len(whole) > max_bytes:
            raise too_large(max_bytes)
        if not message.get("more_body"):
            return whole
        message = await receive()


def too_large(max_bytes: int) -> Refusal:
    """A body of more than ``max_bytes``."""
    return Refusal(
        "body_too_large",
        f"a body has at most {max_bytes} bytes here",
        hint="send arrays as raw bytes, or fewer of them",
    )
