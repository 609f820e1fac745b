"""The raw body of a request, bounded while it arrives."""

from __future__ import annotations

from starlette.types import Receive

from gradwire_service.problems import Refusal
from gradwire_service.wire.shared import LARGE_BYTES, Shared, packed


class Disconnected(Exception):
    """The client went away before its body was complete; nobody waits for an answer."""


async def read_body(receive: Receive, content_length: bytes, max_bytes: int) -> bytes | Shared:
    """Read a body of at most ``max_bytes``, refusing a longer one before it is all here.

    A long one goes into memory that is shared, as it comes.

    Raises: ``Refusal`` (body_too_large), ``Disconnected``.
    """
    if content_length.isdigit() and int(content_length[:20]) > max_bytes:
        raise too_large(max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise too_large(max_bytes)
        return packed([body])
    short, whole = bytearray(), None
    while True:
        if message["type"] != "http.request":
            raise Disconnected
        piece = message.get("body", b"")
        if len(short) + len(piece) > max_bytes or (whole and len(whole) + len(piece) > max_bytes):
            raise too_large(max_bytes)
        if whole is None and len(short) + len(piece) > LARGE_BYTES:
            whole = Shared()
            whole.append(short)
        if whole is None:
            short += piece
        else:
            whole.append(piece)
        if not message.get("more_body"):
            return bytes(short) if whole is None else whole
        message = await receive()


def too_large(max_bytes: int) -> Refusal:
    """A body of more than ``max_bytes``."""
    return Refusal(
        "body_too_large",
        f"a body has at most {max_bytes} bytes here",
        hint="send arrays as raw bytes, or fewer of them",
    )
