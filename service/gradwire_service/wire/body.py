"""The raw body of a request, bounded while it arrives."""

from __future__ import annotations

from starlette.types import Receive

from gradwire_service.problems import RequestError
from gradwire_service.wire.shared import MAX_COPIED_BYTES, SharedMemory


class Disconnected(Exception):
    """The client has disconnected; no answer is needed."""


async def read_body(
    receive: Receive, content_length: bytes, max_bytes: int
) -> bytes | SharedMemory:
    """Read a body of at most ``max_bytes``; a longer one is refused before it is complete.

    Large bodies are written to shared memory as they arrive.

    Raises: ``RequestError`` (body_too_large), ``Disconnected``.
    """
    if content_length.isdigit() and int(content_length[:20]) > max_bytes:
        raise too_large(max_bytes)
    pieces: list[bytes] = []
    shared: SharedMemory | None = None
    length = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        pieces.append(message.get("body", b""))
        length += len(pieces[-1])
        if length > max_bytes:
            raise too_large(max_bytes)
        if length > MAX_COPIED_BYTES:
            shared = shared or SharedMemory()
            for piece in pieces:
                shared.append(piece)
            pieces.clear()
        if not message.get("more_body"):
            break
    if shared is not None:
        return shared
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def too_large(max_bytes: int) -> RequestError:
    """The error for a body of more than ``max_bytes``."""
    return RequestError(
        "body_too_large",
        f"the body has more than {max_bytes} bytes",
        hint="send arrays as raw bytes, or fewer; operators set GRADWIRE_MAX_BODY_BYTES",
    )
