"""The raw body of a request, bounded while it arrives."""

from __future__ import annotations

from starlette.types import Receive

from gradwire_service.problems import Refusal
from gradwire_service.wire.shared import WHOLE_BYTES, Packed, Shared, packed


class Disconnected(Exception):
    """The client went away before its body was complete; nobody waits for an answer."""


async def read_body(receive: Receive, content_length: bytes, max_bytes: int) -> Packed:
    """Read a body of at most ``max_bytes``, refusing a longer one before it is all here.

    A long one goes into memory that is shared, as it comes.

    Raises: ``Refusal`` (body_too_large), ``Disconnected``.
    """
    if content_length.isdigit() and int(content_length[:20]) > max_bytes:
        raise too_large(max_bytes)
    body: Packed = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        piece = message.get("body", b"")
        length = len(body) + len(piece)
        if length > max_bytes:
            raise too_large(max_bytes)
        if isinstance(body, Shared):
            body.append(piece)
        elif length > WHOLE_BYTES:
            body = packed([body, piece])
        elif body or message.get("more_body"):
            body += piece
        else:
            body = piece
        if not message.get("more_body"):
            return body


def too_large(max_bytes: int) -> Refusal:
    """A body of more than ``max_bytes``."""
    return Refusal(
        "body_too_large",
        f"the body may have at most {max_bytes} bytes",
        hint="send arrays as raw bytes, or fewer of them",
    )
